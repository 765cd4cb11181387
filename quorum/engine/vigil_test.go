package engine

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"redlock-proxy/quorum"
	"redlock-proxy/quorum/catchup"
	"redlock-proxy/quorum/master"
)

// onceRun tells of each time a master has run a script.
func (w *world) onceRun(number int, s *master.Script) <-chan time.Time {
	ran := make(chan time.Time, 100)
	w.masters[number-1].set(func(m *fakeMaster) {
		m.after = func(args []string, _ *fakeMaster) {
			if runs(args, s) && slices.Contains(args, "k") {
				ran <- time.Now()
			}
		}
	})
	return ran
}

// next is when it is told so, or the test fails.
func (w *world) next(ran <-chan time.Time) (at time.Time) {
	w.t.Helper()
	select {
	case at = <-ran:
	case <-time.After(time.Hour):
		w.t.Fatal("nobody looks at what the master holds")
	}
	return at
}

// Everybody locks k by SETNX k 1, and frees it by DEL k.
var (
	lockByConstant = quorum.Request{Kind: quorum.Acquire, Key: "k", Token: "1"}
	freeByDel      = quorum.Request{Kind: quorum.Remove, Key: "k"}
)

// What 1 holds of an old lock is freed by a client between the two looks, and k is taken anew
// when the others were looked at for the second time.
func TestLockThatIsTakenAnewAsItsMasterIsLookedAtStays(t *testing.T) {
	for name, begin := range map[string]func(w *world){
		"it has forgotten": func(w *world) {
			w.want(w.acquire("other", "x", time.Minute), quorum.Won)
			w.lose(1)
			w.votesWithin(1, 3*time.Second)
		},
		"it is looked at for what never ends": func(*world) {},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, 3, func(w *world) {
				begin(w)
				w.sets("k", "1", 0, 1)
				// The lanes are near, and whoever looks is told by 3 what it holds somewhat later.
				w.masters[2].set(func(m *fakeMaster) { m.far = 10 * ms })
				ran := w.onceRun(3, catchup.HeldScript)
				first := w.next(ran)
				time.Sleep(w.cfg.Apart() / 2)
				w.release("k", "1")
				w.wantValues("k", "", "", "")
				for at := first; at.Sub(first) < w.cfg.Apart()/2; {
					at = w.next(ran)
				}
				w.want(w.ask(lockByConstant), quorum.Won)
				w.settle()
				w.laid()
				w.wantValues("k", "1", "1", "1")
			})
		})
	}
}

// All masters are looked at at once, of which the third is 10 ms away. What they hold of one lock
// is freed behind the first look, and the next lock is won behind the second.
func TestLockThatIsTakenAnewAsAllMastersAreLookedAtStaysOnAQuorum(t *testing.T) {
	inWorld(t, 3, func(w *world) {
		for i, far := range []time.Duration{ms, ms, 10 * ms} {
			w.masters[i].set(func(m *fakeMaster) { m.far = far })
		}
		w.each((*fakeMaster).cut, 1, 2, 3) // so that the links are as far
		w.each((*fakeMaster).rejoin, 1, 2, 3)
		time.Sleep(5 * time.Second)
		w.want(w.ask(lockByConstant), quorum.Won)
		w.next(w.onceRun(1, catchup.LookScript))
		w.want(w.ask(freeByDel), quorum.Won)
		time.Sleep(200 * ms)
		ran := w.onceRun(2, catchup.HeldScript)
		select {
		case <-ran:
		case <-time.After(2 * w.cfg.Apart()): // it was seen at once that k was freed
		}
		time.Sleep(2 * ms)
		w.want(w.ask(lockByConstant), quorum.Won)
		time.Sleep(200 * ms)
		w.want(w.acquire("k", "b", time.Minute), quorum.Contended)
		w.wantValues("k", "1", "1", "1")
	})
}

// Of a vigil that was in vain each half is kept another.
func TestGhostsBesideAKeyThatIsWrittenToGo(t *testing.T) {
	inWorld(t, 3, func(w *world) {
		w.want(w.acquire("other", "x", time.Minute), quorum.Won)
		w.lose(1)
		w.votesWithin(1, 3*time.Second)
		var ghosts []string
		for i := range 1000 {
			ghosts = append(ghosts, fmt.Sprint("ghost", i))
			w.sets(ghosts[i], "g", 0, 1)
		}
		w.sets("k", "1", 0, 1)
		writes := func(d time.Duration) {
			for began := time.Now(); time.Since(began) < d; time.Sleep(100 * ms) {
				w.masters[0].forget("k")
				w.sets("k", "1", 0, 1)
			}
		}
		writes(2*w.cfg.ProbeInterval + w.cfg.Hush() + 12*w.cfg.Apart())
		for _, key := range ghosts {
			if v := w.masters[0].value(key); v != "" {
				t.Fatalf("%s is there still", key)
			}
		}
		w.wantValues("k", "1", "", "")
		time.Sleep(time.Minute)
		w.wantValues("k", "", "", "")
	})
}

