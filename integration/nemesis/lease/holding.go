package lease

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// Holding is a time in which a client relied on a lock.
type Holding struct {
	Client      int
	Key, Token  string
	From, Until Instant
}

// Double is two clients that relied on one lock at the same time.
type Double struct {
	First, Second Holding
}

// Overlap is for how long both did.
func (d Double) Overlap() time.Duration {
	return min(d.First.Until, d.Second.Until).Since(d.Second.From)
}

func (d Double) String() string {
	return fmt.Sprintf("%s: %s (client %d) and %s (client %d) both held it for %v",
		d.Second.Key, d.First.Token, d.First.Client, d.Second.Token, d.Second.Client, d.Overlap())
}

// Doubles finds them one by one, without Porcupine: a second, deliberately dumb
// look at the same history. What it finds the model refuses.
func Doubles(history []Op) []Double {
	byKey := make(map[string][]Holding)
	for _, h := range holdings(history) {
		byKey[h.Key] = append(byKey[h.Key], h)
	}
	var doubles []Double
	for _, key := range sortedKeys(byKey) {
		held := byKey[key]
		slices.SortFunc(held, func(a, b Holding) int { return cmp.Compare(a.From, b.From) })
		last := held[0]
		for _, h := range held[1:] {
			if h.From < last.Until && h.Token != last.Token {
				doubles = append(doubles, Double{last, h})
			}
			if h.Until > last.Until {
				last = h
			}
		}
	}
	return doubles
}

// Lost are the answers, one for each token at most, that told a client inside
// its validity that it no longer had the lock. It is a failure of the lock to
// last, and not of its exclusion.
func Lost(history []Op) []Op {
	var lost []Op
	for _, ops := range byToken(history) {
		follow(ops, func(op Op, until Instant) {
			if op.Outcome == No && op.Return < until {
				lost = append(lost, op)
			}
		})
	}
	slices.SortFunc(lost, func(a, b Op) int { return cmp.Compare(a.Call, b.Call) })
	return lost
}

func holdings(history []Op) []Holding {
	var all []Holding
	for _, ops := range byToken(history) {
		all = append(all, follow(ops, func(Op, Instant) {})...)
	}
	return all
}

// follow goes through the ops of one token and gives the times in which its
// client relied on the lock. Each op after the acquire is shown to visit with
// the end of the client's reliance as it was when the op was sent; after the
// client let go of the lock, or heard that it was lost, nothing more is.
func follow(ops []Op, visit func(op Op, until Instant)) []Holding {
	if len(ops) == 0 || ops[0].Kind != Acquire || ops[0].Outcome != Yes {
		return nil
	}
	first := ops[0]
	h := Holding{Client: first.Client, Key: first.Key, Token: first.Token, From: first.Return, Until: first.promises()}
	var all []Holding
	for _, op := range ops[1:] {
		visit(op, h.Until)
		if op.Kind == Release {
			h.Until = min(h.Until, op.Call)
			break
		}
		if op.Outcome == No {
			h.Until = min(h.Until, op.Return)
			break
		}
		if op.Kind != Extend {
			continue
		}
		if op.Outcome == Unknown { // it may have set a shorter life
			h.Until = min(h.Until, op.promises())
		} else {
			if op.Return > h.Until { // it had stopped relying on the lock meanwhile
				all = append(all, h)
				h.From = op.Return
			}
			h.Until = op.promises()
		}
	}
	all = append(all, h)
	return slices.DeleteFunc(all, func(h Holding) bool { return h.Until <= h.From })
}

// byToken gives the ops of each token that was used, in the order of time.
func byToken(history []Op) [][]Op {
	tokens := make(map[string][]Op)
	for _, op := range history {
		tokens[op.Token] = append(tokens[op.Token], op)
	}
	var all [][]Op
	for _, token := range sortedKeys(tokens) {
		ops := tokens[token]
		slices.SortFunc(ops, func(a, b Op) int { return cmp.Compare(a.Call, b.Call) })
		all = append(all, ops)
	}
	return all
}
