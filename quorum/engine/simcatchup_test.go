package engine

import (
	"flag"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// Schedules for catch-ups. Locks live for seconds and max-ttl is far away, so that
// what a master forgot is there again by a catch-up or not at all; one master forgets
// at a time, since two at once are the timer's business.

// Kinds of schedules; the others are of none.
const (
	anyKind     = -1
	decidedLate = 0 // what is asked before a loss is granted when it must not count any more
	copiedLate  = 3 // what one run gives to a master is carried out when another is over
	noticedLate = 4 // proxies notice late what masters have forgotten; 5, too
	decidedLast = 6 // what is asked before a loss is granted at the last moment
)

var onlyKind = flag.Int("kind", anyKind, "the kind of all schedules for catch-ups; -1 has the seed choose")

func TestSimulatedCatchUpsNeverGiveTwoHolders(t *testing.T) {
	n, caughtUp := eachSeed(t, 20, simulateCatchUps)
	if caughtUp < n && !t.Failed() {
		t.Errorf("only %d masters caught up in %d schedules", caughtUp, n)
	}
}

func simulateCatchUps(t *testing.T, seed uint64) (caughtUp int) {
	synctest.Test(t, func(t *testing.T) {
		s := &simulation{
			t: t, seed: seed, rand: rand.New(rand.NewPCG(seed, 3)), begun: time.Now(),
			held: make(map[string]holding), lost: make(map[string]string),
			ttl: [2]int{1000, 6000}, constant: 4, locks: oneDatabase,
		}
		s.kind = int(seed % 7)
		if *onlyKind != anyKind {
			s.kind = *onlyKind
		}
		if s.dull = s.kind == noticedLate || s.kind == noticedLate+1; s.dull {
			s.constant = 1
		}
		if s.slow() {
			s.ttl, s.rest = [2]int{3000, 6000}, 800*ms // so that others ask for what is relied upon
		}
		if seed/7%2 == 0 {
			s.manners = allManners
		}
		s.world = newWorld(t, 3+2*s.rand.IntN(2))
		s.world.log = s.log()
		s.fewDatabases()
		for _, m := range s.world.masters {
			m.quiet = true
			if *schedules == 1 {
				m.after = s.carriedOut
			}
		}
		s.world.cfg.MaxTTL = time.Minute
		engines, clients := 1+s.rand.IntN(2), 4+s.rand.IntN(4)
		if s.dull {
			engines, clients = 2, 8 // one notices, and many ask the other
		}
		for range engines {
			s.engines = append(s.engines, s.world.start(s.world.cfg))
			s.born = append(s.born, 0)
		}
		s.world.engine = s.engines[0]
		s.ends = time.Now().Add(12 * time.Second)
		var wait sync.WaitGroup
		for c := range clients {
			wait.Go(func() { s.client(c, rand.New(rand.NewPCG(seed, uint64(c+2)))) })
		}
		wait.Go(func() { caughtUp = s.losses() })
		wait.Wait()
		s.heal()
	})
	return caughtUp
}

// slow tells that what is asked before a loss is granted late.
func (s *simulation) slow() bool { return s.kind == decidedLate || s.kind == decidedLast }
