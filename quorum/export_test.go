package quorum

import "testing"

// Front is a whole proxy before an engine: what clients ask of it, it asks the engine.
type Front interface {
	Ask(Request) Result
	End()
}

// Text is what a client sends.
func (s *Script) Text() string { return s.text }

// SimulateProxies has the simulation's clients ask the proxies that front makes, which
// this package cannot import.
func SimulateProxies(t *testing.T, front func(t *testing.T, e *Engine, seed uint64) Front) {
	n, won := eachSeed(t, 20, func(t *testing.T, seed uint64) int {
		return simulateWith(t, seed, func(s *simulation) { s.front = front })
	})
	if won < n && !t.Failed() {
		t.Errorf("only %d locks were won in %d schedules", won, n)
	}
}
