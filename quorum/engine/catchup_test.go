package engine

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"redlock-proxy/quorum"
	"redlock-proxy/quorum/catchup"
	"redlock-proxy/quorum/marker"
	"redlock-proxy/quorum/master"
)

// These tests lose a master and let the engine bring it back: max-ttl is 5 minutes,
// so that a master which votes again within seconds has caught up.

// lose has a master come back blank, and waits until the engine has found out.
func (w *world) lose(number int) {
	w.t.Helper()
	w.masters[number-1].restartBlank()
	w.noticed(number)
}

// noticed waits until the engine keeps a master out.
func (w *world) noticed(number int) {
	w.t.Helper()
	for range 200 {
		if s := w.state(number).State; s == quorum.Quarantined || s == quorum.CatchingUp {
			return
		}
		time.Sleep(w.cfg.ProbeInterval / 100)
	}
	w.t.Fatalf("nobody noticed that master %d forgot", number)
}

// votesWithin waits until the master votes.
func (w *world) votesWithin(number int, most time.Duration) {
	w.t.Helper()
	for began := time.Now(); w.state(number).State != quorum.Voting; time.Sleep(10 * time.Millisecond) {
		if time.Since(began) > most {
			s := w.state(number)
			w.t.Fatalf("master %d is %v after %v: %s", number, s.State, most, s.Reason)
		}
	}
}

// votesNotWithin fails the test if the master votes before then.
func (w *world) votesNotWithin(number int, d time.Duration) {
	w.t.Helper()
	for began := time.Now(); time.Since(began) < d; time.Sleep(10 * time.Millisecond) {
		if s := w.state(number).State; s == quorum.Voting {
			w.t.Fatalf("master %d is %v after %v", number, s, time.Since(began))
		}
	}
}

// sets gives masters a key behind the engine's back.
func (w *world) sets(key, value string, ttl time.Duration, numbers ...int) {
	w.each(func(m *fakeMaster) { m.put(key, value, ttl) }, numbers...)
}

// at has f called, under the master's lock, each time a script is about to be run.
func (w *world) at(number int, s *master.Script, f func(m *fakeMaster, args []string)) {
	w.whenever(number, func(args []string) bool { return runs(args, s) }, f)
}

func (w *world) whenever(number int, asked func(args []string) bool, f func(m *fakeMaster, args []string)) {
	w.masters[number-1].set(func(m *fakeMaster) {
		m.respond = func(args []string) string {
			if asked(args) {
				f(m, args)
			}
			return ""
		}
	})
}

// scans tells that a page of keys is asked for.
func scans(args []string) bool { return args[0] == "SCAN" }

// fill gives all masters keys for several pages.
func (w *world) fill(n int) {
	for i := range n {
		w.sets(fmt.Sprint("fill", i), fmt.Sprint(i), time.Hour, 1, 2, 3)
	}
}

func TestCaughtUpMasterHoldsWhatItVotedFor(t *testing.T) {
	inWorld(t, 3, func(w *world) {
		w.down(3)
		w.want(w.acquire("k", "a", time.Minute), quorum.Won) // on 1 and 2
		w.up(3)
		w.fill(3 * catchup.PageKeys)
		long := strings.Repeat("x", 1000)
		w.sets("long", long, time.Minute, 1, 2)
		w.each(func(m *fakeMaster) {
			m.set(func(m *fakeMaster) { m.keys["h"] = fakeKey{value: "field:1", hash: true} })
		}, 1, 3)
		w.lose(1)
		w.votesWithin(1, 3*time.Second)

		w.wantValues("k", "a", "a", "")
		w.wantValues("long", long, long, "")
		w.wantValues("h", "field:1", "", "field:1")
		for i := range 3 * catchup.PageKeys {
			if v := w.masters[0].value(fmt.Sprint("fill", i)); v != fmt.Sprint(i) {
				t.Fatalf("key %d is %q", i, v)
			}
		}
		if first, second := w.masters[0].left("k"), w.masters[1].left("k"); first < second-ms || first > second+time.Second {
			t.Errorf("%v are left of the copy, and %v of the lock", first, second)
		}
		if left := w.masters[0].left("h"); left != -1 {
			t.Errorf("%v are left of what has no end", left)
		}
		w.down(2) // only the copy is left of the lock
		if r := w.acquire("k", "b", time.Minute); r.Decision != quorum.Split && r.Decision != quorum.Contended {
			t.Errorf("a second holder: %v", r.Decision)
		}
	})
}

