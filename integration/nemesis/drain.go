package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"redlock-proxy/integration/nemesis/lease"
	"redlock-proxy/integration/nemesis/queue"
)

// drainTime is how long it may take until masters that were brought up to a quorum's list
// give the next element of a queue.
const drainTime = 3 * time.Second

// settle has one of those who pop take all that is left of each kind of queue.
func (q *queuer) settle() {
	if n := q.id % processSpan; n != producers && n != producers+1 {
		return
	}
	// What came for a client that has gone is put back by then.
	time.Sleep(notice)
	for n := q.begun; n <= current(); n++ {
		at := q.named(q.moved, n)
		op := queue.Op{Client: q.id, Queues: []string{at.name}, Kind: queue.Drain, Call: now(), Outcome: lease.Unknown}
		if q.drain(at, at.in) && q.drain(at, at.out) {
			op.Outcome = lease.Yes
		}
		op.Return = now()
		q.seen.Queues = append(q.seen.Queues, op)
	}
}

// drain pops until there is nothing left, or masters do not agree for too long.
func (q *queuer) drain(at aQueue, key string) bool {
	for deadline := time.Now().Add(drainTime); time.Now().Before(deadline); {
		if !q.connect() {
			continue
		}
		switch q.ask(queue.Op{Queues: []string{at.name}, Kind: queue.Pop}, patience, "LPOP", key).(type) {
		case nil:
			return true
		case string:
			deadline = time.Now().Add(drainTime)
		default:
			time.Sleep(100 * time.Millisecond)
		}
	}
	return false
}

// queueOf is the queue that an element was pushed to.
func queueOf(element string) string {
	name, _, _ := strings.Cut(element, ".")
	return name
}

// stands reads from the masters themselves which elements they still have.
func (h *house) stands(seen []queue.Op) (map[string]bool, error) {
	var names []string
	for _, op := range seen {
		if op.Kind == queue.Drain && op.Outcome != lease.Yes {
			names = append(names, op.Queues...)
		}
	}
	slices.Sort(names)
	found := make(map[string]bool)
	for _, name := range slices.Compact(names) {
		for _, key := range []string{name, name + "in", name + "out", "{" + name + "}in", "{" + name + "}out"} {
			for _, m := range h.masters {
				reply, err := m.do("LRANGE", key, "0", "-1")
				if err != nil {
					return nil, err
				}
				elements, _ := reply.([]any)
				for _, e := range elements {
					found[fmt.Sprint(e)] = true
				}
			}
		}
	}
	return found, nil
}
