package engine

import (
	"errors"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"redlock-proxy/quorum"
	"redlock-proxy/quorum/clock"
	"redlock-proxy/quorum/marker"
)

// First starts, and the loss of everything. Several proxies, of one set of masters or of
// two that share some, or of one that they are told other terms of, begin at one time or
// another with masters that are blank, or marked in part, or by two installations. All
// masters are lost at once, with proxies or without, and come back late and one by one;
// single ones are lost, cut off and slow; proxies are restarted, and others go on; and an
// operator gives the order to bootstrap in the middle of it.
//
// When that is over every proxy has all its masters' votes within the time that the
// rules give, or says that the masters are of other terms.

func TestSimulatedFirstStartsNeverGiveTwoHolders(t *testing.T) {
	n, lost := eachSeed(t, 12, simulateFirstStarts)
	if lost < n/2 && !t.Failed() {
		t.Errorf("everything was lost only %d times in %d schedules", lost, n)
	}
}

// firstStarts is one schedule.
type firstStarts struct {
	*simulation
	cfgs []Config // of each engine
	two  bool     // not all of them have the same terms
	torn bool     // one master alone has lost its marker, or got an old one, or a bootstrap was cut off
	gone int      // how often everything was lost
}

func simulateFirstStarts(t *testing.T, seed uint64) (lost int) {
	synctest.Test(t, func(t *testing.T) {
		s := &firstStarts{simulation: &simulation{
			t: t, seed: seed, rand: rand.New(rand.NewPCG(seed, 4)), begun: time.Now(),
			held: make(map[string]holding), lost: make(map[string]string),
			ttl: [2]int{300, 2000}, constant: 4, again: 10 * ms, rest: 50 * ms, locks: oneDatabase,
		}}
		s.begin()
		var wait sync.WaitGroup
		for c := range 2 * len(s.engines) {
			wait.Go(func() { s.client(c, rand.New(rand.NewPCG(seed, uint64(c+5)))) })
		}
		wait.Go(s.faults)
		wait.Wait()
		s.heal()
		if !*holdersOnly {
			s.servesAgain()
		}
		lost = s.gone
	})
	return lost
}

func (s *firstStarts) tell(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.note("fault: "+format, args...)
}

// begin marks masters, or not, and starts proxies one by one.
func (s *firstStarts) begin() {
	r := s.rand
	w := newWorld(s.t, 5)
	s.world, w.log = w, s.log()
	drifting := r.IntN(2) == 0
	for _, m := range w.masters {
		m.quiet = true
		if *schedules == 1 {
			m.after = s.carriedOut
		}
		if drifting {
			m.rate = 0.991 + 0.018*r.Float64()
		}
	}
	w.cfg.MaxTTL, w.cfg.ProbeInterval = 2*time.Second, 200*ms
	w.cfg.ConnectTimeout, w.cfg.MasterTimeout = 200*ms, 300*ms
	sets := [][]int{{1, 2, 3}, {1, 2, 3}, {1, 2, 3, 4, 5}}
	others := [][]int{{3, 4, 5}, {2, 3, 4}, {1, 4, 5}, {1, 2, 3}, {1, 2, 3, 4, 5}}
	ours := w.some(sets[r.IntN(len(sets))]...)
	if ours.FirstStart = r.IntN(6) > 0; !ours.FirstStart {
		s.tell("first starts are left to bootstrap")
	}
	for range 1 + r.IntN(3) {
		s.cfgs = append(s.cfgs, ours)
	}
	if s.two = r.IntN(2) == 0; s.two {
		theirs := w.some(others[r.IntN(len(others))]...)
		if theirs.Terms().Equal(ours.Terms()) {
			theirs.MaxTTL += time.Second
		}
		for range 1 + r.IntN(2) {
			s.cfgs = append(s.cfgs, theirs)
		}
	}
	s.marks(&ours)
	for i := range s.cfgs {
		if r.IntN(2) == 0 {
			time.Sleep(s.some(0, 700))
		}
		s.engines, s.born = append(s.engines, nil), append(s.born, 0)
		s.launch(i)
	}
	s.ends = time.Now().Add(12 * time.Second)
}