// What was watched beside it and is a lock by now makes a vigil vain, and is dropped from the next.
func TestGhostBesideAKeyThatBecomesALockGoes(t *testing.T) {
	inWorld(t, 3, func(w *world) {
		w.want(w.acquire("other", "x", time.Minute), quorum.Won)
		w.lose(1)
		w.votesWithin(1, 3*time.Second)
		w.sets("k", "1", 0, 1)
		w.sets("l", "1", 0, 1)
		w.next(w.onceRun(1, catchup.LookScript))
		time.Sleep(w.cfg.Apart() / 2) // and what is seen now is watched
		w.masters[0].forget("l")
		w.want(w.acquire("l", "1", time.Minute), quorum.Won)
		w.wantValues("l", "1", "1", "1")
		time.Sleep(w.cfg.Apart() * 7 / 4) // the rest of this vigil, and one more
		w.wantValues("k", "", "", "")
		w.wantValues("l", "1", "1", "1")
	})
}

func TestGhostsStayWhereTheirMasterDoesNotLetThemBeWatched(t *testing.T) {
	for _, word := range []string{"WATCH", "MULTI", "EXEC"} {
		inWorld(t, 3, func(w *world) {
			w.want(w.acquire("other", "x", time.Minute), quorum.Won)
			w.lose(1)
			w.votesWithin(1, 3*time.Second)
			w.sets("k", "1", 0, 1)
			w.masters[0].set(func(m *fakeMaster) {
				m.respond = func(args []string) string {
					if args[0] == word {
						return "-NOPERM this user has no permissions to run the '" + word + "' command\r\n"
					}
					return ""
				}
			})
			w.laid()
			w.wantValues("k", "1", "", "")
			w.want(w.acquire("locked", "t", time.Minute), quorum.Won)
			w.wantValues("locked", "t", "t", "t")
			w.masters[0].set(func(m *fakeMaster) { m.respond = nil })
			time.Sleep(4 * w.cfg.ProbeInterval)
			w.laid()
			w.wantValues("k", "", "", "")
		})
	}
}

// What is done to a key that is watched, and whether it is one of a transaction's.
func TestWatchVoidsOnAMasterWhatItVoidsOnItsDouble(t *testing.T) {
	sides := bothSides(t)
	written := map[string][][]string{
		"nothing":               nil,
		"read":                  {{"GET", "k"}, {"EXISTS", "k"}},
		"refused":               {{"SET", "k", "2", "NX"}},
		"another key":           {{"SET", "l", "1"}},
		"the same":              {{"SET", "k", "1"}},
		"written and put back":  {{"SET", "k", "2"}, {"SET", "k", "1"}},
		"freed":                 {{"SET", "k", "1", "PX", "1"}},
		"an expiry":             {{"PEXPIRE", "k", "100000"}},
		"an expiry and none":    {{"PEXPIRE", "k", "100000"}, {"PERSIST", "k"}},
		"no expiry taken away":  {{"PERSIST", "k"}},
		"emptied":               {{"FLUSHALL"}, {"SET", "k", "1"}},
		"in another database":   {{"SELECT", "1"}, {"SET", "k", "2"}, {"SELECT", "0"}},
		"databases are swapped": {{"SWAPDB", "0", "1"}},
	}
	for name, commands := range written {
		var told [2]string
		for i, side := range sides {
			side.has(held{"k": {"1", 0}})
			do := func(args ...string) any { return side.(realSide).do(args...) }
			if d, ok := side.(doubleSide); ok {
				do = func(args ...string) any {
					d.m.locked(func() { d.m.conns[1] = &socket{} })
					reply, _ := d.m.carryOut(args, 1, false)
					return decoded(&reply)
				}
			}
			do("WATCH", "k", "m")
			for _, c := range commands {
				do(c...)
			}
			time.Sleep(2 * ms)
			do("MULTI")
			do("SET", "m", "2")
			told[i] = fmt.Sprint(do("EXEC") == nil, do("GET", "m"))
		}
		if told[0] != told[1] {
			t.Errorf("%s: a master's is void %s, its double's %s", name, told[0], told[1])
		}
	}
}
