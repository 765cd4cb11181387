package engine

import (
	"context"
	"testing"
	"time"

	"redlock-proxy/quorum"
)

// What an acquire in flight has set may be taken back, and is nobody else's: tokens may
// be constants.
func TestExtendWaitsForTheAcquireOfItsToken(t *testing.T) {
	for name, extend := range map[string]quorum.Request{
		"extend": {Kind: quorum.Extend, Key: "k", Token: "1", TTL: 9 * time.Second},
		"script": {Kind: quorum.Run, Key: "k", Keys: []string{"k"}, Args: []string{"1", "2"}, Script: setStep},
	} {
		t.Run(name, func(t *testing.T) {
			inWorldOfSteps(t, func(w *world) {
				w.masters[0].put("k", "1", 10*time.Second)
				w.masters[1].put("k", "1", 10*time.Second)
				w.each((*fakeMaster).freeze, 2)
				lost := w.put(quorum.Request{Kind: quorum.Acquire, Key: "k", Token: "1", TTL: 10 * time.Second})
				time.Sleep(50 * ms) // the third has granted it, and the first refused
				extended := w.put(extend)
				if r := extended.wait(t); r.Decision == quorum.Won {
					t.Errorf("%+v", r)
				}
				w.want(lost.wait(t), quorum.Split)
				w.settle()
				w.wantValues("k", "1", "1", "")
				if s := w.engine.Status(); s.InFlight != 0 {
					t.Errorf("%d are in flight", s.InFlight)
				}
			})
		})
	}
}

// Nor does an extension wait until a split acquire is tried again: its lock might have
// ended by then, and it would give its ttl to another's.
func TestExtendDoesNotWaitForAnotherAttempt(t *testing.T) {
	inWorld(t, 3, func(w *world) {
		w.sets("k", "1", 40*ms, 1, 2)
		split := w.put(quorum.Request{Kind: quorum.Acquire, Key: "k", Token: "1", TTL: 10 * time.Second})
		time.Sleep(10 * ms)
		began := time.Now()
		w.want(w.extend("k", "1", time.Minute), quorum.Won)
		if took := time.Since(began); took > 0 {
			t.Errorf("it took %v", took)
		}
		w.want(split.wait(t), quorum.Contended)
	}, func(cfg *Config) { cfg.SplitRetries, cfg.SplitDelay = 1, 250*ms })
}

// Its lock may end while it waits: what the other has won is not extended.
func TestExtendIsRefusedIfTheAcquireItWaitsForIsWon(t *testing.T) {
	inWorld(t, 3, func(w *world) {
		w.sets("k", "1", 50*ms, 1, 2, 3)
		w.each(func(m *fakeMaster) { m.set(func(m *fakeMaster) { m.lag = 100 * ms }) }, 2, 3)
		won := w.put(quorum.Request{Kind: quorum.Acquire, Key: "k", Token: "1", TTL: time.Minute})
		time.Sleep(10 * ms)
		r := w.extend("k", "1", time.Second)
		if w.want(r, quorum.Contended); !r.Absent {
			t.Errorf("told %+v", r)
		}
		w.want(won.wait(t), quorum.Won)
		w.settle()
		for _, m := range w.masters[1:] {
			if left := m.left("k"); left < 50*time.Second {
				t.Errorf("%s holds it for %v", m.name, left)
			}
		}
		if s := w.engine.Status(); s.InFlight != 0 || s.Decisions[quorum.Extend][quorum.Contended] != 1 {
			t.Errorf("%d in flight, %d refused", s.InFlight, s.Decisions[quorum.Extend][quorum.Contended])
		}
	})
}

// Neither another's acquire nor one that is decided holds an extension up.
func TestExtendWaitsForNoOtherAcquire(t *testing.T) {
	inWorld(t, 3, func(w *world) {
		w.want(w.acquire("k", "a", time.Minute), quorum.Won)
		w.each(func(m *fakeMaster) { m.set(func(m *fakeMaster) { m.lag = 50 * ms }) }, 1, 2, 3)
		other := w.put(quorum.Request{Kind: quorum.Acquire, Key: "k", Token: "b", TTL: time.Minute})
		began := time.Now()
		w.want(w.ask(quorum.Request{Kind: quorum.Extend, Key: "k", Token: "a", TTL: time.Minute}), quorum.Won)
		if took := time.Since(began); took > 110*ms {
			t.Errorf("it took %v", took)
		}
		w.want(other.wait(t), quorum.Contended)
	})
}

