package main

import (
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"time"
)

// wanters are many who want one lock, which each takes and gives back at once. Where it is held they poll, or are kept
// waiting: then they have no refusal before the turn is over.
type wanters struct {
	addr    string
	clients int
	polls   time.Duration // after a refusal

	pairs  int     // of the last turn
	unjust float64 // the longest wait over the mean one, of those who had had a turn before
}

const wantedLock = "lock:wanted"

func (l *wanters) load(d time.Duration) (sample, error) {
	waits, _, err := atOnce(l.addr, l.clients, func(i int, w *wire, begun time.Time) ([]time.Duration, error) {
		return w.want(strconv.Itoa(i), begun.Add(d), l.polls)
	})
	if err != nil {
		return sample{}, err
	}
	var later []time.Duration
	for _, w := range waits {
		later = append(later, w[min(1, len(w)):]...)
	}
	l.unjust = 0
	if len(later) > 0 {
		var sum time.Duration
		for _, w := range later {
			sum += w
		}
		l.unjust = float64(slices.Max(later)) * float64(len(later)) / float64(sum)
	}
	s := sampleOf(slices.Concat(waits...), d)
	l.pairs = s.operations
	return s, nil
}

// want takes the lock and gives it back until the time is over, and tells how long it took to get it each time.
func (w *wire) want(token string, stop time.Time, polls time.Duration) (waits []time.Duration, err error) {
	if err := w.conn.SetDeadline(stop); err != nil {
		return nil, err
	}
	script := release[1]
	for asked := time.Now(); ; {
		switch err := w.do("+OK\r\n", "SET", wantedLock, token, "NX", "PX", "30000"); {
		case timedOut(err):
			return waits, nil
		case errors.Is(err, errRefused):
			time.Sleep(polls)
			continue
		case err != nil:
			return waits, err
		}
		waits = append(waits, time.Since(asked))
		if err := w.do(":1\r\n", "EVAL", script, "1", wantedLock, token); timedOut(err) {
			return waits, nil
		} else if err != nil {
			return waits, err
		}
		asked = time.Now()
	}
}

func timedOut(err error) bool {
	var timeout net.Error
	return errors.As(err, &timeout) && timeout.Timeout()
}

// queueTrial has a thousand clients want one lock: of the proxy with acquire-wait, and of one Redis, where they poll.
func queueTrial(b *bench, r *report) (err error) {
	h, err := b.house(plan{masters: b.masters, args: []string{"--acquire-wait", "10m"}})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, h.close()) }()
	polling := &wanters{addr: h.direct.Addr, clients: 1000, polls: 10 * time.Millisecond}
	waiting := &wanters{addr: h.proxy.Addr, clients: 1000}
	direct := h.asked(polling.load)
	var unjust, commands []float64
	proxy := h.through(func(d time.Duration) (sample, error) {
		before, err := h.lockCommands()
		if err != nil {
			return sample{}, err
		}
		s, err := waiting.load(d)
		if err != nil {
			return s, err
		}
		after, err := h.lockCommands()
		unjust = append(unjust, waiting.unjust)
		commands = append(commands, float64(after-before)/float64(max(waiting.pairs, 1)))
		return s, err
	})
	direct.prepare, proxy.prepare = h.blank, h.blank
	if err := b.turns(direct, proxy); err != nil {
		return err
	}
	unjust, commands = unjust[len(unjust)-b.rounds:], commands[len(commands)-b.rounds:]
	r.add(line{"queue", "1000 clients that want one lock: pairs with `acquire-wait`, beside one Redis that they poll each 10 ms", b.goal(1.5, 2), proxy.beside(direct, throughput), ""})
	r.add(line{"queue", "the same: attempts and releases at all masters for one pair", b.atMost(8, 7), commands, ""})
	r.add(line{"queue", "the same: the longest wait beside the mean", b.atMost(1.5, 1.2), unjust, fmt.Sprintf("where they poll: %s in the last turn", number(polling.unjust))})
	r.addFigures("queue", direct, proxy)
	return nil
}

// lockCommands is how often all masters were asked for a lock, or to free one, or what is left of it: without what
// proves in each batch who a master is, and without what a script calls.
func (h *house) lockCommands() (sum int, err error) {
	for _, m := range h.masters {
		for _, command := range []string{"set", "evalsha", "eval"} {
			n, err := calls(m.Addr, command)
			if err != nil {
				return 0, err
			}
			sum += n
		}
	}
	return sum, nil
}
