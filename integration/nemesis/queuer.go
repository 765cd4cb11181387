package main

import (
	"fmt"
	"time"

	"redlock-proxy/integration"
	"redlock-proxy/integration/nemesis/lease"
	"redlock-proxy/integration/nemesis/queue"
)

// A process of queues has so many clients who push, who pop, and who move.
const (
	producers = 4
	consumers = 4
	movers    = 2
)

// A queue is pushed to for so long: then the next begins, and one that masters no longer
// agree on, which nobody can pop from, is in nobody's way.
const generation = 4 * time.Second

// fullQueue is how long a queue may be: a list of more than 64 KiB is another matter.
const fullQueue = 200

// blocked is how long a client waits for an element.
const blocked = 500 * time.Millisecond

// queuer is one client of the two queues that there are at a time: one whose elements are
// popped where they were pushed, and one in which they are moved in between.
type queuer struct {
	caller
	name  string
	role  queue.Kind
	moved bool // of which queue it is
	begun int64
	turns int
}

func newQueuer(o clientOptions, id int, seen *history) labour {
	q := &queuer{caller: newCaller(o, id, seen), name: o.name, moved: id%2 == 0, role: queue.Push, begun: current()}
	switch n := id % processSpan; {
	case n >= producers+consumers:
		q.role, q.moved = queue.Move, true
	case n >= producers:
		q.role = queue.Pop
	}
	return q
}

// current is the number of the queues that are pushed to now.
func current() int64 { return int64(now()) / int64(generation) }

// aQueue is one with the keys it is made of.
type aQueue struct{ name, in, out string }

// named gives the queue of a generation. Of every other one that is moved the two keys
// have one hash tag.
func (q *queuer) named(moved bool, n int64) aQueue {
	name := fmt.Sprintf("%s-queue-%d", q.name, n)
	if !moved {
		return aQueue{name, name, name}
	}
	name += "m"
	if n%2 == 0 {
		return aQueue{name, "{" + name + "}in", "{" + name + "}out"}
	}
	return aQueue{name, name + "in", name + "out"}
}

func (q *queuer) turn() error {
	if !q.connect() {
		return nil
	}
	n := current()
	this, last := q.named(q.moved, n), q.named(q.moved, n-1)
	switch q.role {
	case queue.Push:
		q.push(this)
	case queue.Move:
		if q.random.IntN(2) == 0 {
			this = last
		}
		q.move(this)
	default:
		if q.random.IntN(8) == 0 {
			q.pop("LPOP", last, this)
		} else {
			q.pop("BLPOP", last, this)
		}
	}
	return nil
}

func (q *queuer) push(to aQueue) {
	q.turns++
	element := fmt.Sprintf("%s.%d.%d", to.name, q.id, q.turns)
	reply := q.ask(queue.Op{Queues: []string{to.name}, Kind: queue.Push, Element: element}, patience, "RPUSH", to.in, element)
	if length, _ := reply.(int64); length > fullQueue {
		time.Sleep(blocked)
	}
	time.Sleep(q.upTo(40 * time.Millisecond))
}

func (q *queuer) move(at aQueue) {
	q.ask(queue.Op{Queues: []string{at.name}, Kind: queue.Move}, patience+blocked, "BLMOVE", at.in, at.out, "LEFT", "RIGHT", seconds(blocked))
}

// pop asks for an element of either queue, or without waiting of the first alone.
func (q *queuer) pop(command string, first, second aQueue) {
	if command == "LPOP" {
		q.ask(queue.Op{Queues: []string{first.name}, Kind: queue.Pop}, patience, command, first.out)
		return
	}
	q.ask(queue.Op{Queues: []string{first.name, second.name}, Kind: queue.Pop}, patience+blocked, command, first.out, second.out, seconds(blocked))
}

func seconds(d time.Duration) string { return fmt.Sprint(d.Seconds()) }

// ask puts one command to the proxy, and writes down what came of it.
func (q *queuer) ask(op queue.Op, within time.Duration, args ...string) any {
	op.Client, op.Call = q.id, now()
	reply, err := q.sayWithin(within, args...)
	op.Return = now()
	if err != nil {
		q.hangUp()
		reply = integration.Failure(lostConnection)
	}
	op.Outcome = lease.Yes
	switch r := reply.(type) {
	case nil:
		op.Outcome = lease.No
	case string: // what was moved, or popped without waiting
		op.Element = r
	case []any: // the key, and what was popped
		op.Element = fmt.Sprint(r[1])
		if op.Queues[0] != queueOf(op.Element) {
			op.Queues = op.Queues[1:]
		}
		op.Queues = op.Queues[:1]
	case int64: // how long the list is now
	default:
		op.Outcome, op.Heard = lease.Unknown, fmt.Sprint(r)
	}
	q.seen.Queues = append(q.seen.Queues, op)
	return reply
}
