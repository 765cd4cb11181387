package engine

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"redlock-proxy/quorum"
)

// What each of three masters makes of an extension: it holds the lock (y), has
// nothing (n), holds another value (o), or does not answer in time (u).
func TestExtendSaysYesByAQuorumAndNoByABlockingMinority(t *testing.T) {
	for masters, want := range map[string]quorum.Decision{
		"yyy": quorum.Won, "yyn": quorum.Won, "yyo": quorum.Won, "yyu": quorum.Won, "nyy": quorum.Won,
		"ynn": quorum.Contended, "yoo": quorum.Contended, "yno": quorum.Contended, "nnn": quorum.Contended, "nnu": quorum.Contended, "oou": quorum.Contended,
		"ynu": quorum.Split, "you": quorum.Split, "yuu": quorum.Unavailable, "nuu": quorum.Unavailable, "uuu": quorum.Unavailable,
	} {
		inWorld(t, 3, func(w *world) {
			for i, m := range w.masters {
				switch masters[i] {
				case 'y':
					m.put("k", "t", time.Second)
				case 'o':
					m.put("k", "x", time.Minute)
				case 'u':
					m.set(func(m *fakeMaster) { m.delay = 300 * ms })
				}
			}
			r := w.extend("k", "t", 30*time.Second)
			if r.Decision != want {
				t.Errorf("with %s: %v, want %v", masters, r.Decision, want)
			}
			if want == quorum.Won {
				time.Sleep(2 * time.Second)
				if r := w.read("k"); r.Value != "t" || r.TTL < 26*time.Second || r.TTL > 28100*ms {
					t.Errorf("with %s: then read %+v", masters, r)
				}
			}
			for i, m := range w.masters {
				if v := m.value("k"); masters[i] == 'o' && v != "x" {
					t.Errorf("with %s: another's lock is now %q", masters, v)
				}
			}
		})
	}
}

func TestMastersThatLostTheKeyHaveItAgainBeforeTheYes(t *testing.T) {
	inWorld(t, 3, func(w *world) {
		w.masters[0].put("k", "t", time.Minute)
		w.masters[1].put("k", "t", time.Minute)
		w.masters[0].set(func(m *fakeMaster) { m.lag = 2 * ms }) // so that the third is heard before the yes
		after := newWaiter()
		asker := &chained{newWaiter(), func(quorum.Result) {
			w.engine.Put(&quorum.Request{Kind: quorum.Read, Key: "k"}, after)
		}}
		w.engine.Put(&quorum.Request{Kind: quorum.Extend, Key: "k", Token: "t", TTL: 10 * time.Second}, asker)
		w.want(<-asker.answers, quorum.Won)
		<-after.answers
		w.settle()
		log := w.masters[2].commands("")
		if len(log) != 3 || log[0] != "extend k t 10102" || log[1] != "SET k t NX PX 10100" || log[2] != "read k" {
			t.Errorf("the master that had lost the key was told %q", log)
		}
		if left := w.masters[2].left("k"); left > w.masters[0].left("k")+3*ms {
			t.Errorf("what was given again lives %v, longer than the lock", left)
		}
		if w.engine.Status().Heals != 1 {
			t.Error("not counted")
		}
		w.want(w.release("k", "t"), quorum.Won)
		w.settle()
		w.wantValues("k", "", "", "")
	})
}

// A master that says late that it has lost the key is given it, for as long as
// is left; one that holds another's lock keeps that.
func TestLateMasterIsGivenTheKeyForWhatIsLeft(t *testing.T) {
	inWorld(t, 3, func(w *world) {
		w.masters[0].put("k", "t", time.Minute)
		w.masters[1].put("k", "t", time.Minute)
		w.masters[2].set(func(m *fakeMaster) { m.delay = 100 * ms })
		w.want(w.extend("k", "t", 10*time.Second), quorum.Won)
		time.Sleep(time.Second)
		if got := w.masters[2].commands("SET"); len(got) != 1 || got[0] != "SET k t NX PX 10002" {
			t.Errorf("it was told %q", got)
		}
		w.masters[2].put("k", "x", time.Minute)
		w.want(w.extend("k", "t", 10*time.Second), quorum.Won)
		time.Sleep(time.Second)
		w.wantValues("k", "t", "t", "x")
	})
}

