package engine

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"redlock-proxy/quorum"
	"redlock-proxy/quorum/catchup"
	"redlock-proxy/quorum/marker"
)

// Copies that a catch-up has given of what had ended by then, and whatever else a master
// comes back with that nobody holds.

// copiedLate has master 1 be given its next copies when the returned function says so.
func (w *world) copiedLate() (serve func()) {
	w.masters[0].set(func(m *fakeMaster) {
		m.respond = func(args []string) string {
			if !runs(args, catchup.CopyScript) {
				return ""
			}
			m.respond = nil
			serve = m.holdBackLocked()
			return later
		}
	})
	for held := false; !held; time.Sleep(ms) {
		w.masters[0].set(func(m *fakeMaster) {
			if held = serve != nil; held {
				m.behind = nil // the lane is another connection
			}
		})
	}
	return serve
}

// laid waits until masters that are back are freed of ghosts.
func (w *world) laid() { time.Sleep(2*w.cfg.ProbeInterval + w.cfg.Hush() + w.cfg.Apart()) }

// Whatever it was that a lock has ended by, while master 1 was about to be given it.
func TestCopyOfWhatHasEndedGoes(t *testing.T) {
	ends := map[string]func(w *world, held quorum.Result){
		"taken back, as its OK did not reach its client": func(w *world, held quorum.Result) {
			w.engine.TakeBack(held.Lock)
		},
		"an expiry that has passed": func(w *world, _ quorum.Result) {
			at := w.now().Add(-time.Second).UnixMilli()
			w.want(w.ask(quorum.Request{Kind: quorum.Write, Key: "k", Args: []string{"PEXPIRE", "k", ""}, TTLArg: 2, At: at}), quorum.Won)
		},
		"another proxy's release": func(w *world, _ quorum.Result) {
			w.each(func(m *fakeMaster) { m.forget("k") }, 2, 3)
		},
		"FLUSHALL": func(w *world, _ quorum.Result) {
			w.want(w.ask(quorum.Request{Kind: quorum.Survey, Args: []string{"FLUSHALL"}}), quorum.Won)
		},
	}
	for name, end := range ends {
		t.Run(name, func(t *testing.T) {
			inWorld(t, 3, func(w *world) {
				held := w.acquire("k", "a", time.Minute)
				w.want(held, quorum.Won)
				w.lose(1)
				serve := w.copiedLate()
				end(w, held)
				w.settle()
				w.want(w.acquire("k", "b", time.Minute), quorum.Won) // on 2 and 3
				serve()
				w.votesWithin(1, 3*time.Second)
				w.laid()
				if v := w.masters[0].value("k"); v == "a" {
					t.Error("the copy is still there")
				}
				w.want(w.release("k", "b"), quorum.Won)
				w.down(2)
				w.want(w.acquire("k", "c", time.Minute), quorum.Won)
			})
		})
	}
}

// What a lost acquire had been granted by a source is undone there; of the copy nobody
// knows but the master that has it.
func TestCopyOfALostAcquireGoes(t *testing.T) {
	inWorld(t, 3, func(w *world) {
		w.want(w.acquire("other", "x", time.Minute), quorum.Won)
		w.lose(1)
		w.whenever(2, scans, func(m *fakeMaster, args []string) {
			m.keys["k"] = fakeKey{value: "a", until: m.now() + int64(time.Minute)}
			m.respond = nil
		})
		serve := w.copiedLate()
		w.masters[1].forget("k")
		w.want(w.acquire("k", "b", time.Minute), quorum.Won) // on 2 and 3
		serve()
		w.votesWithin(1, 3*time.Second)
		w.laid()
		w.wantValues("other", "x", "x", "x")
		w.wantValues("k", "", "b", "b")
	})
}

// An old dump brings back what was released long ago.
func TestWhatAnOldDumpHeldGoes(t *testing.T) {
	inWorld(t, 3, func(w *world) {
		w.want(w.acquire("k", "a", 0), quorum.Won)
		w.want(w.acquire("held", "x", time.Minute), quorum.Won)
		old := w.masters[0].copy()
		w.want(w.release("k", "a"), quorum.Won)
		w.masters[0].restartWith(old)
		w.noticed(1)
		w.votesWithin(1, 3*time.Second)
		w.wantValues("k", "a", "", "")
		w.laid()
		w.wantValues("k", "", "", "")
		w.wantValues("held", "x", "x", "x")
	})
}

