package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"time"

	"redlock-proxy/integration"
)

// asAttacker is the first argument of a process that attacks: so this program starts
// itself.
const asAttacker = "attacker"

// begun is the line by which an attacker tells that it is at it.
const begun = "begun"

// processes is attackers at work, each a process.
type processes []*attackerProcess

type attackerProcess struct {
	name  string
	cmd   *exec.Cmd
	stdin io.Closer
	lines chan string // what it prints, to its end
}

// sendOut starts attackers, and returns when each of them is at it.
func sendOut(names []string, addr string, turn int) (p processes, err error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		a := &attackerProcess{name: name, lines: make(chan string, 8)}
		a.cmd = integration.Command(self, asAttacker, name, addr, strconv.Itoa(turn))
		a.cmd.Stderr = os.Stderr
		stdin, inErr := a.cmd.StdinPipe()
		stdout, outErr := a.cmd.StdoutPipe()
		if err := errors.Join(inErr, outErr, a.cmd.Start()); err != nil {
			return p, errors.Join(err, p.abandon())
		}
		a.stdin = stdin
		p = append(p, a)
		go func() {
			defer close(a.lines)
			for s := bufio.NewScanner(stdout); s.Scan(); {
				a.lines <- s.Text()
			}
		}()
	}
	for _, a := range p {
		if line, err := a.next(); err != nil || line != begun {
			return nil, errors.Join(fmt.Errorf("the attacker %q begins with %q: %w", a.name, line, err), p.abandon())
		}
	}
	return p, nil
}

// next is what an attacker prints next.
func (a *attackerProcess) next() (string, error) {
	select {
	case line, ok := <-a.lines:
		if !ok {
			return "", io.ErrUnexpectedEOF
		}
		return line, nil
	case <-time.After(2 * time.Minute):
		return "", errors.New("nothing for two minutes")
	}
}

// recall ends the attackers and gathers what they have done.
func (p processes) recall() (sum tally, err error) {
	for _, a := range p {
		a.stdin.Close()
	}
	for _, a := range p {
		line, nextErr := a.next()
		var t tally
		if nextErr == nil {
			nextErr = json.Unmarshal([]byte(line), &t)
		} else {
			nextErr = errors.Join(nextErr, a.cmd.Process.Kill())
		}
		for range a.lines { // to its end, before Wait closes it
		}
		if nextErr = errors.Join(nextErr, a.cmd.Wait()); nextErr != nil {
			err = errors.Join(err, fmt.Errorf("the attacker %q: %w", a.name, nextErr))
		}
		sum.add(&t)
	}
	return sum, err
}

// abandon ends attackers of which some may not have begun.
func (p processes) abandon() error {
	var err error
	for _, a := range p {
		err = errors.Join(err, a.cmd.Process.Kill())
		for range a.lines {
		}
		_ = a.cmd.Wait() // that it was killed is known
	}
	return err
}

// tally is what attackers tell when they end.
type tally struct {
	Done    int            // of what the attack is made of
	Refused map[string]int // of what somebody was right to ask for, by what was told
	Answers int            // that were errors as they should be
	Wrong   map[string]int // and those that were not
	Slowest time.Duration  // of the answers
}

func (t *tally) add(other *tally) {
	t.Done += other.Done
	t.Answers += other.Answers
	t.Refused = addTo(t.Refused, other.Refused)
	t.Wrong = addTo(t.Wrong, other.Wrong)
	t.Slowest = max(t.Slowest, other.Slowest)
}

func addTo(to, from map[string]int) map[string]int {
	for text, n := range from {
		if to == nil {
			to = make(map[string]int)
		}
		to[text] += n
	}
	return to
}
