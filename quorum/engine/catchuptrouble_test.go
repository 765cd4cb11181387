package engine

import (
	"fmt"
	"testing"
	"time"

	"redlock-proxy/quorum"
	"redlock-proxy/quorum/catchup"
	"redlock-proxy/quorum/marker"
)

// What happens to masters and proxies while a master catches up.

func TestMasterThatForgetsAgainOnTheWayBeginsAnew(t *testing.T) {
	inWorld(t, 3, func(w *world) {
		w.fill(3 * catchup.PageKeys)
		w.lose(1)
		copies := 0
		w.at(1, catchup.CopyScript, func(m *fakeMaster, args []string) {
			if copies++; copies == 2 {
				clear(m.keys)
			}
		})
		w.votesWithin(1, 5*time.Second)
		for i := range 3 * catchup.PageKeys {
			if v := w.masters[0].value(fmt.Sprint("fill", i)); v != fmt.Sprint(i) {
				t.Fatalf("key %d is %q", i, v)
			}
		}
	})
}

func TestNothingIsWrittenUnderAnotherNonce(t *testing.T) {
	inWorld(t, 3, func(w *world) {
		w.sets("k", "a", time.Minute, 2, 3)
		w.lose(1)
		var after []string
		w.at(1, catchup.CopyScript, func(m *fakeMaster, args []string) {
			m.keys = map[string]fakeKey{quorum.MarkerKey: {value: string(marker.NewNonce(false)) + m.marker()[marker.NonceLength:]}}
			m.respond = nil
			m.after = func(args []string, m *fakeMaster) {
				for name := range m.keys {
					if !quorum.Private(name) {
						after = append(after, name)
					}
				}
				m.after = nil
			}
		})
		time.Sleep(time.Second)
		if after != nil {
			t.Errorf("%q were copied", after)
		}
	})
}

// What can be reached is copied before the quarantine's end: the timer protects
// only what is over by then.
func TestLocksThatOutliveTheQuarantineAreCopiedFromWhoCanBeReached(t *testing.T) {
	inWorld(t, 3, func(w *world) {
		w.sets("eternal", "a", 0, 2)
		w.down(3)
		w.lose(1)
		w.votesNotWithin(1, w.cfg.MaxTTL-time.Second)
		w.votesWithin(1, 3*time.Second)
		w.wantValues("eternal", "a", "a", "")
	}, briefTTL)
}

// What failed in passing costs the master little time, and what goes on failing costs
// the others little work.
func TestFailedCatchUpIsRepeatedSoonAndThenSeldom(t *testing.T) {
	inWorld(t, 3, func(w *world) {
		w.withOneDatabase()
		begun := func() int { return len(w.masters[0].commands("lease")) }
		failing := true
		w.masters[0].restartBlank()
		w.masters[0].set(func(m *fakeMaster) {
			m.respond = func(args []string) string {
				if failing && runs(args, catchup.CopyScript) {
					return "-ERR in passing\r\n"
				}
				return ""
			}
		})
		w.noticed(1)
		time.Sleep(w.cfg.Hush() + 10*ms)
		for _, want := range []int{1, 2, 3, 4, 5, 6, 7, 8} {
			if n := begun(); n != want {
				t.Fatalf("%d have begun, want %d", n, want)
			}
			time.Sleep(min(firstRepeat<<(want-1), w.cfg.ProbeInterval))
		}
		w.masters[0].set(func(m *fakeMaster) { failing = false })
		w.votesWithin(1, w.cfg.ProbeInterval+100*ms)

		w.masters[0].set(func(m *fakeMaster) { failing = true })
		w.lose(1)
		time.Sleep(w.cfg.Hush())
		w.masters[0].set(func(m *fakeMaster) { failing = false })
		w.votesWithin(1, 100*ms)
	})
}

