package quota

import (
	"container/heap"
	"time"
)

// pace is when commands may come, by their rate. Each has a turn; those that were given back are taken before any
// later one.
type pace struct {
	each  time.Duration // between two turns: they are those of this rate alone
	next  time.Duration
	given turns // back
}

// Turn is when a command may come that has to wait. The zero value is none.
type Turn struct {
	of       *Use
	at, each time.Duration
}

// Turn is the next command's, and how long it has to wait, which has its turn then: so many a second, and as many at
// once as come in a tenth of one. Who waits asks again now and then, with the turn that he has: it may be
// another one by then, as others have left, or the rate has changed.
func (u *Use) Turn(rate int, has Turn, now time.Duration) (turn Turn, wait time.Duration) {
	u.mu.Lock()
	defer u.mu.Unlock()
	each := time.Second / time.Duration(rate)
	atOnce := max(time.Second/10-each, 0)
	if u.each != each {
		u.pace = pace{each: each}
	}
	if has.of != u || has.each != each {
		has = Turn{of: u, at: u.first(now), each: each}
	} else if has.at-atOnce > now && len(u.given) > 0 && u.given[0] < has.at {
		has.at, u.given[0] = u.given[0], has.at
		heap.Fix(&u.given, 0)
	}
	return has, max(has.at-atOnce-now, 0)
}

// first is the first turn that nobody has. mu is held.
func (u *Use) first(now time.Duration) time.Duration {
	for len(u.given) > 0 {
		if at := heap.Pop(&u.given).(time.Duration); at >= now {
			return at
		}
	}
	at := max(u.next, now)
	u.next = at + u.each
	return at
}

// Leave gives a turn back that is not taken.
func (t Turn) Leave() {
	if t.of == nil {
		return
	}
	t.of.mu.Lock()
	defer t.of.mu.Unlock()
	if t.of.each == t.each {
		heap.Push(&t.of.given, t.at)
	}
}

// turns are a heap, the earliest first.
type turns []time.Duration

func (t turns) Len() int           { return len(t) }
func (t turns) Less(i, j int) bool { return t[i] < t[j] }
func (t turns) Swap(i, j int)      { t[i], t[j] = t[j], t[i] }
func (t *turns) Push(at any)       { *t = append(*t, at.(time.Duration)) }

func (t *turns) Pop() any {
	last := len(*t) - 1
	at := (*t)[last]
	*t = (*t)[:last]
	return at
}
