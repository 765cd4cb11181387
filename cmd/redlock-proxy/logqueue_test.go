package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"redlock-proxy/conf"
)

// readerOfLog is standard error: it takes a piece when it is told so, or fails.
type readerOfLog struct {
	mu    sync.Mutex // guards text and fails
	text  bytes.Buffer
	fails error
	held  chan struct{} // closed: it reads
}

func (r *readerOfLog) Write(p []byte) (int, error) {
	<-r.held
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.fails != nil {
		return 0, r.fails
	}
	return r.text.Write(p)
}

func (r *readerOfLog) fail(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.fails = err
}

func (r *readerOfLog) read() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.text.String()
}

func (r *readerOfLog) reads() { close(r.held) }

func newReaderOfLog() *readerOfLog { return &readerOfLog{held: make(chan struct{})} }

// lostLines is what the log says of lost lines, one number a gap.
func lostLines(t *testing.T, log string) (gaps []int) {
	t.Helper()
	for _, m := range regexp.MustCompile(`lines of this log are lost, as nobody has read it: lines=(\d+) `).FindAllStringSubmatch(log, -1) {
		n, err := strconv.Atoi(m[1])
		if err != nil {
			t.Fatal(err)
		}
		gaps = append(gaps, n)
	}
	return gaps
}

func TestLogThatNobodyReadsStopsNobodyAndTellsWhatIsLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newReaderOfLog()
		log, queue := newLogger(&conf.Config{}, r)
		const lines = 3 * maxQueuedLog / 100
		for i := range lines {
			log.Info("a line of about a hundred bytes, with its time and the name of the program", "number", i)
			if i == 0 {
				synctest.Wait() // the queue's goroutine has this one, and waits until it is read
			}
		}
		lost := int(queue.lost.Load())
		if lost < lines/2 || lost >= lines {
			t.Errorf("%d of %d lines are lost", lost, lines)
		}
		r.reads()
		synctest.Wait()
		log.Info("a line", "number", "that comes later")
		queue.close(logFlushTimeout)

		text := r.read()
		if gaps := lostLines(t, text); len(gaps) != 1 || gaps[0] != lost {
			t.Errorf("the log tells of %d lost lines, want %d", gaps, lost)
		}
		numbers := regexp.MustCompile(`number=(\d+)`).FindAllStringSubmatch(text, -1)
		if len(numbers) != lines-lost {
			t.Errorf("%d lines are in the log, want %d", len(numbers), lines-lost)
		}
		for i, m := range numbers {
			if m[1] != strconv.Itoa(i) {
				t.Fatalf("line %d is number %s", i, m[1])
			}
		}
		if !strings.HasSuffix(text, "that comes later\"\n") {
			t.Errorf("the log ends with %q", text[max(0, len(text)-200):])
		}
	})
}

func TestLogThatCannotBeWrittenGoesOnWhenItCan(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newReaderOfLog()
		r.reads()
		log, queue := newLogger(&conf.Config{Options: conf.Options{LogLevel: "error"}}, r)
		log.Error("one")
		synctest.Wait()
		r.fail(syscall.EPIPE)
		for _, number := range []string{"two", "three", "four"} {
			log.Error(number)
			synctest.Wait()
		}
		r.fail(nil)
		time.Sleep(2 * logRetry)
		log.Error("five")
		queue.close(logFlushTimeout)

		var seen []string
		for line := range strings.Lines(r.read()) {
			seen = append(seen, line[strings.Index(line, "redlock-proxy: ")+len("redlock-proxy: "):])
		}
		want := []string{"one\n", "lines of this log are lost, as nobody has read it: lines=1 in_all=1\n", "three\n", "four\n", "five\n"}
		if fmt.Sprint(seen) != fmt.Sprint(want) {
			t.Errorf("the log is\n%q, want\n%q", seen, want)
		}
	})
}

func TestEndDoesNotWaitForALogThatNobodyReads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newReaderOfLog()
		log, queue := newLogger(&conf.Config{}, r)
		log.Info("one")
		synctest.Wait()
		queue.close(logFlushTimeout)
		r.fail(errors.New("this is the end of the test"))
		r.reads()
		synctest.Wait()
	})
}

// flooded has a program log more than a pipe holds, through orders about masters whose
// names are long.
func flooded(t *testing.T, socket string) {
	t.Helper()
	e := endpoint{network: "unix", address: socket}
	for range 4 {
		if _, err := e.ask(patience, "LOCK", "ADMIT", strings.Repeat("x", 60<<10)); err != nil {
			t.Fatal(err)
		}
	}
}

func TestStandardErrorThatIsNotReadOrGoneEndsNothing(t *testing.T) {
	for _, c := range []struct {
		name string
		gone bool
	}{{"not read", false}, {"gone", true}} {
		t.Run(c.name, func(t *testing.T) {
			r, w, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			p := command(nil, "--listen", "unix://"+t.TempDir()+"/s", "--user", "default on nopass ~* &* +@all")
			socket := strings.TrimPrefix(p.Args[2], "unix://")
			p.Stderr = w
			if err := p.Start(); err != nil {
				t.Fatal(err)
			}
			w.Close()
			killer := time.AfterFunc(3*patience, func() { p.Process.Kill() })
			defer killer.Stop()
			var log strings.Builder
			for b := make([]byte, 1<<10); !strings.Contains(log.String(), "every master has been tried"); {
				n, err := r.Read(b)
				if err != nil {
					t.Fatalf("%v\n%s", err, log.String())
				}
				log.Write(b[:n])
			}
			if c.gone {
				r.Close()
			}
			flooded(t, socket)
			e := endpoint{network: "unix", address: socket}
			for deadline := time.Now().Add(patience); ; {
				reply, err := e.ask(patience, "INFO", "stats")
				if err != nil || !strings.Contains(reply, "log_lines_lost:") {
					t.Fatalf("INFO: %q, %v", reply, err)
				}
				if !c.gone || !strings.Contains(reply, "log_lines_lost:0\r\n") {
					break
				}
				if time.Now().After(deadline) {
					t.Fatal("no line is lost")
				}
			}
			if err := p.Process.Signal(syscall.SIGTERM); err != nil {
				t.Fatal(err)
			}
			if err := p.Wait(); err != nil {
				t.Errorf("the program ends with %v", err)
			}
			if !c.gone {
				rest, _ := io.ReadAll(r)
				if len(rest) == 0 {
					t.Error("nothing was written")
				}
			}
		})
	}
}
