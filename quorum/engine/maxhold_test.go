package engine

import (
	"testing"
	"time"

	"redlock-proxy/quorum"
)

func ended(w *world, args ...string) {
	w.want(w.acquire("k", "a", time.Minute), quorum.Won)
	r := w.ask(quorum.Request{Kind: quorum.Write, Key: "k", Args: args})
	if r.Decision != quorum.Won || r.Reply.Int != 1 {
		w.t.Errorf("%q is answered %v %+v", args, r.Decision, r.Reply)
	}
	w.wantValues("k", "", "", "")
}

// What ends a lock at once keeps it not: EXPIRE k 0 XX, and EXPIRE k -1 XX, as
// commands/expiry.go puts them (endNow).
func TestMaxHoldLetsALockBeEnded(t *testing.T) {
	for name, most := range map[string]time.Duration{"without max-hold": 0, "with it": time.Hour} {
		for what, args := range map[string][]string{"0": {"PEXPIRE", "k", "0", "XX"}, "-1": {"PEXPIRE", "k", "-1000", "XX"}} {
			t.Run(name+" "+what, func(t *testing.T) {
				inWorld(t, 3, func(w *world) { ended(w, args...) }, func(c *Config) { c.MaxHold = most })
			})
		}
	}
}

// heldWithTen keeps a lock for as long as max-hold, ten seconds, lets it be kept, and tells how
// long that was: for less than a step more than that.
func heldWithTen(t *testing.T, ttl, step time.Duration, keep func(*world) bool) {
	inWorld(t, 3, func(w *world) {
		w.want(w.acquire("k", "t", ttl), quorum.Won)
		began := time.Now()
		for keep(w) {
			if time.Since(began) > 10*time.Minute {
				t.Fatal("with max-hold 10s the lock is held for ten minutes")
			}
			time.Sleep(step)
		}
		if d := time.Since(began); d <= 10*time.Second-2*step || d > 10*time.Second+step {
			t.Errorf("with max-hold 10s the lock was extended for %v", d)
		}
	}, func(c *Config) { c.MaxHold = 10 * time.Second })
}

// expires is EXPIRE k 4 by a client.
func expires(w *world) bool {
	r := w.ask(quorum.Request{Kind: quorum.Write, Key: "k", Args: []string{"PEXPIRE", "k", ""}, TTL: 4 * time.Second, TTLArg: 2})
	return r.Reply.Int == 1
}

// extends is the extension of a client that holds k.
func extends(w *world) bool { return w.extend("k", "t", 4*time.Second).Decision == quorum.Won }

// The masters hold a lock for one per cent longer than its client does. Who extends it in that
// time has not taken it just then.
func TestMaxHoldSeesALockForAsLongAsTheMastersHoldIt(t *testing.T) {
	for name, keep := range map[string]func(*world) bool{"EXPIRE": expires, "extension": extends} {
		t.Run(name, func(t *testing.T) { heldWithTen(t, 4*time.Second, 4*time.Second+20*ms, keep) })
	}
}

// SETNX k t, and EXPIRE k 4 again and again.
func TestMaxHoldSeesALockThatHadNoTTL(t *testing.T) {
	heldWithTen(t, 0, 2*time.Second, expires)
}

// The lock of another has ended, and its watchdog goes on: its extensions are refused.
func TestMaxHoldForgetsNoLockThatAnotherOneAsksToExtend(t *testing.T) {
	heldWithTen(t, 4*time.Second, 2*time.Second, func(w *world) bool {
		w.want(w.extend("k", "b", 4*time.Second), quorum.Contended)
		return extends(w)
	})
}

// Each second extension is answered too late, and is carried out.
func TestMaxHoldSeesAnExtensionThatIsAnsweredTooLate(t *testing.T) {
	for name, r := range map[string]quorum.Request{
		"EXPIRE":    {Kind: quorum.Write, Key: "k", Args: []string{"PEXPIRE", "k", ""}, TTL: 4 * time.Second, TTLArg: 2},
		"extension": {Kind: quorum.Extend, Key: "k", Token: "t", TTL: 4 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			late := false
			heldWithTen(t, 4*time.Second, 2500*ms, func(w *world) bool {
				if late = !late; late {
					w.delayed(300*ms, 1, 2, 3)
					defer w.delayed(0, 1, 2, 3)
				}
				told := w.ask(r)
				return told.Decision == quorum.Unavailable || told.Decision == quorum.Won && (r.Kind == quorum.Extend || told.Reply.Int == 1)
			})
		})
	}
}

// What a script, or a step, as MSET is one, has put in the place of a lock is not that lock.
func TestMaxHoldForgetsALockThatAScriptReplaces(t *testing.T) {
	for name, script := range map[string]*quorum.Script{"script": seizeScript, "step": seizeStep} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, 3, func(w *world) {
				w.want(w.acquire("k", "t", 9*time.Second), quorum.Won)
				time.Sleep(7 * time.Second)
				w.want(w.ask(runOf(script, "k", "b", "9000")), quorum.Won)
				if !expires(w) {
					t.Error("what is there for no time yet is not kept for four seconds")
				}
			}, func(c *Config) { c.MaxHold = 10 * time.Second })
		})
	}
}

// The lock has run out, and its watchdog goes on and is told no.
func TestMaxHoldForgetsALockThatHasRunOut(t *testing.T) {
	inWorld(t, 3, func(w *world) {
		w.want(w.acquire("k", "t", 10*time.Second), quorum.Won)
		time.Sleep(10150 * ms)
		for range 5 {
			w.want(w.extend("k", "t", 9*time.Second), quorum.Contended)
			time.Sleep(8 * time.Second)
		}
		r := w.ask(quorum.Request{Kind: quorum.Write, Key: "k", Args: []string{"SET", "k", "t", "PX", ""}, TTLArg: 4, TTL: 11 * time.Second})
		if w.want(r, quorum.Won); r.Reply.Kind == quorum.FailureReply {
			t.Error(r.Reply.Str)
		}
	}, func(cfg *Config) { cfg.MaxHold = time.Minute })
}

// A holder takes its lock once more by a script now and then, and master 3 lacks it.
func TestMaxHoldIsNotForgottenForOneMastersSake(t *testing.T) {
	heldWithTen(t, 4*time.Second, 2*time.Second, func(w *world) bool {
		w.masters[2].forget("k")
		w.late(func() { w.want(w.ask(runOf(lockScript, "k", "t", "4000")), quorum.Won) }, 1)
		return extends(w)
	})
}
