package engine

import (
	"context"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"redlock-proxy/quorum"
)

// far has what a configuration's i-th master is told, and what it answers, be on its way
// for so long. It returns how to change the latter.
func far(cfg *Config, i int, to time.Duration) (back func(time.Duration)) {
	_, back = farBothWays(cfg, i, to)
	return back
}

// farBothWays returns how to change the former, too.
func farBothWays(cfg *Config, i int, to time.Duration) (there, back func(time.Duration)) {
	var mine []*socket
	dial := cfg.Masters[i].Dial
	cfg.Masters[i].Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := dial(ctx, network, address)
		if err == nil {
			s := conn.(*socket)
			s.out.change(func() { s.out.far = to })
			mine = append(mine, s)
		}
		return conn, err
	}
	there = func(d time.Duration) {
		for _, s := range mine {
			s.out.change(func() { s.out.far = d })
		}
	}
	return there, func(d time.Duration) {
		for _, s := range mine {
			s.in.change(func() { s.in.far = d })
		}
	}
}

// putTo asks an engine.
func putTo(e *Engine, r quorum.Request) *waiter {
	a := newWaiter()
	e.Put(&r, a)
	return a
}

// The OK of a first lock waits behind something slow. The client has given up, released
// it elsewhere and locked again, and then the first connection ends.
func TestTakeBackSparesALaterLockOfTheToken(t *testing.T) {
	for _, held := range []time.Duration{0, ms, time.Second} { // for the first lock, and for how long
		for _, again := range []time.Duration{time.Minute, 30 * time.Second} {
			inWorld(t, 3, func(w *world) {
				w.masters[2].set(func(m *fakeMaster) { m.delay = 3 * ms })
				first := w.acquire("k", "host-1", time.Minute)
				w.want(first, quorum.Won)
				time.Sleep(held)
				w.want(w.release("k", "host-1"), quorum.Won)
				w.want(w.acquire("k", "host-1", again), quorum.Won)
				w.engine.TakeBack(first.Lock)
				time.Sleep(100 * ms)
				w.wantValues("k", "host-1", "host-1", "host-1")
			})
		}
	}
}

// One who is told no releases all the same, under a token of its own.
func TestTakeBackIsNotKeptByAnothersRelease(t *testing.T) {
	inWorld(t, 3, func(w *world) {
		won := w.acquire("k", "a", time.Minute)
		w.want(won, quorum.Won)
		w.want(w.acquire("k", "b", time.Minute), quorum.Contended)
		w.want(w.release("k", "b"), quorum.Contended)
		w.engine.TakeBack(won.Lock)
		w.settle()
		w.wantValues("k", "", "", "")
	})
}

func TestTakeBackReachesAGrantThatComesLate(t *testing.T) {
	for _, ttl := range []time.Duration{time.Minute, 0} {
		inWorld(t, 3, func(w *world) {
			w.masters[2].set(func(m *fakeMaster) { m.delay = 100 * ms })
			won := w.acquire("k", "t", ttl)
			w.want(won, quorum.Won)
			w.engine.TakeBack(won.Lock)
			time.Sleep(time.Second)
			w.wantValues("k", "", "", "")
		})
	}
}

// An acquire without ttl that is extended gives its key to a master that lacks it, too.
func TestTakeBackReachesAMasterThatWasGivenTheKey(t *testing.T) {
	inWorld(t, 3, func(w *world) {
		w.down(3)
		w.masters[0].set(func(m *fakeMaster) { m.lag = 5 * ms })
		a := w.put(quorum.Request{Kind: quorum.Acquire, Key: "k", Token: "t"})
		w.masters[2].rejoin()
		won := a.wait(t)
		w.want(won, quorum.Won)
		time.Sleep(time.Second)
		w.engine.TakeBack(won.Lock)
		w.settle()
		w.wantValues("k", "", "", "")
	})
}

// The master lacks the lock, and is told of its extension and its release in one batch.
func TestKeyIsNotGivenAgainBehindItsRelease(t *testing.T) {
	for name, end := range map[string]quorum.Request{
		"release": {Kind: quorum.Release, Key: "k", Token: "a"},
		"DEL":     {Kind: quorum.Remove, Key: "k"},
		"EXPIRE":  {Kind: quorum.Write, Key: "k", Args: []string{"PEXPIRE", "k", "-1"}},
	} {
		for _, ttl := range []time.Duration{time.Minute, 0} {
			t.Run(name, func(t *testing.T) {
				inWorld(t, 3, func(w *world) {
					w.down(3)
					w.want(w.acquire("k", "a", time.Minute), quorum.Won)
					w.up(3)
					w.masters[2].set(func(m *fakeMaster) { m.delay = 5 * ms })
					other := w.put(quorum.Request{Kind: quorum.Read, Key: "other"})
					synctest.Wait()
					w.want(w.extend("k", "a", ttl), quorum.Won)
					w.want(w.ask(end), quorum.Won)
					other.wait(t)
					time.Sleep(100 * ms)
					w.wantValues("k", "", "", "")
					w.masters[2].set(func(m *fakeMaster) { m.delay = 0 })
					w.down(1)
					w.want(w.acquire("k", "b", time.Minute), quorum.Won)
				})
			})
		}
	}
}

// A release is put while a connection is broken, and the master is back before the others
// have told how long the lock would have lived.
func TestReleaseReachesAMasterThatComesBackMeanwhile(t *testing.T) {
	for name, r := range map[string]quorum.Request{
		"release": {Kind: quorum.Release, Key: "k", Token: "a"},
		"DEL":     {Kind: quorum.Remove, Key: "k"},
	} {
		t.Run(name, func(t *testing.T) {
			for _, cut := range []time.Duration{0, ms} { // before the release, or right behind it
				inWorld(t, 3, func(w *world) {
					w.want(w.acquire("k", "a", time.Minute), quorum.Won)
					w.settle()
					w.each(func(m *fakeMaster) { m.set(func(m *fakeMaster) { m.lag = 200 * ms }) }, 1, 2)
					var a *waiter
					if cut > 0 {
						w.masters[2].freeze()
						a = w.put(r)
						synctest.Wait()
					}
					w.masters[2].cut()
					w.masters[2].unfreeze()
					synctest.Wait()
					w.masters[2].rejoin()
					if cut == 0 {
						a = w.put(r)
					}
					w.want(a.wait(t), quorum.Won)
					time.Sleep(2 * time.Second)
					w.wantValues("k", "", "", "")
				})
			}
		})
	}
}
