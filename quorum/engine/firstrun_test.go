package engine

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"redlock-proxy/quorum"
	"redlock-proxy/quorum/marker"
)

// sightsOf reads what is seen of masters: "-" is one that is away, "." one without a
// marker; else the installation's letter: small if it is a first marker, with "?" if it
// is provisional otherwise, with "!" if it votes.
func sightsOf(text string) (sights []marker.Sight) {
	for _, word := range strings.Fields(text) {
		s := marker.Sight{Reached: word != "-"}
		if s.Reached && word != "." {
			s.Nonce = marker.Nonce("of " + word)
			s.Installation = strings.ToUpper(word[:1])
			s.First = word == strings.ToLower(word) && len(word) == 1
			s.Votes = strings.HasSuffix(word, "!")
		}
		sights = append(sights, s)
	}
	return sights
}

// inBlank runs f with n masters that nobody has marked, and a max-ttl that it can wait
// for.
func inBlank(t *testing.T, n int, f func(w *world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, n)
		briefTTL(&w.cfg)
		f(w)
	})
}

// launch starts an engine and leaves the masters as they are.
func (w *world) launch(cfg Config) *Engine {
	e := New(cfg, w.log)
	w.engine, w.engines = e, append(w.engines, e)
	<-e.Tried()
	synctest.Wait()
	return e
}

// some is the configuration with these masters, counted from 1.
func (w *world) some(numbers ...int) Config {
	cfg := w.cfg
	cfg.Masters = nil
	for _, n := range numbers {
		cfg.Masters = append(cfg.Masters, w.masters[n-1].master())
	}
	return cfg
}

// allVote waits until all masters of an engine vote, and tells how long that took. It
// gives up after a while.
func allVote(e *Engine) (took time.Duration, voting bool) {
	began := time.Now()
	for time.Since(began) < 5*e.zero.MaxTTL {
		synctest.Wait()
		n := 0
		for _, s := range e.Status().Masters {
			if s.State == quorum.Voting {
				n++
			}
		}
		if n == len(e.zero.lanes) {
			return time.Since(began), true
		}
		time.Sleep(50 * ms)
	}
	return time.Since(began), false
}

// wantVotes waits until all masters vote: after a while, and what it takes until each was
// marked in its turn, and all are known to be.
func (w *world) wantVotes(e *Engine, after time.Duration) {
	w.t.Helper()
	turns := time.Duration(len(e.zero.lanes)+2) * e.zero.ProbeInterval
	switch took, voting := allVote(e); {
	case !voting:
		for _, s := range e.Status().Masters {
			w.t.Errorf("%s is %v: %s", s.Name, s.State, s.Reason)
		}
		w.t.FailNow()
	case took < after || took > after+turns:
		w.t.Errorf("it took %v, want %v", took, after)
	}
}

// wantMarked waits until all masters of an engine bear their first markers.
func (w *world) wantMarked(e *Engine, within time.Duration) {
	w.t.Helper()
	for began := time.Now(); ; time.Sleep(50 * ms) {
		synctest.Wait()
		f := e.zero.firstStart()
		if f.begun && len(f.waits) == 0 {
			return
		}
		if time.Since(began) > within {
			w.t.Fatalf("after %v these are to be marked still: %q", within, f.waits)
		}
	}
}

func TestBlankMastersVoteAfterMaxTTL(t *testing.T) {
	for _, n := range []int{2, 3, 5} {
		inBlank(t, n, func(w *world) {
			w.launch(w.cfg)
			turns := time.Duration(n+2) * w.cfg.ProbeInterval
			w.wantMarked(w.engine, turns)
			r := w.acquire("k", "a", time.Second)
			w.want(r, quorum.Unavailable)
			if !strings.HasPrefix(r.Why, "all masters are marked, and none has voted yet: a new set, or all was lost; locks from ") ||
				!strings.HasSuffix(r.Why, ", or at once after redlock-proxy bootstrap --no-locks-held") {
				t.Errorf("it is told %q", r.Why)
			}
			if left := w.state(1).Left; left < w.cfg.FirstTime()-turns || left > w.cfg.FirstTime() {
				t.Errorf("left are %v", left)
			}
			w.wantVotes(w.engine, w.cfg.FirstTime()-time.Second)
			w.want(w.acquire("k", "a", time.Second), quorum.Won)
			// So they do in all databases, where nobody waits for as long again: one that has caught
			// up in database 0 before that has the same to do there.
			if err := w.engine.Open(3); err != nil {
				t.Error(err)
			}
			for db, began := w.engine.use(3), time.Now(); len(db.sources(nil)) < n && time.Since(began) < w.cfg.FirstTime()/2; {
				time.Sleep(50 * ms)
				synctest.Wait()
			}
			w.want(w.ask(quorum.Request{Kind: quorum.Acquire, DB: 3, Key: "k", Token: "a", TTL: time.Second}), quorum.Won)
		})
	}
}

