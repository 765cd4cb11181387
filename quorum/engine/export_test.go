package engine

import (
	"testing"

	"redlock-proxy/quorum"
	"redlock-proxy/quorum/journal"
)

// Front is a whole proxy before an engine: what clients ask of it, it asks the engine.
type Front interface {
	Ask(quorum.Request) quorum.Result
	End()
}

// OfStep is what a step of the simulation's clients does with a lock; 0: it is none.
func OfStep(s *quorum.Script) quorum.Kind {
	return map[*quorum.Script]quorum.Kind{takeStep: quorum.Acquire, renewStep: quorum.Extend, freeStep: quorum.Release}[s]
}

// Says is what the reply to another script of theirs comes to: nothing, or a number.
func Says(s *quorum.Script, nothing bool, n int64) quorum.Decision {
	switch yes := nothing == (s == takeHash); {
	case !yes, s == renewHash && n == 0:
		return quorum.Contended
	}
	return quorum.Won
}

// SimulateProxies has the simulation's clients ask the proxies that front makes, which
// this package cannot import. They carry transactions out by exec, and watch what is no string
// by digest.
// The proxies have clients' scripts printed as print has them.
func SimulateProxies(t *testing.T, exec, digest *quorum.Script, print func(text string) *quorum.Script, front func(t *testing.T, e *Engine, seed uint64) Front) {
	if effects[exec] == nil {
		for c := range effects {
			if !c.Latches {
				printed[c] = formsOf(print(c.Text))
			}
		}
		effects[exec], effects[exec.ReadOnly()], effects[digest] = transacts, transacts, digests
		known = append(known, journal.FormOf(exec).Own(), journal.FormOf(exec.ReadOnly()).Own(), journal.FormOf(digest).Own())
	}
	n, won := eachSeed(t, 20, func(t *testing.T, seed uint64) int {
		return simulateWith(t, seed, func(s *simulation) { s.front, s.manners = front, allManners })
	})
	if won < n && !t.Failed() {
		t.Errorf("only %d locks were won in %d schedules", won, n)
	}
}
