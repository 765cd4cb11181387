package engine

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"runtime/pprof"
	"slices"
	"strings"
	"time"

	"redlock-proxy/quorum"
	"redlock-proxy/quorum/clock"
)

// checkAfterwards says what must be true once all faults are over.
func (s *simulation) checkAfterwards(goroutines int) {
	// Whoever uses a database opens it.
	for _, e := range s.engines {
		for _, lock := range s.locks {
			_, db := located(lock)
			e.Open(db)
		}
	}
	// Whatever still stood in a socket is carried out at once; the longest lock
	// ends after its padded ttl; an absent master is back in a second.
	// All of them may have forgotten while no proxy was there that knew them: it is a
	// first start then, once they hold no key.
	s.nothingLeft()
	s.endStrikes()
	time.Sleep(max(4*time.Second, 3*s.world.cfg.ProbeInterval) + s.world.cfg.MasterTimeout + clock.Pad(s.world.cfg.MaxTTL)*102/100 + s.world.cfg.FirstTime())
	// Databases that nobody uses are opened a few at a time.
	tended := func(e *Engine) bool { return len(e.tended()) > 0 }
	for range 60 {
		if slices.ContainsFunc(s.engines, tended) {
			time.Sleep(s.world.cfg.ProbeInterval)
		}
	}
	for _, m := range s.world.masters {
		for _, key := range s.locks {
			if v := m.valueOf(key); v != "" {
				s.broken(key, "%s still holds %s=%s (%s)", m.name, key, v, s.lost[v])
			}
		}
	}
	for i, e := range s.engines {
		st := e.Status()
		if st.InFlight != 0 {
			s.broken("", "%d are in flight at engine %d", st.InFlight, i)
		}
		for _, m := range st.Masters {
			if m.State != quorum.Voting || m.Elsewhere != nil || m.Queue+m.InBatch+m.Debts != 0 {
				s.broken("", "engine %d: %+v", i, m)
			}
		}
	}
	s.hadAgain()
	if s.reconfigured {
		s.hadWithout(int(s.seed % uint64(len(s.world.masters))))
	}
	if s.strikes != nil || s.seed%16 == 0 {
		s.hadWithoutAny()
		s.readsAreNew(rand.New(rand.NewPCG(s.seed, 5)))
	}
	s.contend()
	s.noneLeftRunning(goroutines)
}

// noneLeftRunning tells of more goroutines than links and engines have. What ends by itself is
// waited for: an engine whose database is healed may be closing.
func (s *simulation) noneLeftRunning(goroutines int) {
	if *schedules > 1 {
		return // others are counted, too
	}
	now, may := 0, 0
	for range 20 {
		may = goroutines + 5*len(s.engines) + len(s.world.masters)
		if s.far {
			may += 3 * len(s.engines) * len(s.world.masters) // rueidis's own, on each link
		}
		for _, e := range s.engines {
			// Of each master one carries, and others may look for what is left there.
			may += len(e.opened()) * (5 + 4*len(s.world.masters))
		}
		if now = runtime.NumGoroutine(); now <= may {
			return
		}
		time.Sleep(s.world.cfg.ProbeInterval)
	}
	var stacks strings.Builder
	pprof.Lookup("goroutine").WriteTo(&stacks, 1)
	s.t.Log(stacks.String())
	s.broken("", "%d goroutines, %d at the beginning, %d may be", now, goroutines, may)
}

// hadAgain has each lock be acquired and released at each engine.
func (s *simulation) hadAgain() {
	for _, e := range s.engines {
		for _, key := range s.locks {
			ask := quorum.Request{Kind: quorum.Acquire, Key: key, Token: "last", TTL: time.Minute}
			if r := s.ask(e, ask); r.Decision != quorum.Won {
				s.broken(ask.Key, "%s cannot be had again: %+v", ask.Key, r)
			}
			ask.Kind = quorum.Release
			if r := s.ask(e, ask); r.Decision != quorum.Won {
				s.broken(ask.Key, "%s cannot be released: %+v", ask.Key, r)
			}
			time.Sleep(5 * ms)
		}
	}
}

// contend has all engines want the same locks at once, with no faults: of those
// who are told no, nothing is left behind.
func (s *simulation) contend() {
	type asked struct {
		key, token string
		answer     chan quorum.Result
	}
	var all []asked
	for i := range 8 {
		for j, e := range s.engines {
			a := asked{fmt.Sprint("c", i), fmt.Sprintf("t%d.%d", i, j), make(chan quorum.Result)}
			all = append(all, a)
			go func() {
				a.answer <- s.ask(e, quorum.Request{Kind: quorum.Acquire, Key: a.key, Token: a.token, TTL: time.Minute})
			}()
		}
	}
	winner := make(map[string]string)
	for _, a := range all {
		switch r := <-a.answer; {
		case r.Decision != quorum.Won:
		case winner[a.key] != "":
			s.broken(a.key, "%s was won by %s and by %s", a.key, winner[a.key], a.token)
		default:
			winner[a.key] = a.token
		}
	}
	if s.far {
		time.Sleep(15 * ms)
	}
	time.Sleep(5 * ms)
	for _, m := range s.world.masters {
		for i := range 8 {
			key := fmt.Sprint("c", i)
			if v := m.value(key); v != "" && v != winner[key] {
				s.broken(key, "%s holds %s=%s, which was lost to %q", m.name, key, v, winner[key])
			}
		}
	}
}
