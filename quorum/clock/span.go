package clock

import "time"

// What is taken back is told by its value and by when it ends there, from both sides, on
// the master's own clock: when a master carried something out lies between two looks at
// its clock, TIME before it and TIME behind it on the same connection. Our own clock says
// less, and later:
//
//	1: A asks proxy P for k; master 1 grants, and the answer is half a second on its way
//	2: A hears nothing, asks proxy Q under the same token, and wins on masters 2 and 3
//	3: master 3 goes away; A extends, at Q: 1 and 2 say yes
//	4: P hears of 1, and that all is lost. What it set there ended before now + ttl, and so
//	   does what A has extended
//
// A bound from above alone is no better, as an extension may be to a shorter life. An
// extension moves an expiry by more than a span is wide, see the engine's scripts, so it is never
// taken for what it has extended.

// Span is between two times of one clock. The zero span is not known.
type Span struct{ From, To time.Duration }

const (
	// Sharp is how wide a span may be that is to tell a lock from its extension. What is
	// known less exactly is not taken back: it costs waiting until it ends.
	Sharp = 50 * time.Millisecond

	// rounding is by how much a master may tell an expiry wrong: it has whole milliseconds.
	rounding = 2 * time.Millisecond
)

// Known tells that it is.
func (s Span) Known() bool { return s != Span{} }

// Ends is when what was carried out in s, with an expiry after ttl, ends. It is not known
// if s is not, or is too wide.
func (s Span) Ends(ttl time.Duration) Span {
	e := Span{s.From + ttl - rounding, s.To + ttl + rounding}
	if !s.Known() || e.To < e.From || e.To-e.From > Sharp {
		return Span{}
	}
	return e
}

// Pad widens a span on both sides.
func (s Span) Pad(by time.Duration) Span { return Span{s.From - by, s.To + by} }

// When is what the master's clock shows when ours shows at, and how vague that is. It is not
// known of a clock that has jumped, or that nobody has looked at.
func (a *Anchor) When(at time.Duration) (t, vagueness time.Duration, ok bool) {
	if !a.Known() || a.jumped != 0 {
		return 0, 0, false
	}
	least := at + a.below.At - a.below.Read - Drift((at - a.below.Read).Abs())
	most := a.AtMost(at)
	return (least + most) / 2, (most - least) / 2, true
}

// AtMost is what the master's clock shows at the most when ours shows at, by all that was
// seen of it.
func (a *Anchor) AtMost(at time.Duration) time.Duration {
	return at + a.above.At - a.above.Sent + Drift((at - a.above.Sent).Abs())
}