func TestLossOfEverythingHealsByItself(t *testing.T) {
	for _, running := range []bool{true, false} {
		inBlank(t, 3, func(w *world) {
			w.engine = w.start(w.cfg)
			w.want(w.acquire("k", "a", 9*time.Second), quorum.Won)
			if !running {
				w.stop(w.engine)
			}
			w.each((*fakeMaster).restartBlank, 1, 2, 3)
			if !running {
				w.launch(w.cfg)
			}
			time.Sleep(time.Second)
			w.want(w.acquire("k", "b", time.Second), quorum.Unavailable)
			w.wantVotes(w.engine, w.cfg.FirstTime()-time.Second)
			w.want(w.acquire("k", "b", time.Second), quorum.Won)
		})
	}
}

// A machine is gone for good, and the others have lost everything. Which of them are marked
// depends on which one it is, and on whether the proxy has seen them vote.
func TestEmptyServerTakesThePlaceOfAMachineThatIsGoneInALossOfEverything(t *testing.T) {
	notInstrumented(t)
	for gone := 1; gone <= 3; gone++ {
		for _, restarted := range []bool{false, true} {
			inSmallWorld(t, 3, func(w *world) {
				w.want(w.acquire("k", "a", time.Second), quorum.Won)
				time.Sleep(3 * time.Second)
				w.down(gone)
				for i, m := range w.masters {
					if i != gone-1 {
						m.restartBlank()
					}
				}
				if restarted {
					w.stop(w.engine)
					w.engine = New(w.cfg, w.log)
					w.engines = append(w.engines, w.engine)
				}
				time.Sleep(w.cfg.MaxTTL + time.Minute)
				if r := w.acquire("k", "b", time.Second); r.Decision != quorum.Unavailable {
					t.Fatalf("m%d is gone, restarted %t: %v", gone, restarted, r.Decision)
				}
				w.masters[gone-1].restartBlank() // another server, under its name
				w.up(gone)
				time.Sleep(w.cfg.FirstTime() + time.Minute)
				w.want(w.acquire("k", "b", time.Second), quorum.Won)
				for i := range w.masters {
					if s := w.state(i + 1); s.State != quorum.Voting {
						t.Errorf("m%d was gone, restarted %t: m%d is %v, %s", gone, restarted, i+1, s.State, s.Reason)
					}
				}
			})
		}
	}
}

// One proxy goes on from before and others come up while all is lost: they end in one
// installation.
func TestProxiesThatMeetInALossEndInOneInstallation(t *testing.T) {
	inBlank(t, 3, func(w *world) {
		w.start(w.cfg)
		w.each((*fakeMaster).cut, 1, 2, 3)
		w.each((*fakeMaster).restartBlank, 1, 2, 3)
		for range 3 {
			e := New(w.cfg, w.log)
			w.engines = append(w.engines, e)
		}
		for _, e := range w.engines {
			if _, voting := allVote(e); !voting {
				t.Error("an engine has no votes")
			}
		}
		w.sameInstallation(1, 2, 3)
	})
}

// sameInstallation is a failure unless the masters bear one.
func (w *world) sameInstallation(numbers ...int) {
	w.t.Helper()
	found := make(map[string]bool)
	for _, n := range numbers {
		m, err := marker.Parse(w.masters[n-1].value(quorum.MarkerKey))
		if err != nil {
			w.t.Errorf("m%d: %v", n, err)
		}
		found[m.Installation] = true
	}
	if len(found) != 1 {
		w.t.Errorf("there are %d installations", len(found))
	}
}

func TestTwoProxiesThatStartAtOnceMakeOneSet(t *testing.T) {
	inBlank(t, 3, func(w *world) {
		for range 2 {
			w.engines = append(w.engines, New(w.cfg, w.log))
		}
		for _, e := range w.engines {
			if _, voting := allVote(e); !voting {
				t.Error("an engine has no votes")
			}
		}
		w.sameInstallation(1, 2, 3)
	})
}
