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

// A lock that was extended is on the masters for one per cent longer than max-hold thinks. Who
// extends it in that time is believed to have taken it just then, or, by EXPIRE, is not seen at
// all any more.
func TestMaxHoldSeesALockForAsLongAsTheMastersHoldIt(t *testing.T) {
	expire := func(w *world, ttl time.Duration) bool {
		r := w.ask(quorum.Request{Kind: quorum.Write, Key: "k", Args: []string{"PEXPIRE", "k", ""}, TTL: ttl, TTLArg: 2})
		return r.Reply.Int == 1
	}
	extend := func(w *world, ttl time.Duration) bool { return w.extend("k", "t", ttl).Decision == quorum.Won }
	for name, keep := range map[string]func(*world, time.Duration) bool{"EXPIRE": expire, "extension": extend} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, 3, func(w *world) {
				w.want(w.acquire("k", "t", 4*time.Second), quorum.Won)
				began := time.Now()
				time.Sleep(2 * time.Second)
				for keep(w, 4*time.Second) {
					if time.Since(began) > 10*time.Minute {
						t.Fatal("with max-hold 10s the lock is held for ten minutes")
					}
					time.Sleep(4*time.Second + 20*ms) // its client is a little late
				}
				t.Log("it was held for", time.Since(began))
			}, func(c *Config) { c.MaxHold = 10 * time.Second })
		})
	}
}

// SETNX k t, and EXPIRE k 4 again and again: max-hold does not see it.
func TestMaxHoldSeesALockThatHadNoTTL(t *testing.T) {
	inWorld(t, 3, func(w *world) {
		w.want(w.acquire("k", "t", 0), quorum.Won)
		began := time.Now()
		for w.ask(quorum.Request{Kind: quorum.Write, Key: "k", Args: []string{"PEXPIRE", "k", ""}, TTL: 4 * time.Second, TTLArg: 2}).Reply.Int == 1 {
			if time.Since(began) > 10*time.Minute {
				t.Fatal("with max-hold 10s the lock is held for ten minutes")
			}
			time.Sleep(2 * time.Second)
		}
	}, func(c *Config) { c.MaxHold = 10 * time.Second })
}

// B's lock has ended, and its watchdog goes on; A holds the lock now. Each of B's extensions is
// refused by the masters, and has max-hold forget A.
func TestMaxHoldForgetsNoLockThatAnotherOneAsksToExtend(t *testing.T) {
	inWorld(t, 3, func(w *world) {
		w.want(w.acquire("k", "a", 4*time.Second), quorum.Won)
		began := time.Now()
		for w.extend("k", "a", 4*time.Second).Decision == quorum.Won {
			if time.Since(began) > 10*time.Minute {
				t.Fatal("with max-hold 10s the lock is held for ten minutes")
			}
			time.Sleep(time.Second)
			w.want(w.extend("k", "b", 4*time.Second), quorum.Contended)
			time.Sleep(time.Second)
		}
	}, func(c *Config) { c.MaxHold = 10 * time.Second })
}
