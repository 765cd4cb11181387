package engine

import (
	"fmt"
	"testing"
	"time"
)

// Proxies that look rarely at masters that nothing is asked of, over masters whose clocks are
// set several times in a row, while their replies are slow. In half of the schedules locks
// are in several databases, of which some are asked while others are not.
//
// What may hide of a clock that is set is a hundredth of the probe interval, and 2 ms, so
// each step here is more. Those of one master only are set in a schedule: several that jump
// alike are taken for the proxy's own.

func TestSimulatedRareLooksNeverGiveTwoHolders(t *testing.T) {
	n, won := eachSeed(t, 8, func(t *testing.T, seed uint64) int {
		return simulateWith(t, seed, func(s *simulation) {
			if s.rare = true; seed%2 == 0 {
				s.locks = severalDatabases
			}
		})
	})
	if won < n && !t.Failed() {
		t.Errorf("only %d locks were won in %d schedules", won, n)
	}
}

// beginRare has proxies look rarely.
func (s *simulation) beginRare() {
	s.world.cfg.ProbeInterval = []time.Duration{time.Second, 4 * time.Second}[s.rand.IntN(2)]
	s.pause, s.ttl, s.rest = 120, [2]int{500, 900}, 100*ms
	s.unsteady = s.world.masters[s.rand.IntN(len(s.world.masters))]
	s.ends = time.Now().Add(5 * time.Second)
}

// rarely has the clock of one master be set, or another be away, so that locks are on no more
// than a quorum, or something else.
func (s *simulation) rarely(m *fakeMaster) string {
	switch s.rand.IntN(5) {
	case 0, 1:
		return s.setsClock()
	case 2, 3:
		if m != s.unsteady {
			m.cut()
			time.AfterFunc(time.Duration(50+s.rand.IntN(400))*ms, m.rejoin)
			return "is cut off for a while"
		}
	}
	return s.fault(m)
}

// setsClock has the clock of one master be set, and set again, while it answers late.
func (s *simulation) setsClock() string {
	r, m := s.rand, s.unsteady
	slow, how := time.Duration(r.IntN(2)*r.IntN(450))*ms, ""
	least := s.world.cfg.ProbeInterval/33 + 20*ms
	var at time.Duration
	for range 1 + r.IntN(4) {
		by := time.Duration(1+r.IntN(8)) * least
		if r.IntN(2) == 0 {
			by = -by
		}
		at += time.Duration(r.IntN(120)) * ms
		how += fmt.Sprintf(", by %v in %v", by, at)
		time.AfterFunc(at, func() {
			if s.sighted(m) {
				m.set(func(m *fakeMaster) { s.setClock(m, by) })
			}
		})
	}
	if slow > 0 {
		m.set(func(m *fakeMaster) { m.answersLate(slow) })
		time.AfterFunc(at+slow/2, func() { m.set(func(m *fakeMaster) { m.answersLate(m.far) }) })
	}
	return fmt.Sprintf("is as it was; %s has its clock set%s, and answers late by %v meanwhile", m.name, how, slow)
}
