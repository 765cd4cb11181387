package engine

import (
	"testing"
	"time"

	"redlock-proxy/quorum"
	"redlock-proxy/quorum/master"
)

// refuseToWrite has a master do what Redis does that cannot save its data set, which is on
// by default: it refuses all that writes, and answers everything else.
func refuseToWrite(m *fakeMaster) {
	m.set(func(m *fakeMaster) {
		m.respond = func(args []string) string {
			if writes(args) {
				return "-MISCONF Redis is configured to save RDB snapshots, but it's currently unable to persist to disk.\r\n"
			}
			return ""
		}
	})
}

func writeAgain(m *fakeMaster) { m.set(func(m *fakeMaster) { m.respond = nil }) }

// A master refuses to write for a second. What is released then is owed to it.
func TestReleaseIsOwedToAMasterThatRefusesToWrite(t *testing.T) {
	for name, ttl := range map[string]time.Duration{"an hour": time.Hour, "no ttl": 0} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, 3, func(w *world) {
				w.want(w.acquire("k", "a", ttl), quorum.Won)
				w.settle()
				refuseToWrite(w.masters[2])
				w.want(w.release("k", "a"), quorum.Won)
				time.Sleep(time.Second)
				if s := w.state(3); s.State != quorum.Down {
					t.Errorf("the master is %v", s.State)
				}
				writeAgain(w.masters[2])
				time.Sleep(5 * time.Second)
				w.wantValues("k", "", "", "")
				if s := w.engine.Status(); s.DebtsOwed != 1 || s.DebtsPaid != 1 || s.DebtsLeft != 0 {
					t.Errorf("owed %d, paid %d, left %d", s.DebtsOwed, s.DebtsPaid, s.DebtsLeft)
				}
				w.down(1)
				w.want(w.acquire("k", "b", time.Minute), quorum.Won)
			})
		})
	}
}

// What is owed to a master that comes back, and refuses to write as yet, stays owed.
func TestDebtThatIsRefusedStaysOwed(t *testing.T) {
	inWorld(t, 3, func(w *world) {
		w.want(w.acquire("k", "a", time.Hour), quorum.Won)
		w.settle()
		w.down(3)
		w.want(w.release("k", "a"), quorum.Won)
		refuseToWrite(w.masters[2])
		w.up(3)
		time.Sleep(time.Second)
		if s := w.engine.Status(); s.DebtsOwed != 1 || s.DebtsLeft != 1 {
			t.Errorf("owed %d, left %d", s.DebtsOwed, s.DebtsLeft)
		}
		writeAgain(w.masters[2])
		time.Sleep(10 * time.Second)
		w.wantValues("k", "", "", "")
		if s := w.engine.Status(); s.DebtsPaid != 1 || s.DebtsNeedless != 0 || s.DebtsLeft != 0 {
			t.Errorf("paid %d, needless %d, left %d", s.DebtsPaid, s.DebtsNeedless, s.DebtsLeft)
		}
	})
}

// The yes to a release that two masters have refused is made true once they write again, and
// nobody reads what was released meanwhile.
func TestWhatTwoMastersRefuseToDeleteIsReadByNobody(t *testing.T) {
	for name, r := range map[string]quorum.Request{
		"DEL":     {Kind: quorum.Remove, Key: "k"},
		"release": {Kind: quorum.Release, Key: "k", Token: "a"},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, 3, func(w *world) {
				w.want(w.acquire("k", "a", time.Hour), quorum.Won)
				w.settle()
				w.each(refuseToWrite, 2, 3)
				w.want(w.ask(r), quorum.Won)
				w.settle()
				if read := w.ask(quorum.Request{Kind: quorum.Read, Key: "k", ValueOnly: true}); read.Decision == quorum.Won && read.Exists {
					t.Errorf("it is released, and reads %q", read.Value)
				}
				w.each(writeAgain, 2, 3)
				time.Sleep(5 * time.Second)
				w.wantValues("k", "", "", "")
				w.want(w.acquire("k", "b", time.Minute), quorum.Won)
			})
		})
	}
}

