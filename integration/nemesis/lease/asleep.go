package lease

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// Span is the time from one moment to another.
type Span struct{ From, To Instant }

// Without is what is left of a span when others are cut out, in the order of time.
func (s Span) Without(others []Span) []Span {
	others = slices.SortedFunc(slices.Values(others), func(a, b Span) int { return cmp.Compare(a.From, b.From) })
	var left []Span
	for _, o := range others {
		if o.From > s.From {
			left = append(left, Span{s.From, min(o.From, s.To)})
		}
		s.From = max(s.From, min(o.To, s.To))
		if s.From >= s.To {
			break
		}
	}
	left = append(left, s)
	return slices.DeleteFunc(left, func(l Span) bool { return l.From >= l.To })
}

// Longest is the longest of some spans.
func Longest(spans []Span) time.Duration {
	var longest time.Duration
	for _, s := range spans {
		longest = max(longest, s.To.Since(s.From))
	}
	return longest
}

// MayBeLate is how long after its client has given up a question may be carried out: for as
// long as a proxy or a master stands still, and some time to decide.
const MayBeLate = 5 * time.Second

// Sleep is an acquire that waited although nobody had the lock.
type Sleep struct {
	Op  Op
	For time.Duration
}

func (s Sleep) String() string {
	return fmt.Sprintf("%v of client %d waited for %v while nobody had it", s.Op, s.Op.Client, s.For)
}

// Asleep finds the acquires that waited for longer than that while nobody can have had
// their lock, in one piece in which nothing explains it. For so long altogether acquires
// waited, where nothing would have explained it if their lock had been free.
func Asleep(history []Op, longest time.Duration, explained func(Op) []Span) (all []Sleep, watched time.Duration) {
	taken := make(map[string][]Span)
	for _, ops := range byToken(history) {
		if span, may := occupied(ops); may {
			taken[ops[0].Key] = append(taken[ops[0].Key], span)
		}
	}
	for _, op := range history {
		if op.Kind != Acquire {
			continue
		}
		excuses := explained(op)
		for _, s := range (Span{op.Call, op.Return}).Without(excuses) {
			watched += s.To.Since(s.From)
		}
		free := Span{op.Call, op.Return}.Without(slices.Concat(taken[op.Key], excuses))
		if d := Longest(free); d > longest {
			all = append(all, Sleep{op, d})
		}
	}
	return all, watched
}

// occupied is the time in which masters may hold a token: from when its client heard that
// he has the lock, or may have had it, until nobody can have anything of it any more.
func occupied(ops []Op) (span Span, may bool) {
	acquire := ops[0]
	if acquire.Kind != Acquire || acquire.Outcome == No {
		return Span{}, false
	}
	span = Span{From: acquire.Return}
	for _, op := range ops {
		if op.Kind == Acquire || op.Kind == Extend {
			// The allowance for clocks, and what it takes to decide.
			span.To = max(span.To, op.Return.After(op.TTL+op.TTL/50+100*time.Millisecond))
		}
	}
	if acquire.Outcome == Unknown {
		span.From, span.To = acquire.Call, span.To.After(MayBeLate)
	}
	if last := ops[len(ops)-1]; last.Kind == Release && last.Outcome == Yes && acquire.Outcome == Yes {
		span.To = last.Return
	}
	return span, true
}