func TestMaxHoldEndsALockThatIsExtendedForEver(t *testing.T) {
	inWorld(t, 3, func(w *world) {
		w.want(w.acquire("k", "t", 4*time.Second), quorum.Won)
		for range 4 {
			time.Sleep(2 * time.Second)
			w.want(w.extend("k", "t", 2*time.Second), quorum.Won)
		}
		time.Sleep(time.Second)
		w.want(w.extend("k", "t", 2*time.Second), quorum.Contended) // 9 s + 2 s > 10 s
		w.want(w.extend("k", "t", 0), quorum.Contended)
		w.want(w.extend("k", "t", 500*ms), quorum.Won)
		if s := w.engine.Status(); s.MaxHoldEnds != 2 {
			t.Errorf("%d ends", s.MaxHoldEnds)
		}
		// Released and taken anew, it may be held as long again.
		w.want(w.release("k", "t"), quorum.Won)
		w.want(w.acquire("k", "t", 4*time.Second), quorum.Won)
		w.want(w.extend("k", "t", 9*time.Second), quorum.Won)
		w.want(w.extend("k", "t", 11*time.Second), quorum.Contended)
	}, func(c *Config) { c.MaxHold = 10 * time.Second })
}

func TestExtensionToAPastTimeReleases(t *testing.T) {
	inWorld(t, 3, func(w *world) {
		w.want(w.acquire("k", "t", time.Minute), quorum.Won)
		past := w.now().Add(-time.Second).UnixMilli()
		w.want(w.ask(quorum.Request{Kind: quorum.Extend, Key: "k", Token: "x", At: past}), quorum.Contended)
		w.want(w.ask(quorum.Request{Kind: quorum.Extend, Key: "k", Token: "t", At: past}), quorum.Won)
		w.wantValues("k", "", "", "")
	})
}

// A time at which a lock is to end is meant by the masters' clocks, whatever
// the proxy's says.
func TestTimesAreThoseOfTheMasters(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 3)
		for i, m := range w.masters {
			m.born = m.born.Add(time.Hour + time.Duration(i)*100*ms)
			m.rate = 1e-9 // almost: it stands, so that the test need not calculate
		}
		w.engine = w.start(w.cfg)
		there := w.masters[1].born
		if off := w.now().Sub(there).Abs(); off > 10*ms {
			t.Errorf("the engine's time is %v from that of the masters' middle", off)
		}
		w.want(w.ask(quorum.Request{Kind: quorum.Acquire, Key: "k", Token: "t", At: there.Add(10 * time.Second).UnixMilli()}), quorum.Won)
		for _, m := range w.masters {
			if got := m.commands("SET"); len(got) != 1 || !strings.HasPrefix(got[0], "SET k t NX GET PX 101") {
				t.Errorf("%s was told %q", m.name, got)
			}
		}
		r := w.ask(quorum.Request{Kind: quorum.Acquire, Key: "k2", Token: "t", At: there.Add(-time.Second).UnixMilli()})
		if r.Reply.Kind != quorum.FailureReply || r.Reply.Str != "ERR invalid expire time in 'set' command" {
			t.Errorf("an acquire until a second ago: %+v", r)
		}
	})
}

// A script is about two keys, and another's acquire of one of them, under the same token, is
// undecided: what that has set may be taken back.
func TestScriptWaitsForTheAcquireOfAnyOfItsKeys(t *testing.T) {
	for _, keys := range [][]string{{"k", "x"}, {"x", "k"}} {
		inWorld(t, 3, func(w *world) {
			w.each((*fakeMaster).freeze, 2, 3)
			acquired := w.put(quorum.Request{Kind: quorum.Acquire, Key: "k", Token: "1", TTL: time.Minute})
			synctest.Wait()
			script := runOf(renewHash, keys[0], "1", "60000")
			script.Keys = keys
			renewed := w.put(script)
			time.Sleep(10 * ms)
			if sent := w.masters[0].commands("renew hash"); len(sent) > 0 {
				t.Errorf("of keys %q, before the acquire of k is decided: %q", keys, sent)
			}
			w.each((*fakeMaster).unfreeze, 2, 3)
			w.want(acquired.wait(t), quorum.Won)
			renewed.wait(t)
		})
	}
}

