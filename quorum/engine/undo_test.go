package engine

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"redlock-proxy/quorum"
)

// put, with what follows at once from its answer, before the test hears of it: as a
// client that retries with the same token as soon as it hears no.
type chained struct {
	*waiter
	then func(quorum.Result)
}

func (c *chained) Answer(r quorum.Result) quorum.Flusher {
	c.then(r)
	return c.waiter.Answer(r)
}

func TestUndoIsQueuedBeforeTheAskerHearsNo(t *testing.T) {
	inWorld(t, 3, func(w *world) {
		// The lock is another's on two masters; the third grants.
		w.masters[0].put("k", "x", 10*ms)
		w.masters[1].put("k", "x", 10*ms)
		w.masters[0].set(func(m *fakeMaster) { m.lag = 2 * ms })
		w.masters[1].set(func(m *fakeMaster) { m.lag = 2 * ms })
		again := newWaiter()
		first := &chained{newWaiter(), func(r quorum.Result) {
			w.engine.Put(&quorum.Request{Kind: quorum.Acquire, Key: "k", Token: "t", TTL: time.Minute}, again)
		}}
		w.engine.Put(&quorum.Request{Kind: quorum.Acquire, Key: "k", Token: "t", TTL: time.Minute}, first)
		w.want(<-first.answers, quorum.Contended)
		<-again.answers
		w.settle()
		log := w.masters[2].commands("")
		if len(log) < 3 || !strings.HasPrefix(log[0], "SET k t") || !strings.HasPrefix(log[1], "takeback k t") || !strings.HasPrefix(log[2], "SET k t") {
			t.Errorf("the master that had granted was told %q", log)
		}
	})
}

func TestMasterThatRefusedIsNeverTouched(t *testing.T) {
	inWorld(t, 3, func(w *world) {
		// All clients lock with the same token.
		w.want(w.acquire("k", "1", time.Minute), quorum.Won)
		for range 5 {
			w.want(w.acquire("k", "1", time.Minute), quorum.Contended)
		}
		w.settle()
		w.wantValues("k", "1", "1", "1")
		w.masters[2].forget("k")
		w.want(w.acquire("k", "1", time.Minute), quorum.Contended)
		w.settle()
		for _, m := range w.masters[:2] {
			if got := m.commands("takeback"); len(got) != 0 {
				t.Errorf("%s refused, and was told %q", m.name, got)
			}
			if m.value("k") != "1" {
				t.Errorf("%s has lost the lock", m.name)
			}
		}
	})
}

// A master answers with an error, and nobody knows whether it set the key: it
// may be another client's, under the same token.
func TestUnknownIsNotUndone(t *testing.T) {
	inWorld(t, 3, func(w *world) {
		w.masters[0].put("k", "1", time.Minute)
		w.each(func(m *fakeMaster) {
			m.set(func(m *fakeMaster) {
				m.lag = 2 * ms // so that the third has granted when it is lost
				m.respond = func(args []string) string {
					if args[0] == "SET" {
						return "-OOM command not allowed when used memory > 'maxmemory'.\r\n"
					}
					return ""
				}
			})
		}, 1, 2)
		w.want(w.acquire("k", "1", time.Minute), quorum.Unavailable)
		w.settle()
		w.wantValues("k", "1", "", "")
		for i, want := range []int{0, 0, 1} {
			if got := w.masters[i].commands("takeback"); len(got) != want {
				t.Errorf("m%d was told %q", i+1, got)
			}
		}
	})
}

// A grant arrives when the acquire is long lost. Its undo goes ahead of what
// was asked since.
func TestUndoOfALateGrantGoesFirst(t *testing.T) {
	inWorld(t, 3, func(w *world) {
		w.masters[0].put("k", "x", time.Second)
		w.masters[1].put("k", "x", time.Second)
		w.each(func(m *fakeMaster) { m.set(func(m *fakeMaster) { m.lag = 5 * ms }) }, 1, 2)
		w.masters[2].set(func(m *fakeMaster) { m.delay = 100 * ms })
		w.want(w.acquire("k", "t", time.Minute), quorum.Contended)
		synctest.Wait()
		// The master has granted, and its answer is on the way.
		if v := w.masters[2].value("k"); v != "t" {
			t.Fatalf("it holds %q", v)
		}
		w.put(quorum.Request{Kind: quorum.Acquire, Key: "other", Token: "t", TTL: time.Minute})
		w.forgetAll("k", 1, 2)
		w.masters[2].set(func(m *fakeMaster) { m.delay = 0 })
		w.want(w.acquire("k", "t", time.Minute), quorum.Won)
		time.Sleep(time.Second)
		w.wantValues("k", "t", "t", "t")
		want := []string{"SET k t", "takeback k t", "SET other t", "SET k t"}
		got := w.masters[2].commands("")
		if !slices.EqualFunc(got, want, strings.HasPrefix) {
			t.Errorf("the late master was told %q, want %q", got, want)
		}
	})
}

func (w *world) forgetAll(key string, numbers ...int) {
	w.each(func(m *fakeMaster) { m.forget(key) }, numbers...)
}

func TestLostAcquireIsNotSentToALaneThatIsBehind(t *testing.T) {
	inWorld(t, 3, func(w *world) {
		w.masters[0].put("k", "x", time.Minute)
		w.masters[1].put("k", "x", time.Minute)
		w.masters[2].set(func(m *fakeMaster) { m.delay = 100 * ms })
		w.want(w.acquire("other", "t", time.Minute), quorum.Won)
		w.want(w.acquire("k", "t", time.Minute), quorum.Contended) // while the third is busy
		time.Sleep(time.Second)
		if got := w.masters[2].commands("SET k "); len(got) != 0 {
			t.Errorf("the third master was told %q", got)
		}
		w.wantValues("other", "t", "t", "t")
	})
}