// A master without memory takes nothing new; what it is to be given back is tried again.
func TestWhatAMasterHasNoMemoryToPutBackIsTriedAgain(t *testing.T) {
	inWorld(t, 3, func(w *world) {
		put := func(value string) quorum.Result {
			return w.ask(quorum.Request{Kind: quorum.Write, Key: "k", Args: []string{"SET", "k", value}})
		}
		w.want(put("1"), quorum.Won)
		w.settle()
		w.each(func(m *fakeMaster) {
			m.set(func(m *fakeMaster) {
				m.respond = func(args []string) string {
					if args[0] == "EVALSHA" && args[1] == writeScript.SHA {
						return "-OOM command not allowed.\r\n"
					}
					return ""
				}
			})
		}, 1, 2)
		w.masters[2].set(func(m *fakeMaster) {
			m.respond = func(args []string) string {
				if args[0] == "EVALSHA" && args[1] == putBackScript.SHA {
					return "-OOM command not allowed.\r\n"
				}
				return ""
			}
		})
		w.late(func() { w.want(put("2"), quorum.Unavailable) }, 1, 2)
		w.settle()
		w.wantValues("k", "1", "1", "2")
		w.each(writeAgain, 1, 2, 3)
		time.Sleep(5 * time.Second)
		w.wantValues("k", "1", "1", "1")
		if s := w.engine.Status(); s.UndosMissed != 0 {
			t.Errorf("%d undos missed", s.UndosMissed)
		}
	})
}

// A key that was not given again is not counted as given.
func TestHealThatIsRefusedIsNotCounted(t *testing.T) {
	inWorld(t, 3, func(w *world) {
		w.down(3)
		w.want(w.acquire("k", "a", time.Hour), quorum.Won)
		w.up(3)
		w.masters[2].set(func(m *fakeMaster) {
			m.respond = func(args []string) string {
				if args[0] == "SET" {
					return "-OOM command not allowed.\r\n"
				}
				return ""
			}
		})
		w.want(w.extend("k", "a", time.Hour), quorum.Won)
		w.settle()
		if s := w.engine.Status(); s.Heals != 0 || w.masters[2].value("k") != "" {
			t.Errorf("%d heals are counted, and the master holds %q", s.Heals, w.masters[2].value("k"))
		}
	})
}

// full has a master refuse what takes memory, as Redis does at its maxmemory with noeviction;
// what moves an expiry is carried out.
func full(m *fakeMaster) {
	m.set(func(m *fakeMaster) {
		m.respond = func(args []string) string {
			if args[0] == "SET" || args[0] == "EVAL" && args[1] == master.MarkScript.Text || args[0] == "EVALSHA" && args[1] == acquireScript.SHA {
				return "-OOM command not allowed when used memory > 'maxmemory'.\r\n"
			}
			return ""
		}
	})
}

// Two durable masters are full, and their logs are switched off, one after the other: their
// own markers cannot be written. A lock is extended, and they crash.
func TestLogThatWasSwitchedOffAtAFullMasterIsToldByTheOthers(t *testing.T) {
	inDurableWorld(t, 3, func(w *world) {
		w.want(w.acquire("k", "a", 30*time.Second), quorum.Won)
		w.settle()
		w.each(full, 1, 2)
		w.each(func(m *fakeMaster) {
			m.configure(nil)
			time.Sleep(5 * w.cfg.ProbeInterval)
		}, 1, 2)
		w.want(w.extend("k", "a", 3*time.Minute), quorum.Won)
		extended := time.Now()
		w.settle()
		time.Sleep(40 * time.Second)
		w.each((*fakeMaster).restartFromLog, 1, 2)
		w.each(writeAgain, 1, 2)
		time.Sleep(2 * w.cfg.ProbeInterval)
		b := w.acquire("k", "b", time.Minute)
		if b.Decision == quorum.Won {
			t.Errorf("two holders: a has extended k for 3 minutes, and b gets it %v later", time.Since(extended))
		}
	})
}

// The same of what is taken back on a link that lasts until then.
func TestUndoThatIsRefusedStaysOwed(t *testing.T) {
	inWorld(t, 3, func(w *world) {
		w.down(3)
		w.want(w.acquire("k", "a", time.Hour), quorum.Won)
		w.up(3)
		w.masters[2].set(func(m *fakeMaster) {
			m.respond = func(args []string) string {
				if args[0] == "EVALSHA" && args[1] == takeBackScript.SHA {
					return "-MISCONF Redis is configured to save RDB snapshots.\r\n"
				}
				return ""
			}
		})
		w.late(func() { w.want(w.acquire("k", "b", time.Hour), quorum.Contended) }, 1, 2)
		w.settle()
		w.wantValues("k", "a", "a", "b")
		writeAgain(w.masters[2])
		time.Sleep(5 * time.Second)
		w.wantValues("k", "a", "a", "")
	})
}