// Who looks whose lock it is keeps nobody from taking it.
func TestScriptThatLooksAtAKeyKeepsNobodyFromLockingIt(t *testing.T) {
	for name, s := range map[string]*quorum.Script{"may write": looksScript, "may not": readsOnly} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, 3, func(w *world) {
				w.each(func(m *fakeMaster) { m.set(func(m *fakeMaster) { m.lag = 10 * ms; m.log = nil }) }, 1, 2, 3)
				asked := w.put(quorum.Request{Kind: quorum.Acquire, Key: "k", Token: "t", TTL: time.Minute})
				looked := w.put(runOf(s, "k"))
				w.want(asked.wait(t), quorum.Won)
				if r := looked.wait(t); r.Script == nil || r.Script.Str != "t" {
					t.Errorf("it saw %+v", r)
				}
				for _, m := range w.masters {
					if n := len(m.commands("SET")); n != 1 {
						t.Errorf("%s saw %d attempts", m.name, n)
					}
				}
			})
		})
	}
}

// Whoever only reads does not wait for the decision, either.
func TestScriptThatMayNotWriteWaitsForNoAcquire(t *testing.T) {
	inWorld(t, 3, func(w *world) {
		w.want(w.acquire("k", "a", time.Minute), quorum.Won)
		w.each((*fakeMaster).freeze, 1)
		w.each(func(m *fakeMaster) { m.set(func(m *fakeMaster) { m.lag = 50 * ms }) }, 2)
		other := w.put(quorum.Request{Kind: quorum.Acquire, Key: "k", Token: "b", TTL: time.Minute})
		looked := w.put(runOf(readsOnly, "k"))
		w.settle()
		if n := len(w.masters[2].commands("a script k")); n != 1 {
			t.Errorf("the third master was asked %d times", n)
		}
		w.each((*fakeMaster).unfreeze, 1)
		w.want(other.wait(t), quorum.Contended)
		if r := looked.wait(t); r.Script == nil || r.Script.Str != "a" {
			t.Errorf("it saw %+v", r)
		}
	})
}

func TestExpiryInThePastThatHasWaitedIsCarriedOut(t *testing.T) {
	inWorld(t, 3, func(w *world) {
		w.each(func(m *fakeMaster) { m.set(func(m *fakeMaster) { m.lag = 10 * ms }) }, 1, 2, 3)
		asked := w.put(quorum.Request{Kind: quorum.Acquire, Key: "k", Token: "a", TTL: time.Minute})
		expired := w.put(quorum.Request{Kind: quorum.Write, Key: "k", Args: []string{"PEXPIRE", "k", "", "XX"}, TTLArg: 2, At: 1})
		w.want(asked.wait(t), quorum.Won)
		if r := expired.wait(t); r.Decision != quorum.Won || r.Reply.Int != 1 {
			t.Errorf("%+v", r)
		}
		w.settle()
		w.wantValues("k", "", "", "")
	})
}

// What is asked about a key that is being locked is carried out behind that, by all masters: the
// lock is won first, and is not asked for once more.
func TestAcquireIsMadeOnceWhateverIsAskedMeanwhile(t *testing.T) {
	write := func(args ...string) quorum.Request {
		return quorum.Request{Kind: quorum.Write, Key: "k", Args: append([]string{"SET", "k"}, args...)}
	}
	for name, c := range map[string]struct {
		ask  quorum.Request
		left string
	}{
		"SET":            {write("b"), "b"},
		"SET GET":        {write("b", "GET"), "b"},
		"SET XX":         {write("b", "XX"), "a"}, // whose lock has ended, or it would not be free
		"its extension":  {quorum.Request{Kind: quorum.Extend, Key: "k", Token: "a", TTL: time.Minute}, "a"},
		"another's lock": {lockOf("k", "b", 60_000), "a"},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, 3, func(w *world) {
				w.down(3)
				w.each(func(m *fakeMaster) { m.set(func(m *fakeMaster) { m.lag = 5 * ms }) }, 1, 2)
				acquired := w.put(quorum.Request{Kind: quorum.Acquire, Key: "k", Token: "a", TTL: time.Minute})
				asked := w.put(c.ask)
				read := w.put(quorum.Request{Kind: quorum.Read, Key: "k", ValueOnly: true})
				w.want(acquired.wait(t), quorum.Won)
				if got := asked.wait(t).Decision; got == quorum.Unavailable || got == quorum.Split {
					t.Errorf("it is answered with %v", got)
				}
				if got := read.wait(t); got.Value != c.left && !c.ask.Undecides() {
					t.Errorf("behind it, %q is read", got.Value)
				}
				w.settle()
				w.wantValues("k", c.left, c.left, "")
				if s := w.engine.Status(); s.Splits != 0 || s.InFlight != 0 {
					t.Errorf("%d were tried again, %d are in flight", s.Splits, s.InFlight)
				}
			})
		})
	}
}

