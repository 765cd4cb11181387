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

// What N-quorum+1 others hold nothing of, but an acquire may win by.
func TestWhatIsBeingAcquiredIsNoGhost(t *testing.T) {
	inWorld(t, 3, func(w *world) {
		w.betweenLooks(func(m *fakeMaster) {
			// P's acquire of k is granted by 1 before the first look, and by 2 when P gives up.
			m.keys["k"] = fakeKey{value: "a", until: m.now() + int64(time.Minute)}
		}, w.cfg.AcquireTimeout)
		w.wantValues("k", "a", "a", "")
	})
}

// A step that is lost has removed what it puts back when it is decided, and that is carried
// out: which takes as long again.
func TestWhatALostStepHasRemovedIsNoGhost(t *testing.T) {
	inWorld(t, 3, func(w *world) {
		w.sets("k", "a", time.Minute, 1, 2)
		w.betweenLooks(func(*fakeMaster) { w.masters[1].forget("k") }, 2*w.cfg.AcquireTimeout)
		w.wantValues("k", "a", "a", "")
	})
}

// betweenLooks has master 1 forget and be back, and begin called, under its lock, before the
// first look at what it holds. Some time later master 2 holds k.
func (w *world) betweenLooks(begin func(*fakeMaster), long time.Duration) {
	w.t.Helper()
	w.want(w.acquire("other", "x", time.Minute), quorum.Won)
	w.lose(1)
	w.votesWithin(1, 3*time.Second)
	looked := make(chan struct{})
	w.whenever(1, scans, func(m *fakeMaster, _ []string) {
		m.respond = nil
		begin(m)
		close(looked)
	})
	select {
	case <-looked:
	case <-time.After(time.Minute):
		w.t.Fatal("nobody looks at what the master holds")
	}
	time.Sleep(long)
	w.sets("k", "a", time.Minute, 2)
	w.laid()
}

// Its expiry tells a lock that was extended from the one that was seen.
func TestWhatIsExtendedBetweenTheLooksIsNoGhost(t *testing.T) {
	inWorld(t, 3, func(w *world) {
		w.want(w.acquire("other", "x", time.Minute), quorum.Won)
		w.lose(1)
		w.votesWithin(1, 3*time.Second)
		w.sets("k", "a", time.Minute, 1)
		w.at(1, catchup.LayScript, func(m *fakeMaster, args []string) {
			m.expire("k", m.keys["k"], "90000")
		})
		w.laid()
		w.wantValues("k", "a", "", "")
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

// How often a hash was entered is part of its value. Master 1 holds it with another count
// than 3, 2 has let go of it, and still 1 and 3 are a quorum that refuses everybody else.
func TestLockOfWhichMastersHoldAnotherCountIsNoGhost(t *testing.T) {
	inWorld(t, 3, func(w *world) {
		w.want(w.acquire("other", "x", time.Minute), quorum.Won)
		w.lose(1)
		w.votesWithin(1, 3*time.Second)
		hold := func(i int, value string) {
			w.masters[i-1].set(func(m *fakeMaster) {
				m.keys["k"] = fakeKey{value: value, until: m.now() + int64(time.Minute), hash: true}
			})
		}
		hold(1, "a=2")
		hold(3, "a=1")
		w.laid()
		w.wantValues("k", "a=2", "", "a=1")
		// Where a quorum holds it alike, what the third holds is nobody's.
		hold(2, "a=1")
		time.Sleep(4 * w.cfg.ProbeInterval)
		w.laid()
		w.wantValues("k", "", "a=1", "a=1")
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

// 1 and 2 hold a hash, which may be the same lock, entered more often by what 2 holds; 3 was
// away. What 2 holds may be too long to be read.
func TestWhatASourceCannotReadIsNotTakenForNothing(t *testing.T) {
	for name, n := range map[string]int{"short": 10, "too long": 17 << 20} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, 3, func(w *world) {
				w.masters[0].set(func(m *fakeMaster) {
					m.keys["k"] = fakeKey{value: "a", hash: true, until: m.now() + int64(time.Hour)}
				})
				w.masters[1].set(func(m *fakeMaster) {
					m.keys["k"] = fakeKey{value: strings.Repeat("b", n), hash: true, until: m.now() + int64(time.Hour)}
				})
				w.masters[0].forget("redlock-proxy:{marker}")
				w.noticed(1)
				w.votesWithin(1, 2*w.cfg.MaxTTL)
				w.laid()
				w.laid()
				if v := w.masters[0].value("k"); v == "" { // the short one is given 2's
					t.Error("it is deleted on 1 though 2 holds one")
				}
			})
		})
	}
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