// An expiry is moved by more than what is taken back is vague, or not at all.
func TestTTLReadsHigherByNoMoreThanAnExtensionIsMoved(t *testing.T) {
	for _, ttl := range []time.Duration{100 * ms, time.Second, time.Minute} {
		inWorld(t, 3, func(w *world) {
			w.want(w.acquire("k", "t", ttl), quorum.Won)
			for range 500 {
				w.want(w.extend("k", "t", ttl), quorum.Won)
				if r := w.read("k"); r.TTL > ttl+101*ms {
					t.Fatalf("set to %v: it reads %v, which is %v more", ttl, r.TTL, r.TTL-ttl)
				}
				time.Sleep(ms)
			}
		})
	}
}

// Nor is a lock kept for ever by what names no token, or sets the token there again.
func TestMaxHoldEndsALockThatIsKeptByOtherWrites(t *testing.T) {
	zero, null := quorum.Reply{Kind: quorum.IntegerReply}, quorum.Reply{Kind: quorum.NilReply}
	tooLong := quorum.Reply{Kind: quorum.FailureReply, Str: "ERR this would keep the lock for longer than max-hold (10s)"}
	for line, no := range map[string]quorum.Reply{
		"PEXPIRE k":         zero,
		"PEXPIRE k GT":      zero,
		"SET k t XX PX":     null,
		"SET k t PX":        tooLong,
		"SET k t XX GET PX": tooLong,
	} {
		t.Run(line, func(t *testing.T) {
			inWorld(t, 3, func(w *world) {
				keep := func(ttl time.Duration) quorum.Reply {
					r := quorum.Request{Kind: quorum.Write, Key: "k", Args: strings.Fields(line), TTL: ttl}
					if r.TTLArg = 2; r.Args[0] == "SET" {
						r.TTLArg = len(r.Args)
					}
					r.Args = slices.Insert(r.Args, r.TTLArg, "")
					got := w.ask(r)
					w.want(got, quorum.Won)
					return got.Reply
				}
				w.want(w.acquire("k", "t", 4*time.Second), quorum.Won)
				for range 3 {
					time.Sleep(2 * time.Second)
					if got := keep(4 * time.Second); got == no {
						t.Fatalf("it is answered %+v", got)
					}
				}
				time.Sleep(time.Second)
				if got := keep(4 * time.Second); got != no { // 7 s + 4 s > 10 s
					t.Errorf("it is answered %+v, want %+v", got, no)
				}
				if s := w.engine.Status(); s.MaxHoldEnds != 1 {
					t.Errorf("%d ends", s.MaxHoldEnds)
				}
				time.Sleep(3500 * ms)
				w.wantValues("k", "", "", "")
				// What is no lock of this proxy's may be kept for as long as anybody likes.
				w.sets("k", "other", time.Minute, 1, 2, 3)
				if got := keep(time.Minute); got == no {
					t.Errorf("it is answered %+v", got)
				}
			}, func(c *Config) { c.MaxHold = 10 * time.Second })
		})
	}
}

// What does not make its life longer keeps no lock, and what has taken its place is none.
func TestMaxHoldIsAboutWhatKeepsALock(t *testing.T) {
	inWorld(t, 3, func(w *world) {
		expire := func(ttl time.Duration, flags ...string) int64 {
			r := quorum.Request{Kind: quorum.Write, Key: "k", Args: append([]string{"PEXPIRE", "k", ""}, flags...), TTL: ttl, TTLArg: 2}
			return w.ask(r).Reply.Int
		}
		w.want(w.acquire("k", "t", 20*time.Second), quorum.Won)
		w.want(w.extend("k", "t", 30*time.Second), quorum.Contended)
		if expire(30*time.Second) != 0 || w.ask(quorum.Request{Kind: quorum.Write, Key: "k", Args: []string{"PERSIST", "k"}}).Reply.Int != 0 {
			t.Error("it is kept")
		}
		if expire(19*time.Second, "LT") != 1 || expire(18*time.Second) != 1 {
			t.Error("it does not end sooner")
		}
		w.want(w.extend("k", "t", 15*time.Second), quorum.Won)
		w.ask(quorum.Request{Kind: quorum.Write, Key: "k", Args: []string{"SET", "k", "other", "PX", ""}, TTL: 5 * time.Second, TTLArg: 4})
		if expire(time.Minute) != 1 {
			t.Error("what has overwritten it is taken for it")
		}
	}, func(c *Config) { c.MaxHold = 10 * time.Second })
}