// What waits for an acquire is carried out in its order, and is about what it finds then.
func TestWhoHasWaitedIsAnsweredAsByRedis(t *testing.T) {
	set := func(args ...string) quorum.Request {
		return quorum.Request{Kind: quorum.Write, Key: "k", Args: append([]string{"SET", "k"}, args...)}
	}
	expire := quorum.Request{Kind: quorum.Write, Key: "k", Args: []string{"PEXPIRE", "k", ""}, TTLArg: 2, TTL: time.Hour}
	extend := quorum.Request{Kind: quorum.Extend, Key: "k", Token: "b", TTL: time.Hour}
	get := quorum.Request{Kind: quorum.Read, Key: "k", ValueOnly: true}
	for name, c := range map[string]struct {
		asked []quorum.Request
		said  quorum.Reply // to the last
		won   bool
	}{
		"SET, SET XX":               {[]quorum.Request{set("b"), set("c", "XX")}, quorum.Reply{Kind: quorum.StatusReply, Str: "OK"}, true},
		"SET, an extension":         {[]quorum.Request{set("b"), extend}, quorum.Reply{}, true},
		"an extension":              {[]quorum.Request{extend}, quorum.Reply{}, false},
		"SET XX, GET, an extension": {[]quorum.Request{set("c", "XX"), get, extend}, quorum.Reply{}, false},
		"GET, EXPIRE":               {[]quorum.Request{set("c", "XX"), get, expire}, quorum.Reply{Kind: quorum.IntegerReply, Int: 1}, true},
		"SET XX":                    {[]quorum.Request{set("c", "XX")}, quorum.Reply{Kind: quorum.NilReply}, true},
		"EXPIRE":                    {[]quorum.Request{expire}, quorum.Reply{Kind: quorum.IntegerReply}, true},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, 3, func(w *world) {
				w.sets("k", "b", 50*ms, 1, 2, 3)
				w.lagging(60*ms, 2, 3)
				acquired := w.put(quorum.Request{Kind: quorum.Acquire, Key: "k", Token: "b", TTL: time.Minute})
				time.Sleep(10 * ms)
				var got quorum.Result
				var asked []*waiter
				for _, r := range c.asked {
					asked = append(asked, w.put(r))
				}
				for _, a := range asked {
					got = a.wait(t)
				}
				w.want(acquired.wait(t), quorum.Won)
				if got.Reply != c.said || (got.Decision == quorum.Won) != c.won {
					t.Errorf("%v, %+v", got.Decision, got.Reply)
				}
				if left := w.masters[1].left("k"); left > 2*time.Minute && len(c.asked) == 1 {
					t.Errorf("the lock that was won lives for %v", left)
				}
			})
		})
	}
}

// An acquire that is decided as its time is up has taken none from those behind it, be it that the
// proxy is shutting down.
func TestWhoHasWaitedHasTimeOfHisOwn(t *testing.T) {
	for name, closes := range map[string]bool{"": false, "the proxy is closed": true} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, 3, func(w *world) {
				w.sets("k", "left", 10*time.Second, 1)
				w.masters[2].freeze()
				acquired := w.put(quorum.Request{Kind: quorum.Acquire, Key: "k", Token: "a", TTL: time.Minute})
				asked := []*waiter{
					w.put(quorum.Request{Kind: quorum.Write, Key: "k", Args: []string{"SET", "k", "x"}}),
					w.put(quorum.Request{Kind: quorum.Release, Key: "k", Token: "x"}),
				}
				if closes {
					ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
					defer cancel()
					w.engine.Close(ctx)
				}
				for _, a := range asked {
					w.want(a.wait(t), quorum.Won)
				}
				acquired.wait(t)
			})
		})
	}
}

// Between its two steps a lock without a ttl can be read.
func TestWhoHasReadALockMayKeepIt(t *testing.T) {
	for name, c := range map[string]quorum.Request{
		"EXPIRE":       {Kind: quorum.Write, Key: "k", Args: []string{"PEXPIRE", "k", ""}, TTLArg: 2, TTL: time.Hour},
		"SET XX":       {Kind: quorum.Write, Key: "k", Args: []string{"SET", "k", "z", "XX"}},
		"an extension": {Kind: quorum.Extend, Key: "k", Token: "a", TTL: time.Hour},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, 3, func(w *world) {
				w.lagging(20*ms, 1, 2, 3)
				busy := w.putAfter(0, quorum.Request{Kind: quorum.Read, Key: "other"})
				acquired := w.put(quorum.Request{Kind: quorum.Acquire, Key: "k", Token: "a"})
				read := w.put(quorum.Request{Kind: quorum.Read, Key: "k", ValueOnly: true})
				busy.wait(t)
				if got := read.wait(t).Value; got != "a" || len(acquired.answers) > 0 {
					t.Fatalf("%q was read, %d answers to the acquire", got, len(acquired.answers))
				}
				got := w.ask(c)
				w.want(acquired.wait(t), quorum.Won)
				if got.Decision != quorum.Won || got.Reply.Kind == quorum.NilReply || got.Reply == (quorum.Reply{Kind: quorum.IntegerReply}) {
					t.Errorf("%v, %+v", got.Decision, got.Reply)
				}
			})
		})
	}
}