// launch starts an engine, or another in its place.
func (s *firstStarts) launch(i int) {
	e := New(s.cfgs[i], s.world.log)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.engines[i] = e
	s.world.engines = append(s.world.engines, e)
}

// stop ends an engine, in whose place launch has to start another one.
func (s *firstStarts) stop(i int) {
	old, _ := s.engine(i)
	ctx, cancel := contextOf(s.some(0, 100))
	defer cancel()
	old.Close(ctx)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.born[i]++
}

// marks is what stands on the masters of a configuration from before: nothing, the set
// as it was made by bootstrap, or what is left of one or two installations.
func (s *firstStarts) marks(cfg *Config) {
	r := s.rand
	words := [][]string{{"."}, {"."}, {"v!"}, {".", "i"}, {".", "i", "i?"}, {".", "i", "j", "j?"}, {"i!", "i", "j", "j?"}}
	choice := words[r.IntN(len(words))]
	told := ""
	for _, m := range s.world.masters {
		if !slices.Contains(cfg.Names(), m.name) {
			continue
		}
		word := choice[r.IntN(len(choice))]
		told += word + " "
		at := sightsOf(word)[0]
		if at.Nonce == "" {
			continue
		}
		mark := marker.Marker{Installation: at.Installation, Member: m.name, Terms: cfg.Terms(), RunID: m.runID, Loss: "step", First: at.First}
		if !at.Votes && !at.First {
			mark.RunID = "another" // it has voted, before it was restarted
		}
		for db := range m.databases() {
			mark.Nonce, mark.DB = marker.NewNonce(at.First), db
			m.locked(func() { m.in(db, func() { m.keys[quorum.MarkerKey] = fakeKey{value: mark.String()} }) })
		}
	}
	s.tell("masters are marked %s", told)
}

// servesAgain says what must be true when all faults are over.
func (s *firstStarts) servesAgain() {
	cfg := s.world.cfg
	for i, e := range s.engines {
		if e.installation.barring() != nil {
			s.tell("engine %d is restarted, having met other terms", i)
			s.stop(i)
			s.launch(i)
		}
	}
	// What is left of locks ends, so that blank masters can be marked; and who has met
	// other terms looks at its masters again.
	settled := clock.Pad(cfg.MaxTTL)*102/100 + 12*cfg.ProbeInterval
	time.Sleep(settled)
	if !s.cfgs[0].FirstStart {
		s.bootstrap(s.cfgs[0], true)
	}
	turns := time.Duration(len(s.world.masters)+2) * cfg.ProbeInterval
	time.Sleep(s.cfgs[len(s.cfgs)-1].FirstTime() + turns + cfg.MasterTimeout)
	var serving []*Engine
	for i, e := range s.engines {
		// Where first starts are left to bootstrap, and that finds a master that votes, a
		// marker of another installation stays until an operator deletes it.
		voting := true
		if !s.cfgs[i].FirstStart && e.Ready() {
			serving = append(serving, e)
			continue
		}
		for _, m := range e.Status().Masters {
			voting = voting && m.State == quorum.Voting
		}
		switch {
		case voting:
			serving = append(serving, e)
		case !s.two || !errors.Is(e.Refusal(), quorum.ErrOtherTerms):
			s.broken("", "engine %d: %+v", i, e.Status().Masters)
		}
	}
	// Where one master alone was torn from a set, marks of both sets may stay that no proxy
	// knows to be its own: it is for an operator to say whose the masters are.
	if len(serving) == 0 && !(s.two && s.torn) {
		s.broken("", "no engine serves")
	}
	s.engines = serving
	s.hadAgain()
}
