package engine

import (
	"context"
	"errors"
	"net"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"redlock-proxy/quorum"
	"redlock-proxy/quorum/marker"
)

// Nothing that is taken back is a copy that a catch-up has given, or may give, of
// another lock under the same token.

// beside is a second proxy, which is slow to notice what becomes of masters, and
// has no way to that of this number while the answer is true.
func (w *world) beside(number int, blocked func() bool) *world {
	cfg := w.cfg
	cfg.ProbeInterval = time.Minute
	cfg.Masters = slices.Clone(cfg.Masters)
	m := &cfg.Masters[number-1]
	dial := m.Dial
	m.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
		if blocked() {
			return nil, errors.New("no route to host")
		}
		return dial(ctx, network, address)
	}
	other := *w
	other.engine = w.start(cfg)
	return &other
}

func TestWhatAMasterGrantedThatHadForgottenIsNotTakenBack(t *testing.T) {
	// Now and then the other proxy has found out by itself before it asks.
	for range 10 {
		if askedBeforeCopies(t) {
			return
		}
	}
	t.Error("the other proxy never asks in time")
}

// askedBeforeCopies tells whether the other proxy has asked a master that had forgotten.
func askedBeforeCopies(t *testing.T) (asks bool) {
	inWorld(t, 3, func(w *world) {
		other := w.beside(3, func() bool { return false })
		w.down(2)
		w.want(w.acquire("k", "1", time.Minute), quorum.Won) // on 1 and 3
		w.masters[1].rejoin()
		time.Sleep(20 * time.Second) // the other proxy tries it again as well
		w.masters[2].set(forgetAll)
		w.noticed(3)
		// The other proxy asks 3 just before it is given copies, and hears from 2 so
		// late that all is over by then.
		time.Sleep(w.cfg.Hush() - 50*time.Millisecond)
		w.masters[1].set(func(m *fakeMaster) { m.delay = 200 * time.Millisecond })
		asked := other.put(quorum.Request{Kind: quorum.Acquire, Key: "k", Token: "1", TTL: 2 * time.Minute})
		time.Sleep(10 * time.Millisecond)
		if v := w.masters[2].value("k"); v != "1" {
			asked.wait(t)
			return
		}
		asks = true
		if r := asked.wait(t); r.Decision == quorum.Won {
			t.Errorf("it came to %+v", r)
		}
		w.masters[1].set(func(m *fakeMaster) { m.delay = 0 })
		w.votesWithin(3, 3*time.Second)
		w.settle()
		if v := w.masters[2].value("k"); v != "1" {
			t.Errorf("master 3 votes, and holds %q of what it had voted for", v)
		}
	})
	return asks
}

// It may have been given copies between two commands of one batch.
func TestGrantFromBeforeAnAdmissionIsNotTakenBackAfterIt(t *testing.T) {
	inWorld(t, 3, func(w *world) {
		w.down(2)
		w.want(w.acquire("k", "1", time.Minute), quorum.Won) // on 1 and 3
		w.up(2)
		m := w.masters[2]
		once(m, "SET", func(m *fakeMaster) { delete(m.keys, "k") })
		m.set(func(m *fakeMaster) {
			m.after = func(args []string, m *fakeMaster) {
				if args[0] == "SET" {
					m.keys[quorum.MarkerKey] = fakeKey{value: string(marker.NewNonce(false)) + m.marker()[marker.NonceLength:]}
					m.after = nil
				}
			}
		})
		w.masters[1].set(func(m *fakeMaster) { m.delay = 100 * time.Millisecond })
		if r := w.acquire("k", "1", 2*time.Minute); r.Decision == quorum.Won {
			t.Errorf("it came to %+v", r)
		}
		w.settle()
		if v := m.value("k"); v != "1" || w.state(3).State != quorum.Voting {
			t.Errorf("master 3 votes, and holds %q of what it had voted for", v)
		}
	})
}

// owing has a proxy owe the release of a lock to master 3, which is out of its
// reach until the end, and another proxy see what becomes of that.
func owing(t *testing.T, settings map[string]string, f func(w *world), after func(w *world, debts int)) {
	t.Helper()
	inWorld(t, 3, func(w *world) {
		w.masters[2].set(func(m *fakeMaster) { m.settings = settings })
		if settings != nil {
			w.stop(w.engine)
			w.masters[2].put(quorum.MarkerKey, marker.Marker{
				Nonce: marker.NewNonce(false), Installation: "test", Member: "m3", Terms: w.cfg.Terms(), RunID: "m3-0", Durable: true,
			}.String(), 0)
			w.engine = w.start(w.cfg)
		}
		var away atomic.Bool
		other := w.beside(3, away.Load)
		w.want(other.acquire("k", "1", time.Minute), quorum.Won)
		w.settle()
		away.Store(true)
		w.masters[2].cut()
		w.masters[2].rejoin()
		time.Sleep(time.Second)
		w.want(other.release("k", "1"), quorum.Won)
		w.wantValues("k", "", "", "1")
		f(w)
		w.votesWithin(3, 3*time.Second)
		away.Store(false)
		time.Sleep(w.cfg.ProbeInterval * 20)
		after(w, other.engine.Status().Masters[2].Debts)
	})
}

func TestDebtIsNotPaidWithACopy(t *testing.T) {
	owing(t, nil, func(w *world) {
		w.want(w.acquire("k", "1", 40*time.Second), quorum.Won) // on 1 and 2
		w.lose(3)
	}, func(w *world, debts int) {
		if w.wantValues("k", "1", "1", "1"); debts != 0 {
			t.Errorf("%d are owed", debts)
		}
	})
}

func TestDebtIsPaidToAMasterThatForgotNothing(t *testing.T) {
	durable := map[string]string{"appendonly": "yes", "appendfsync": "always", "no-appendfsync-on-rewrite": "no"}
	for _, settings := range []map[string]string{nil, durable} {
		owing(t, settings, func(w *world) {
			if settings != nil {
				w.masters[2].restartWith(w.masters[2].copy())
				time.Sleep(2 * w.cfg.ProbeInterval)
				if s := w.engine.Status(); s.Quarantines != 0 {
					t.Errorf("%+v", s)
				}
			}
		}, func(w *world, debts int) {
			if w.wantValues("k", "", "", ""); debts != 0 {
				t.Errorf("%d are owed", debts)
			}
		})
	}
}