func TestCatchUpTellsHowFarItIs(t *testing.T) {
	inWorld(t, 3, func(w *world) {
		w.fill(3 * catchup.PageKeys)
		var seen []string
		w.lose(1)
		q := w.engine.zero.lanes[0].ward
		w.at(1, catchup.CopyScript, func(m *fakeMaster, args []string) {
			seen = append(seen, fmt.Sprint(q.progress.Sources.Load(), " ", q.progress.Copied.Load(), " of ", q.progress.Needed.Load()))
		})
		w.votesWithin(1, 3*time.Second)
		// One page after the other; what the second source names was given already.
		want := fmt.Sprint([]string{"0 0 of 2", "0 400 of 2", "0 800 of 2"})
		if got := fmt.Sprint(seen[:3]); got != want || q.progress.Copied.Load() != 3*catchup.PageKeys || q.progress.Sources.Load() != 2 {
			t.Errorf("%v, then %d keys and %d sources", seen, q.progress.Copied.Load(), q.progress.Sources.Load())
		}
	})
}

func TestLongestTTLIsCopied(t *testing.T) {
	inWorld(t, 3, func(w *world) {
		w.sets("extended", "a", time.Minute, 2)
		w.sets("extended", "a", time.Hour, 3)
		w.sets("eternal", "a", 0, 2)
		w.sets("eternal", "a", time.Hour, 3)
		w.lose(1)
		w.votesWithin(1, 3*time.Second)
		if left := w.masters[0].left("extended"); left < 59*time.Minute {
			t.Errorf("%v are left", left)
		}
		if left := w.masters[0].left("eternal"); left != -1 {
			t.Errorf("%v are left of what has no end", left)
		}
	})
}

// What a master that lost keys still holds, or holds again of long ago, is no vote.
func TestLeftoverIsOverwritten(t *testing.T) {
	inWorld(t, 3, func(w *world) {
		w.sets("other", "a", time.Minute, 2, 3)
		w.sets("brief", "a", time.Minute, 2, 3)
		w.sets("long", "a", time.Minute, 2, 3)
		w.masters[0].forget(quorum.MarkerKey)
		w.sets("other", "old", time.Hour, 1)
		w.sets("brief", "a", time.Second, 1)
		w.sets("long", "a", time.Hour, 1)
		w.sets("mine", "a", time.Hour, 1)
		w.noticed(1)
		w.votesWithin(1, 3*time.Second)
		w.wantValues("other", "a", "a", "a")
		for key, least := range map[string]time.Duration{"other": 50 * time.Second, "brief": 50 * time.Second, "long": 59 * time.Minute, "mine": 59 * time.Minute} {
			if left := w.masters[0].left(key); left < least {
				t.Errorf("%v are left of %s", left, key)
			}
		}
		if left := w.masters[0].left("other"); left > time.Minute {
			t.Errorf("%v are left of what was overwritten", left)
		}
	})
}

func TestOwnKeysAreNotCopied(t *testing.T) {
	inWorld(t, 3, func(w *world) {
		w.sets(quorum.PrivateKeys+"something}", "a", 0, 2, 3)
		w.lose(1)
		w.votesWithin(1, 3*time.Second)
		w.wantValues(quorum.PrivateKeys+"something}", "", "a", "a")
		if n := marker.NonceOf(w.masters[0].value(quorum.MarkerKey)); n.Provisional() || n == marker.NonceOf(w.masters[1].value(quorum.MarkerKey)) {
			t.Errorf("its marker begins with %s", n)
		}
	})
}
