package engine

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"redlock-proxy/quorum"
)

// A release meets what another client has been granted so far. That one is not told
// that it holds what is gone.
func TestAcquireIsNotWonByWhatAReleaseHasTaken(t *testing.T) {
	for name, c := range map[string]struct {
		token   string // of the one who asks
		ttl     time.Duration
		release quorum.Request
	}{
		"DEL":               {"b", time.Minute, quorum.Request{Kind: quorum.Remove, Key: "k"}},
		"a constant token":  {"1", time.Minute, quorum.Request{Kind: quorum.Release, Key: "k", Token: "1"}},
		"a lock for ever":   {"b", 0, quorum.Request{Kind: quorum.Remove, Key: "k"}},
		"SET":               {"b", time.Minute, quorum.Request{Kind: quorum.Write, Key: "k", Args: []string{"SET", "k", "1", "XX"}}},
		"an expiry of 1 ms": {"b", time.Minute, quorum.Request{Kind: quorum.Write, Key: "k", Args: []string{"PEXPIRE", "k", "1"}}},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, 3, func(w *world) {
				w.masters[1].put("k", "1", time.Minute)
				w.masters[2].put("k", "1", 20*ms) // so much faster is its clock
				w.masters[2].set(func(m *fakeMaster) { m.lag = 50 * ms })
				asked := newWaiter()
				w.engine.Put(&quorum.Request{Kind: quorum.Acquire, Key: "k", Token: c.token, TTL: c.ttl}, asked)
				synctest.Wait()
				if v := w.masters[0].value("k"); v != c.token {
					t.Fatalf("the first master holds %q", v)
				}
				released := newWaiter()
				w.engine.Put(&c.release, released)
				got := <-asked.answers
				held := 0
				for _, m := range w.masters {
					if m.value("k") == c.token {
						held++
					}
				}
				<-released.answers
				if got.Decision == quorum.Won && held < 2 {
					t.Errorf("it was won, and %d masters hold it", held)
				}
				if c.release.Kind != quorum.Write && got.Decision != quorum.Won {
					t.Errorf("what was free in the end was not won: %v", got.Decision)
				}
			})
		})
	}
}

// So it is with a flush, also where it is sent to the masters by other connections.
func TestAcquireIsNotWonByWhatAFlushHasTaken(t *testing.T) {
	for name, flush := range map[string]quorum.Request{
		"of its database":                        {Args: []string{"FLUSHDB"}},
		"of all databases":                       {Args: []string{"FLUSHALL"}},
		"of all databases, from another of them": {Args: []string{"FLUSHALL"}, DB: 5},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, 3, func(w *world) {
				w.want(w.asked(5, quorum.Request{Kind: quorum.Acquire, Key: "other", Token: "a", TTL: time.Second}), quorum.Won)
				w.masters[1].put("k", "1", time.Minute)
				w.masters[2].put("k", "1", 20*ms) // so much faster is its clock
				w.masters[2].set(func(m *fakeMaster) { m.lag = 50 * ms })
				asked := w.put(quorum.Request{Kind: quorum.Acquire, Key: "k", Token: "b", TTL: time.Minute})
				synctest.Wait()
				flush.Kind = quorum.Survey
				w.put(flush)
				got, held := asked.wait(t), 0
				for _, m := range w.masters {
					if m.value("k") == "b" {
						held++
					}
				}
				if got.Decision == quorum.Won && held < 2 {
					t.Errorf("it was won, and %d masters hold it", held)
				}
			})
		})
	}
}

// What is acquired in another database meanwhile is not held up.
func TestFlushOfOneDatabaseLeavesAcquiresInOthersAlone(t *testing.T) {
	inWorld(t, 3, func(w *world) {
		w.want(w.asked(5, quorum.Request{Kind: quorum.Acquire, Key: "other", Token: "a", TTL: time.Second}), quorum.Won)
		w.each(func(m *fakeMaster) { m.set(func(m *fakeMaster) { m.lag = 50 * ms }) }, 2, 3)
		asked := w.put(quorum.Request{Kind: quorum.Acquire, Key: "k", Token: "b", TTL: time.Minute})
		synctest.Wait()
		w.put(quorum.Request{Kind: quorum.Survey, Args: []string{"FLUSHDB"}, DB: 5})
		w.want(asked.wait(t), quorum.Won)
		if s := w.engine.Status(); s.Splits != 0 {
			t.Errorf("%d acquires were tried again", s.Splits)
		}
	})
}

// Redis tells each of those who ask that they have the lock: nobody else does.
func TestWhoDeletesAKeyAgainAndAgainKeepsNobodyFromLockingIt(t *testing.T) {
	for name, c := range map[string]struct {
		token string
		ttl   time.Duration
		frees quorum.Request
	}{
		"DEL":                    {"a", time.Minute, quorum.Request{Kind: quorum.Remove, Key: "k"}},
		"a release of its token": {"1", time.Minute, quorum.Request{Kind: quorum.Release, Key: "k", Token: "1"}},
		"DEL of a lock for ever": {"a", 0, quorum.Request{Kind: quorum.Remove, Key: "k"}},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, 3, func(w *world) {
				w.each(func(m *fakeMaster) { m.set(func(m *fakeMaster) { m.lag = 2 * ms; m.quiet = true }) }, 1, 2, 3)
				var stop atomic.Bool
				done := make(chan bool)
				go func() {
					for ; !stop.Load(); time.Sleep(ms) {
						w.put(c.frees)
					}
					close(done)
				}()
				defer func() { stop.Store(true); <-done }()
				for range 20 {
					time.Sleep(10 * ms)
					w.want(w.put(quorum.Request{Kind: quorum.Acquire, Key: "k", Token: c.token, TTL: c.ttl}).wait(t), quorum.Won)
					w.put(quorum.Request{Kind: quorum.Remove, Key: "k"}).wait(t)
				}
				stop.Store(true)
				time.Sleep(time.Second)
				if n := w.engine.Status().InFlight; n != 0 {
					t.Errorf("%d requests in flight", n)
				}
			})
		})
	}
}

// What comes behind a deletion that waits does not pass it.
func TestOrderOnAKeyIsKeptWhereADeletionWaits(t *testing.T) {
	inWorld(t, 3, func(w *world) {
		w.each(func(m *fakeMaster) { m.set(func(m *fakeMaster) { m.lag = 10 * ms }) }, 1, 2, 3)
		asked := w.put(quorum.Request{Kind: quorum.Acquire, Key: "k", Token: "a", TTL: time.Minute})
		w.put(quorum.Request{Kind: quorum.Remove, Key: "k"}) // the acquire is tried again, and guarded
		for len(w.masters[0].commands("SET")) < 2 {
			time.Sleep(ms)
		}
		first := w.put(quorum.Request{Kind: quorum.Read, Key: "k", ValueOnly: true})
		removed := w.put(quorum.Request{Kind: quorum.Remove, Key: "k"})
		then := w.put(quorum.Request{Kind: quorum.Read, Key: "k", ValueOnly: true})
		again := w.put(quorum.Request{Kind: quorum.Acquire, Key: "k", Token: "b", TTL: time.Minute})
		w.want(asked.wait(t), quorum.Won)
		if r := first.wait(t); r.Value != "a" {
			t.Errorf("read before the deletion: %+v", r)
		}
		w.want(removed.wait(t), quorum.Won)
		if r := then.wait(t); r.Exists {
			t.Errorf("read behind the deletion: %+v", r)
		}
		w.want(again.wait(t), quorum.Won)
		w.settle()
		w.wantValues("k", "b", "b", "b")
	})
}
