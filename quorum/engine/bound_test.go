package engine

import (
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"redlock-proxy/quorum"
	"redlock-proxy/quorum/master"
)

// renewals are ways to make a lock of A's live another two seconds that name no token.
var renewals = map[string]quorum.Request{
	"PEXPIRE":       {Kind: quorum.Write, Args: []string{"PEXPIRE", "k", ""}, TTL: 2 * time.Second, TTLArg: 2},
	"a script":      {Kind: quorum.Run, Script: seizeScript, Keys: []string{"k"}, Args: []string{"a", "2000"}},
	"a transaction": {Kind: quorum.Run, Script: seizeStep, Keys: []string{"k"}, Args: []string{"a", "2000"}},
}

// lateWorld is a world in which a proxy's way to master 3 can be made longer, and another
// proxy's is short.
type lateWorld struct {
	*world
	p1, p2 *Engine
	late   func(time.Duration) // how long what is put to it is on its way
}

func inLateWorld(t *testing.T, f func(s *lateWorld)) {
	t.Helper()
	inWorld(t, 3, func(w *world) {
		w.knowsSteps()
		cfg := w.cfg
		cfg.Masters = append([]master.Master(nil), cfg.Masters...)
		s := &lateWorld{world: w}
		s.late, _ = farBothWays(&cfg, 2, 0)
		s.p1, s.p2 = w.start(cfg), w.engine
		time.Sleep(3 * time.Second)
		f(s)
	})
}

func (s *lateWorld) asks(e *Engine, r quorum.Request) quorum.Result {
	s.t.Helper()
	r.Key = "k"
	got := putTo(e, r).wait(s.t)
	s.want(got, quorum.Won)
	time.Sleep(10 * ms)
	return got
}

func acquireBy(token string) quorum.Request {
	return quorum.Request{Kind: quorum.Acquire, Token: token, TTL: time.Minute}
}

// What A was answered long ago reaches a master that is B's by now.
func TestWhatNamesNoTokenIsNotCarriedOutLateOnAnothersLock(t *testing.T) {
	for name, renew := range renewals {
		for _, underWay := range []bool{false, true} {
			t.Run(name+", under way "+strconv.FormatBool(underWay), func(t *testing.T) {
				inLateWorld(t, func(s *lateWorld) {
					s.asks(s.p1, acquireBy("a"))
					if s.late(300 * ms); !underWay {
						s.asks(s.p1, quorum.Request{Kind: quorum.Read})
					}
					s.asks(s.p1, renew)
					s.masters[1].cut() // for a second; it forgets nothing
					synctest.Wait()
					time.Sleep(10 * ms)
					s.asks(s.p1, quorum.Request{Kind: quorum.Release, Token: "a"})
					s.masters[2].forget("k") // A's has ended there
					s.asks(s.p2, acquireBy("b"))
					time.Sleep(400 * ms)
					s.late(0)
					time.Sleep(600 * ms)
					s.up(2)
					time.Sleep(3 * time.Second)
					second := ""
					if s.masters[1].value("k") == "b" { // a look at what a step has left has given it that
						second = "b"
					}
					s.wantValues("k", "b", second, "b")
					if left := s.masters[2].left("k"); left < 50*time.Second {
						t.Errorf("%v are left of B's lock", left)
					}
					if c := putTo(s.p2, quorum.Request{Kind: quorum.Acquire, Key: "k", Token: "c", TTL: time.Minute}).wait(t); c.Decision != quorum.Contended {
						t.Errorf("C's is %v", c.Decision)
					}
				})
			})
		}
	}
}

// A master that was only late with what went before gets the rest in order.
func TestWhatIsBoundIsCarriedOutOnWhatTheOthersFound(t *testing.T) {
	for name, renew := range renewals {
		t.Run(name, func(t *testing.T) {
			inLateWorld(t, func(s *lateWorld) {
				s.asks(s.p1, acquireBy("a"))
				s.late(300 * ms)
				s.asks(s.p1, quorum.Request{Kind: quorum.Read})
				s.asks(s.p1, renew)
				s.late(0)
				time.Sleep(500 * ms)
				for _, m := range s.masters {
					if left := m.left("k"); left > 2*time.Second {
						t.Errorf("%s has %q for %v", m.name, m.value("k"), left)
					}
				}
			})
		})
	}
}

// What a script has removed that says nothing is removed on all masters, unless it is another's by then.
func TestWhatAScriptRemovesThatSaysNothingStaysNowhere(t *testing.T) {
	for another, want := range map[bool]string{false: "", true: "b"} {
		inLateWorld(t, func(s *lateWorld) {
			s.asks(s.p1, acquireBy("a"))
			s.late(300 * ms)
			s.asks(s.p1, quorum.Request{Kind: quorum.Read})
			clears := runOf(clearScript, "k")
			s.want(putTo(s.p1, clears).wait(t), quorum.Contended)
			if another {
				s.masters[2].forget("k") // A's has ended there
				s.asks(s.p2, acquireBy("b"))
			}
			s.late(0)
			time.Sleep(500 * ms)
			s.wantValues("k", want, want, want)
		})
	}
}
