package quorum

import "testing"

// Front is a whole proxy before an engine: what clients ask of it, it asks the engine.
type Front interface {
	Ask(Request) Result
	End()
}

// Text is what a client sends.
func (s *Script) Text() string { return s.text }

// OfStep is what a step of the simulation's clients does with a lock; 0: it is none.
func (s *Script) OfStep() Kind {
	return map[*Script]Kind{takeStep: Acquire, renewStep: Extend, freeStep: Release}[s]
}

// Says is what the reply to another script of theirs comes to: nothing, or a number.
func (s *Script) Says(nothing bool, n int64) Decision {
	switch yes := nothing == (s == takeHash); {
	case !yes, s == renewHash && n == 0:
		return Contended
	}
	return Won
}

// SimulateProxies has the simulation's clients ask the proxies that front makes, which
// this package cannot import. They carry transactions out by exec, and watch what is no string
// by digest.
// The proxies have clients' scripts printed as print has them.
func SimulateProxies(t *testing.T, exec, digest *Script, print func(text string) *Script, front func(t *testing.T, e *Engine, seed uint64) Front) {
	if effects[exec] == nil {
		for c := range effects {
			if !c.latches {
				printed[c] = formsOf(print(c.text))
			}
		}
		effects[exec], effects[digest] = transacts, digests
		known = append(known, exec.wrapped, digest.wrapped)
	}
	n, won := eachSeed(t, 20, func(t *testing.T, seed uint64) int {
		return simulateWith(t, seed, func(s *simulation) { s.front, s.manners = front, allManners })
	})
	if won < n && !t.Failed() {
		t.Errorf("only %d locks were won in %d schedules", won, n)
	}
}
