package engine

import (
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"redlock-proxy/quorum"
	"redlock-proxy/quorum/journal"
)

// A stage is masters, and engines before them, for whole proxies, whose clients are a test's of another package. One
// master after the other is lost, slow, or comes back without what it held, seldom so many at a time that the others are
// no quorum; and it is calm in between.

// Stage is one schedule.
type Stage struct {
	*simulation
	Forgets bool // a master may
	Tells   bool // masters tell of changes

	forgot time.Time // when one last did

	mu       sync.Mutex // guards what follows
	troubled map[*fakeMaster]bool
	calm     time.Time // since when it is; zero: it is not
	was      []calm    // before
}

// calm is a time in which no master is in trouble.
type calm struct{ from, until time.Time }

// Scripts are those by which proxies have lists changed.
type Scripts struct{ Carries, Takes, Finds *quorum.Script }

// SimulateStages has act play each schedule with its seed, and sums up what it returns.
func SimulateStages(t *testing.T, few int, scripts Scripts, act func(t *testing.T, s *Stage, seed uint64) int) (n, total int) {
	if effects[scripts.Carries] == nil {
		effects[scripts.Carries], effects[scripts.Takes], effects[scripts.Finds] = carriesOut, takesForWaiter, findsNothing
		for _, s := range []*quorum.Script{scripts.Carries, scripts.Takes, scripts.Finds} {
			known = append(known, journal.FormOf(s).Own())
		}
	}
	return eachSeed(t, few, func(t *testing.T, seed uint64) (came int) {
		synctest.Test(t, func(t *testing.T) { came = act(t, newStage(t, seed), seed) })
		return came
	})
}

func newStage(t *testing.T, seed uint64) *Stage {
	r := rand.New(rand.NewPCG(seed, 7))
	s := &Stage{
		simulation: &simulation{t: t, seed: seed, rand: r, begun: time.Now()},
		Forgets:    seed%3 == 0, Tells: seed%5 > 0,
		troubled: make(map[*fakeMaster]bool),
	}
	s.world = newWorld(t, 3+2*(r.IntN(4)/3))
	s.world.log = s.log()
	drifting := r.IntN(2) == 0
	for _, m := range s.world.masters {
		m.quiet, m.count, m.tells, m.steps = true, 2, s.Tells, make(map[string][]fakeStep)
		m.far = time.Duration(r.IntN(3000)) * time.Microsecond
		if drifting {
			m.rate = 0.991 + 0.018*r.Float64()
		}
	}
	engines := 2 + r.IntN(2)
	if !s.Tells { // who waits hears of what is changed elsewhere within a second only
		engines = 1
	}
	for range engines {
		s.engines = append(s.engines, s.world.start(s.world.cfg))
	}
	s.turnsCalm(true)
	return s
}

// Engines are those before which proxies are to be.
func (s *Stage) Engines() []*Engine { return s.engines }

// Calm is since when masters are as they should be; ok is false if they are not.
func (s *Stage) Calm() (since time.Time, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.calm, !s.calm.IsZero()
}

func (s *Stage) turnsCalm(is bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if is {
		s.calm = time.Now()
		return
	}
	s.was = append(s.was, calm{s.calm, time.Now()})
	s.calm = time.Time{}
}

// WasCalm tells that no master was in trouble at a time, nor so long before.
func (s *Stage) WasCalm(at time.Time, before time.Duration) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if begun := at.Add(-before); !s.calm.IsZero() && !begun.Before(s.calm) {
		return true
	}
	return slices.ContainsFunc(s.was, func(c calm) bool { return !at.Add(-before).Before(c.from) && at.Before(c.until) })
}

// Note is told where a promise about the key was broken, and Broken reports that.
func (s *Stage) Note(key, format string, args ...any) { s.noteOf(key, format, args...) }

func (s *Stage) Broken(key, format string, args ...any) {
	s.simulation.mu.Lock()
	defer s.simulation.mu.Unlock()
	s.broken(key, format, args...)
}

// Tick notices what has expired, as masters do now and then.
func (s *Stage) Tick() {
	for _, m := range s.world.masters {
		m.set(func(m *fakeMaster) {
			if m.thaw == nil {
				m.tellChanges()
			}
		})
	}
}

// reached are the masters that all engines can rely on.
func (s *Stage) reached() (list []*fakeMaster) {
	for i, m := range s.world.masters {
		s.mu.Lock()
		troubled := s.troubled[m]
		s.mu.Unlock()
		if !troubled && !slices.ContainsFunc(s.engines, func(e *Engine) bool { return e.Status().Masters[i].State != quorum.Voting }) {
			list = append(list, m)
		}
	}
	return list
}

// Held is the value of a key of which a quorum can be had that holds the same, a list's elements as they are kept; ok is
// false if there is none.
func (s *Stage) Held(key string) (value string, ok bool) {
	count := make(map[string]int)
	for _, m := range s.reached() {
		value := m.value(key)
		if count[value]++; count[value] == quorum.QuorumOf(len(s.world.masters)) {
			return value, true
		}
	}
	return "", false
}

// Alike tells that all masters hold the same under a key.
func (s *Stage) Alike(key string) bool {
	value := s.world.masters[0].value(key)
	return !slices.ContainsFunc(s.world.masters, func(m *fakeMaster) bool { return m.value(key) != value })
}

// Elements are those of a list on each master.
func (s *Stage) Elements(key string) (all [][]string) {
	for _, m := range s.world.masters {
		all = append(all, m.elements(key))
	}
	return all
}

// Quorum is how many masters that is.
func (s *Stage) Quorum() int { return quorum.QuorumOf(len(s.world.masters)) }

// Deletes has a stranger delete a key on all masters that go on.
func (s *Stage) Deletes(key string) {
	s.noteOf(key, "is deleted at the masters")
	for _, m := range s.reached() {
		m.set(func(m *fakeMaster) { delete(m.keys, key) })
	}
}

// Step is one on a tag that has acted on a master.
type Step struct {
	By   string // who is told from all others
	What string
	At   time.Time
}

// Steps are those on a tag, in their order on each master.
func (s *Stage) Steps(tag string) (all [][]Step) {
	for _, m := range s.world.masters {
		var list []Step
		m.locked(func() {
			for _, step := range m.steps[tag] {
				list = append(list, Step{step.holder, step.what, step.at})
			}
		})
		all = append(all, list)
	}
	return all
}