// Undo is owed to a master that went away, and paid on its return.
func TestUndoIsOwedToAMasterThatIsGone(t *testing.T) {
	inWorld(t, 3, func(w *world) {
		w.masters[0].put("k", "x", 2*time.Second)
		w.masters[1].put("k", "x", 2*time.Second)
		w.each(func(m *fakeMaster) { m.set(func(m *fakeMaster) { m.lag = 50 * ms }) }, 1, 2)
		a := w.put(quorum.Request{Kind: quorum.Acquire, Key: "k", Token: "t", TTL: time.Minute})
		time.Sleep(20 * ms)
		w.masters[2].cut() // it has granted; the others are about to refuse
		w.want(a.wait(t), quorum.Contended)
		time.Sleep(time.Second)
		if s := w.engine.Status(); s.DebtsOwed != 1 || s.Masters[2].Debts != 1 {
			t.Errorf("%+v", s)
		}
		w.masters[2].set(func(m *fakeMaster) { m.log = nil })
		w.up(3)
		w.want(w.acquire("k2", "t", time.Minute), quorum.Won)
		w.settle()
		log := w.masters[2].commands("")
		if len(log) < 3 || !strings.HasPrefix(log[0], "CLIENT KILL") || !strings.HasPrefix(log[1], "takeback k t") {
			t.Errorf("on its return the master was told %q", log)
		}
		if v := w.masters[2].value("k"); v != "" {
			t.Errorf("it still holds %q", v)
		}
	})
}

func TestPredecessorIsEndedBeforeDebtsAndEverythingElse(t *testing.T) {
	inWorld(t, 3, func(w *world) {
		time.Sleep(ms)
		w.want(w.acquire("k", "t", time.Minute), quorum.Won)
		m := w.masters[2]
		m.freeze()
		w.want(w.release("k", "t"), quorum.Won)
		time.Sleep(2 * time.Second) // the batch is given up
		m.set(func(m *fakeMaster) { m.log = nil })
		serve := m.holdBack()
		m.unfreeze()
		time.Sleep(time.Second)
		serve()
		w.want(w.acquire("k2", "t", time.Minute), quorum.Won)
		w.settle()
		log := m.commands("")
		kill := slices.IndexFunc(log, func(c string) bool { return strings.HasPrefix(c, "CLIENT KILL") })
		newer := slices.IndexFunc(log, func(c string) bool { return strings.HasPrefix(c, "SET k2") })
		paid := slices.IndexFunc(log, func(c string) bool { return strings.HasPrefix(c, "takeback k t") })
		if kill < 0 || kill > paid || paid > newer || paid < 0 {
			t.Errorf("on its return the master was told %q", log)
		}
		if got := m.commands("release"); len(got) != 0 || m.value("k") != "" {
			t.Errorf("the old socket's %q was carried out, and %q is held", got, m.value("k"))
		}
	})
}

// What a release may have left on a master is known late, and not owed if the master has
// been back since: it may hold a newer lock, under the same token.
func TestReleaseIsNotOwedToAMasterThatHasBeenBackSince(t *testing.T) {
	inWorld(t, 3, func(w *world) {
		time.Sleep(ms)
		w.sets("k", "1", time.Minute, 3)
		w.down(1, 2)
		w.masters[2].set(func(m *fakeMaster) { m.lag = 400 * ms })
		released := w.put(quorum.Request{Kind: quorum.Release, Key: "k", Token: "1"})
		w.up(1, 2)
		w.want(w.acquire("k", "1", 30*time.Second), quorum.Won)
		w.down(1)
		w.want(released.wait(t), quorum.Unavailable)
		time.Sleep(time.Second) // master 3 has released A's, and granted B's
		w.up(1)
		w.settle()
		w.wantValues("k", "1", "1", "1")
	}, func(cfg *Config) { cfg.ProbeInterval = 50 * ms })
}

// A lock that nobody was told of is taken back as long as it lives, and not what
// another client has taken since, under the same token.
func TestTakeBackDiesWithItsLock(t *testing.T) {
	inWorld(t, 3, func(w *world) {
		r := quorum.Request{Kind: quorum.Acquire, Key: "k", Token: "1", TTL: 10 * time.Second}
		won := w.ask(r)
		w.want(won, quorum.Won)
		w.engine.TakeBack(won.Lock)
		w.settle()
		w.wantValues("k", "", "", "")

		won = w.ask(r)
		w.want(won, quorum.Won)
		time.Sleep(11 * time.Second)
		w.want(w.acquire("k", "1", 10*time.Second), quorum.Won)
		time.Sleep(2 * time.Second)
		w.engine.TakeBack(won.Lock)
		w.settle()
		w.wantValues("k", "1", "1", "1")
	})
}

// All masters hang for a moment, as where the way to them does, just after they were looked
// at. What they grant then, of what was answered with NOQUORUM, keeps the key from nobody.
func TestUndoReachesMastersThatHungBeforeTheyGranted(t *testing.T) {
	inWorld(t, 3, func(w *world) {
		w.want(w.acquire("other", "t", time.Minute), quorum.Won)
		w.lagging(w.cfg.AcquireTimeout+50*ms, 1, 2, 3)
		w.want(w.acquire("k", "a", time.Minute), quorum.Unavailable)
		w.lagging(0, 1, 2, 3)
		time.Sleep(time.Second)
		w.wantValues("k", "", "", "")
		if missed := w.engine.Status().UndosMissed; missed != 0 {
			t.Errorf("%d undos could not be", missed)
		}
		w.want(w.acquire("k", "b", time.Minute), quorum.Won)
	})
}