func TestMasterThatCannotHoldACopyWaits(t *testing.T) {
	inWorld(t, 3, func(w *world) {
		w.each(func(m *fakeMaster) {
			m.set(func(m *fakeMaster) { m.keys["h"] = fakeKey{value: "field:1", hash: true} })
		}, 2, 3)
		w.sets("k", "a", time.Minute, 2, 3)
		w.masters[0].set(func(m *fakeMaster) { m.version = "6.2.14" })
		w.lose(1)
		w.votesNotWithin(1, w.cfg.MaxTTL-time.Second)
		w.wantValues("k", "a", "a", "a")
	}, briefTTL)
}

func TestMastersThatForgetScriptsAreToldThemAgain(t *testing.T) {
	inWorld(t, 3, func(w *world) {
		w.fill(3 * catchup.PageKeys)
		w.lose(1)
		w.at(2, catchup.HeldScript, func(m *fakeMaster, args []string) { clear(m.scripts) })
		w.votesWithin(1, 3*time.Second)
	})
}

// Of two proxies that find the same loss, one brings the master back.
func TestTwoProxiesDoNotDoTheWorkTwice(t *testing.T) {
	inWorld(t, 3, func(w *world) {
		w.withOneDatabase()
		other := w.start(w.cfg)
		w.fill(3 * catchup.PageKeys)
		w.masters[0].restartBlank()
		time.Sleep(3 * w.cfg.ProbeInterval)
		w.votesWithin(1, 0)
		if s := other.Status().Masters[0].State; s != quorum.Voting {
			t.Errorf("to the other proxy it is %v", s)
		}
		if n := len(w.masters[1].commands("SCAN")); n != 3 && n != 4 {
			t.Errorf("%d pages were read", n)
		}
		w.wantValues("fill0", "0", "0", "0")
	})
}

// A proxy that began to bring a master back, and ended, is waited for no longer than
// its lease.
func TestProxyThatDiesOnTheWayIsReplaced(t *testing.T) {
	inWorld(t, 3, func(w *world) {
		w.masters[0].restartBlank()
		w.masters[0].set(func(m *fakeMaster) {
			m.keys[catchup.LeaseKey] = fakeKey{value: "somebody/else", until: m.now() + int64(8*time.Second)}
		})
		w.noticed(1)
		w.votesNotWithin(1, 6*time.Second)
		w.votesWithin(1, 5*time.Second)
	})
}

// At the quarantine's end nobody is waited for, and who is late writes nothing.
func TestLastAttemptTakesTheLease(t *testing.T) {
	inWorld(t, 3, func(w *world) {
		w.sets("eternal", "a", 0, 2, 3)
		w.masters[0].restartBlank()
		w.noticed(1)
		w.sets(catchup.LeaseKey, "somebody/else", 0, 1)
		w.votesNotWithin(1, w.cfg.MaxTTL-time.Second)
		w.votesWithin(1, 3*time.Second)
		w.wantValues("eternal", "a", "a", "a")
	}, briefTTL)
}

// An engine that is closed does not wait for a catch-up, whatever that waits for.
func TestCatchUpEndsWithItsEngine(t *testing.T) {
	for name, wait := range map[string]func(w *world){
		"sources that disagree": func(w *world) {
			w.sets("k", "a", 0, 2)
			w.sets("k", "b", 0, 3)
		},
		"a source that hangs": func(w *world) {
			w.at(3, catchup.ReadingScript, func(m *fakeMaster, args []string) { m.thaw = make(chan struct{}) })
		},
		"a master that hangs": func(w *world) {
			w.at(1, catchup.CopyScript, func(m *fakeMaster, args []string) { m.thaw = make(chan struct{}) })
		},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, 3, func(w *world) {
				wait(w)
				w.sets("any", "a", 0, 2)
				w.lose(1)
				time.Sleep(2*w.cfg.AcquireTimeout - 100*ms)
				w.wantState(1, quorum.CatchingUp, "")
				began := time.Now()
				w.engine.zero.cancel() // as Close does once the queues are empty
				w.engine.zero.wait.Wait()
				if took := time.Since(began); took > 10*ms {
					t.Errorf("it took %v", took)
				}
			})
		})
	}
}
