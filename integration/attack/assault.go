package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"redlock-proxy/integration"
)

// assault is what an attacker's process does: one of attackers, until its parent closes
// its input.
type assault struct {
	addr string
	turn int // of its attack, so that it can be another one each time
	over chan struct{}

	telling sync.Once
	done    atomic.Int64

	mu    sync.Mutex // guards what follows
	ended bool
	conns map[net.Conn]bool
	tally tally
}

// preparation is how long an attacker is waited for.
const preparation = 2 * time.Second

// attackerMain is the process of one attacker: its name, whom it attacks, and which turn it is.
func attackerMain(args []string) int {
	if len(args) != 3 || attackers[args[0]] == nil {
		fmt.Fprintln(os.Stderr, "attack: whom, how and when, or a name that is not known:", args)
		return 2
	}
	turn, err := strconv.Atoi(args[2])
	if err != nil {
		fmt.Fprintln(os.Stderr, "attack:", err)
		return 2
	}
	a := &assault{addr: args[1], turn: turn, over: make(chan struct{}), conns: make(map[net.Conn]bool)}
	go a.until(os.Stdin)
	defer time.AfterFunc(preparation, a.begun).Stop() // beside others it may take minutes
	if err := attackers[args[0]](a); err != nil {
		fmt.Fprintf(os.Stderr, "attack: %s: %v\n", args[0], err)
		return 1
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.tally.Done += int(a.done.Load())
	if err := json.NewEncoder(os.Stdout).Encode(a.tally); err != nil {
		return 1
	}
	return 0
}

// until ends the assault when nothing more can come from the parent.
func (a *assault) until(r io.Reader) {
	_, _ = io.Copy(io.Discard, r)
	a.mu.Lock()
	defer a.mu.Unlock()
	a.ended = true
	close(a.over)
	for conn := range a.conns {
		conn.Close()
	}
}

// begun tells the parent that the assault is on.
func (a *assault) begun() { a.telling.Do(func() { fmt.Println(begun) }) }

// isOver tells that the assault is to end.
func (a *assault) isOver() bool {
	select {
	case <-a.over:
		return true
	default:
		return false
	}
}

// pause is false if the assault is to end.
func (a *assault) pause(d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-a.over:
		return false
	}
}

var errOver = errors.New("the assault is over")

// wire is a connection of an attacker.
type wire struct {
	net.Conn
	r *bufio.Reader
}

// dial connects, and says the password unless it is the one thing not to be said.
func (a *assault) dial(knows bool) (*wire, error) {
	conn, err := net.DialTimeout("tcp", a.addr, 30*time.Second)
	if err != nil {
		return nil, err
	}
	a.mu.Lock()
	ended := a.ended
	if !ended {
		a.conns[conn] = true
	}
	a.mu.Unlock()
	if ended {
		conn.Close()
		return nil, errOver
	}
	w := &wire{conn, bufio.NewReaderSize(conn, 64<<10)}
	if !knows {
		return w, nil
	}
	if failure, err := w.do("AUTH", password); err != nil || failure != "" {
		a.hangUp(w)
		return nil, fmt.Errorf("AUTH: %s %w", failure, err)
	}
	return w, nil
}

func (a *assault) hangUp(w *wire) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.conns, w.Conn)
	w.Close()
}

// do sends a command and throws its reply away, but for an error.
func (w *wire) do(args ...string) (failure string, err error) {
	if _, err := w.Write(integration.Encode(args...)); err != nil {
		return "", err
	}
	return w.skip()
}

// skip reads one reply and throws it away, but for an error.
func (w *wire) skip() (failure string, err error) {
	line, err := w.r.ReadSlice('\n')
	if err != nil {
		return "", err
	}
	text := string(line[1 : len(line)-2])
	switch line[0] {
	case '-':
		return text, nil
	case '$':
		if n, err := strconv.Atoi(text); err != nil || n < 0 {
			return "", err
		} else if _, err = w.r.Discard(n + 2); err != nil {
			return "", err
		}
	case '*':
		n, err := strconv.Atoi(text)
		for range n {
			if err != nil || failure != "" {
				break
			}
			failure, err = w.skip()
		}
		return failure, err
	}
	return "", nil
}

// clients are n connections at once, each of which acts until the assault is over, and
// connects anew where it was cut off.
func (a *assault) clients(n int, knows bool, act func(w *wire, i int) error) error {
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() {
			for !a.isOver() {
				w, err := a.dial(knows)
				if err != nil {
					a.pause(10 * time.Millisecond)
					continue
				}
				_ = act(w, i) // it was cut off, or the assault is over
				a.hangUp(w)
				a.pause(10 * time.Millisecond)
			}
		})
	}
	all.Wait()
	return nil
}

// refused notes what somebody was told who asked for nothing wrong.
func (a *assault) refused(failure string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.tally.Refused = addTo(a.tally.Refused, map[string]int{brief(failure): 1})
}