// A master that is away may hold what the others do not.
func TestGhostsAreLaidBesideEnoughOthers(t *testing.T) {
	inWorld(t, 3, func(w *world) {
		w.down(3)
		w.want(w.acquire("k", "a", time.Minute), quorum.Won) // on 1 and 2
		w.up(3)
		w.want(w.acquire("other", "x", time.Minute), quorum.Won)
		w.lose(1)
		w.votesWithin(1, 3*time.Second)
		w.down(2)
		w.laid()
		w.wantValues("k", "a", "a", "")
		w.sets("ghost", "g", time.Minute, 1)
		w.up(2)
		w.laid()
		w.wantValues("k", "a", "a", "")
		w.wantValues("ghost", "", "", "")
	})
}

// Whoever has let a master vote again may end before it has freed it of ghosts. Another
// proxy does, which knows of the quarantine no more than the marker tells.
func TestGhostsAreLaidThoughWhoHasAdmittedTheirMasterEnds(t *testing.T) {
	for _, later := range []bool{false, true} {
		inWorld(t, 3, func(w *world) {
			w.want(w.acquire("k", "a", 0), quorum.Won)
			w.want(w.acquire("held", "x", time.Minute), quorum.Won)
			old := w.masters[0].copy()
			w.want(w.release("k", "a"), quorum.Won)
			w.masters[0].restartWith(old)
			w.noticed(1)
			first := w.engine
			if !later {
				w.engine = w.start(w.cfg)
			}
			w.votesWithin(1, 3*time.Second)
			w.stop(first)
			if later {
				w.engine = w.start(w.cfg)
			}
			w.wantValues("k", "a", "", "")
			time.Sleep(4*w.cfg.ProbeInterval + w.cfg.Apart())
			w.laid()
			w.wantValues("k", "", "", "")
			w.wantValues("held", "x", "x", "x")
			m, _ := marker.Parse(w.masters[0].value(quorum.MarkerKey))
			if m.Ghosts {
				t.Error("the marker says still that there may be ghosts")
			}
		})
	}
}

// Tokens of two that nobody holds do not keep each other.
func TestGhostBesideAnothersGoes(t *testing.T) {
	inWorld(t, 3, func(w *world) {
		w.want(w.acquire("other", "x", time.Minute), quorum.Won)
		w.lose(1)
		w.votesWithin(1, 3*time.Second)
		w.masters[0].put("k", "a", 0)
		w.masters[1].put("k", "b", time.Minute)
		w.laid()
		w.wantValues("k", "", "b", "")
	})
}

// What has no ttl never ends by itself.
func TestGhostsAreLaidHoweverLongTheOthersWereAway(t *testing.T) {
	inSmallWorld(t, 3, func(w *world) {
		w.want(w.acquire("k", "a", 0), quorum.Won)
		old := w.masters[0].copy()
		w.want(w.release("k", "a"), quorum.Won)
		w.masters[0].restartWith(old)
		w.noticed(1)
		w.votesWithin(1, 3*time.Second)
		w.down(3)
		time.Sleep(w.cfg.MaxTTL + 10*time.Second)
		w.up(3)
		w.laid()
		w.wantValues("k", "", "", "")
		w.down(2)
		w.want(w.acquire("k", "b", time.Second), quorum.Won)
	})
}

// Ghosts of which a script looks at one alone are watched one by one, and not all of them each
// time that one goes.
func TestEachGhostIsReadAFewTimesHoweverLongItIs(t *testing.T) {
	inWorld(t, 3, func(w *world) {
		const ghosts, size = 12, 3 << 20
		w.want(w.acquire("other", "x", time.Minute), quorum.Won)
		w.lose(1)
		w.votesWithin(1, 3*time.Second)
		for i := range ghosts {
			w.masters[0].put(fmt.Sprint("ghost", i), strings.Repeat("g", size), time.Hour)
		}
		looks := 0
		w.masters[0].set(func(m *fakeMaster) {
			m.after = func(args []string, _ *fakeMaster) {
				if runs(args, catchup.LookScript) {
					looks++
				}
			}
		})
		time.Sleep(time.Minute)
		w.masters[0].set(func(m *fakeMaster) { m.after = nil })
		for i := range ghosts {
			if w.masters[0].value(fmt.Sprint("ghost", i)) != "" {
				t.Fatalf("ghost %d is there still", i)
			}
		}
		if looks > 4*ghosts {
			t.Errorf("%d scripts have looked at %d ghosts", looks, ghosts)
		}
	})
}
