package audit

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/go-hclog"
)

// disk is where lines go. It fails, or holds whoever writes, as a test has it.
type disk struct {
	mu     sync.Mutex // guards what follows
	text   bytes.Buffer
	fails  error
	opened int
	synced int
	held   chan struct{} // if not nil, it takes nothing until that is closed
}

func (d *disk) Write(line []byte) (int, error) {
	d.mu.Lock()
	held := d.held
	d.mu.Unlock()
	if held != nil {
		<-held
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.fails != nil {
		return 0, d.fails
	}
	return d.text.Write(line)
}

func (d *disk) Reopen() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.opened++
	return d.fails
}

func (d *disk) Settle() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.synced++
	return d.fails
}

func (d *disk) fail(err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.fails = err
}

// lines are what was written.
func (d *disk) lines(t *testing.T) (list []line) {
	t.Helper()
	d.mu.Lock()
	defer d.mu.Unlock()
	for text := range strings.Lines(d.text.String()) {
		var l line
		if err := json.Unmarshal([]byte(text), &l); err != nil || !strings.HasSuffix(text, "\n") {
			t.Fatalf("%q is no line of JSON: %v", text, err)
		}
		list = append(list, l)
	}
	return list
}

// said is what the log says.
type said struct {
	mu   sync.Mutex // guards text
	text strings.Builder
}

func (s *said) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(b)
}

func (s *said) String() string {
	synctest.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

func newLog(d *disk) (*Log, *said) {
	log := &said{}
	l := New(Config{Name: "host:7", To: d, Log: hclog.New(&hclog.LoggerOptions{Output: log})})
	l.Called("run")
	return l, log
}

func force(key string) Entry {
	return Entry{Event: Order, Door: Client, Command: "LOCK FORCE", Key: key, Source: "10.0.0.1", Outcome: Done, HasDB: true}
}

func wrongPassword(i int) Entry {
	return Entry{Event: Denial, Door: Client, Command: "AUTH", Why: "wrong password", Source: fmt.Sprintf("10.0.%d.%d", i/256, i%256), Open: true}
}

func TestLineTellsWhatIsKnownInOneOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &disk{}
		l, _ := newLog(d)
		e := force("k\n\"\\\xff")
		e.From, e.User, e.Name, e.ID, e.Reason, e.Answer, e.Votes = "10.0.0.1:5", "default", "me", 3, "<fire>", "OK", map[string]string{"b": "refused", "a": "granted"}
		l.Tell(e)
		l.Close(time.Second)
		want := `{"time":"2000-01-01T00:00:00.000000Z","event":"order","proxy":"host:7","run_id":"run","door":"client","from":"10.0.0.1:5","user":"default","name":"me","id":3,` +
			`"command":"LOCK FORCE","db":0,"key":"k\\n\"\\\\\\xff","reason":"<fire>","outcome":"done","answer":"OK","votes":{"a":"granted","b":"refused"}}` + "\n"
		if got := d.text.String(); got != want {
			t.Errorf("got  %swant %s", got, want)
		}
		if d.synced == 0 {
			t.Error("the line would not outlive a power cut")
		}
	})
}

func TestTextIsToldSoThatItCanBeSeen(t *testing.T) {
	for s, want := range map[string]string{
		"stock:17": "stock:17", `say "hi"`: `say "hi"`, "zwölf": "zwölf", "a\tb": `a\tb`, `a\tb`: `a\\tb`, "\x00\xc3": `\x00\xc3`, "\u202eabc": `\u202eabc`,
		strings.Repeat("x", maxText+5): strings.Repeat("x", maxText) + "... (5 more bytes)",
	} {
		if got := text(s); got != want {
			t.Errorf("text(%q) is %q, want %q", s, got, want)
		}
	}
}

func TestDiskThatFailsStopsNobodyAndLosesNothingThatThereIsRoomFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &disk{fails: errors.New("no space left on device")}
		l, log := newLog(d)
		for i := range 100 {
			l.Tell(force(fmt.Sprint(i)))
		}
		time.Sleep(10 * time.Second)
		if n := strings.Count(log.String(), "cannot be written"); n != 1 || !strings.Contains(log.String(), "no space left on device") {
			t.Errorf("told %d times:\n%s", n, log)
		}
		d.fail(nil)
		time.Sleep(2 * retry)
		lines := d.lines(t)
		if len(lines) != 100 || lines[0].Key != "0" || lines[99].Key != "99" || l.Lost() != 0 {
			t.Errorf("%d lines, %d lost", len(lines), l.Lost())
		}
		if n := strings.Count(log.String(), "is written again"); n != 1 {
			t.Errorf("the end was told %d times:\n%s", n, log)
		}
		l.Close(time.Second)
	})
}

func TestQueueThatIsFullTellsWhereLinesAreLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &disk{held: make(chan struct{})}
		l, log := newLog(d)
		const orders = 2 * maxQueued / 100
		for i := range orders {
			l.Tell(force(fmt.Sprint(i)))
		}
		lost := int(l.Lost())
		if lost < orders/10 || lost >= orders {
			t.Fatalf("of %d lines %d are lost", orders, lost)
		}
		close(d.held)
		synctest.Wait()
		l.Tell(force("last"))
		l.Sweep()
		synctest.Wait()
		told, gaps := 0, 0
		for i, line := range d.lines(t) {
			switch {
			case line.Event == gap:
				gaps += int(line.Lost)
			case line.Key == "last":
			case line.Key != fmt.Sprint(i):
				t.Fatalf("line %d is about %s", i, line.Key)
			default:
				told++
			}
		}
		if told+gaps != orders || gaps != lost {
			t.Errorf("%d are told and %d are told to be lost, of %d of which %d are", told, gaps, orders, lost)
		}
		for _, want := range []string{"are lost, as too many wait", "are not lost any more"} {
			if strings.Count(log.String(), want) != 1 {
				t.Errorf("%q is not told once:\n%s", want, log)
			}
		}
		l.Close(time.Second)
	})
}

func TestFileIsOpenedAnewAndToldOfIfItCannotBe(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &disk{}
		l, log := newLog(d)
		l.Reopen()
		synctest.Wait()
		if d.opened != 1 || log.String() != "" {
			t.Errorf("opened %d times: %s", d.opened, log)
		}
		d.fail(errors.New("permission denied"))
		l.Reopen()
		synctest.Wait()
		if !strings.Contains(log.String(), "permission denied") {
			t.Errorf("the log: %s", log)
		}
		d.fail(nil)
		time.Sleep(2 * retry)
		if !strings.Contains(log.String(), "is written again") {
			t.Errorf("the log: %s", log)
		}
		l.Close(time.Second)
	})
}

func TestEndDoesNotWaitForADiskForLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &disk{held: make(chan struct{})}
		l, log := newLog(d)
		l.Tell(force("k"))
		began := time.Now()
		if l.Close(time.Second) || time.Since(began) != time.Second {
			t.Errorf("it has ended after %v", time.Since(began))
		}
		if !strings.Contains(log.String(), "the last lines of the audit log are lost: lines=1") {
			t.Errorf("the log: %s", log)
		}
		l.Tell(force("late")) // is told to nobody
		close(d.held)
		synctest.Wait()
		if n := len(d.lines(t)); n != 1 {
			t.Errorf("%d lines", n)
		}
	})
}

func TestNoLogTakesNothing(t *testing.T) {
	var l *Log
	l.Called("x")
	l.Tell(force("k"))
	l.Sweep()
	l.Reopen()
	if !l.Close(0) || l.Lost() != 0 {
		t.Error("it lost something")
	}
}
