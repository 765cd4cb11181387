package engine

import (
	"testing"
	"testing/synctest"
	"time"

	"redlock-proxy/quorum"
	"redlock-proxy/quorum/clock"
	"redlock-proxy/quorum/master"
)

// A client that hears nothing of one proxy asks another one, under the same token of its
// own, and extends what it gets there before the first one hears that all is lost.
func TestUndoSparesWhatWasExtendedAtAnotherProxy(t *testing.T) {
	for name, ttl := range map[string]time.Duration{"to the same life": 2 * time.Second, "to a shorter one": time.Second} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, 3, func(w *world) {
				cfg := w.cfg
				cfg.Masters = append([]master.Master(nil), cfg.Masters...)
				late := far(&cfg, 0, 0)
				far(&cfg, 1, 60*ms)
				far(&cfg, 2, 60*ms)
				other := w.start(cfg)
				time.Sleep(3 * time.Second)
				late(450 * ms)
				ask := quorum.Request{Kind: quorum.Acquire, Key: "k", Token: "t", TTL: 2 * time.Second}
				first := putTo(other, ask)
				time.Sleep(20 * ms)
				w.want(w.ask(ask), quorum.Won) // on 2 and 3; on 1 is what the other has asked for
				time.Sleep(280 * ms)
				w.masters[2].cut()
				synctest.Wait()
				time.Sleep(80 * ms)
				w.want(w.extend("k", "t", ttl), quorum.Won)
				w.want(<-first.answers, quorum.Contended)
				time.Sleep(500 * ms) // it hears of 1
				w.wantValues("k", "t", "t", "t")
			})
		})
	}
}

// An extension by less than a lock's end is known to is moved by more.
func TestExtensionMovesByMoreThanAnUndoIsVague(t *testing.T) {
	inWorld(t, 3, func(w *world) {
		const ttl = 10 * time.Second
		w.want(w.acquire("k", "t", ttl), quorum.Won)
		end := func() time.Time { return time.Now().Add(w.masters[0].left("k")) }
		was := end()
		for i := range 200 {
			time.Sleep(time.Duration(i%7) * ms)
			w.want(w.extend("k", "t", ttl), quorum.Won)
			if moved := end().Sub(was); moved <= clock.Sharp {
				t.Fatalf("extension %d has moved the end by %v", i, moved)
			}
			if late := time.Until(end()) - clock.Pad(ttl); late < 0 || late > 2*clock.Sharp+5*ms {
				t.Fatalf("extension %d ends %v late", i, late)
			}
		}
		w.want(w.extend("k", "t", 5*time.Second), quorum.Won)
		if left := w.masters[0].left("k"); left > clock.Pad(5*time.Second) {
			t.Errorf("an extension to a shorter life left %v", left)
		}
	})
}

// What was carried out at a time that is known too vaguely is left alone.
func TestUndoOfABatchThatStalledIsNotSent(t *testing.T) {
	for _, stalled := range []time.Duration{30 * ms, 80 * ms} {
		inWorld(t, 3, func(w *world) {
			w.masters[0].put("k", "x", time.Minute)
			w.masters[1].put("k", "x", time.Minute)
			w.each(func(m *fakeMaster) { m.set(func(m *fakeMaster) { m.lag = ms }) }, 1, 2)
			m := w.masters[2]
			m.set(func(m *fakeMaster) {
				m.after = func(args []string, m *fakeMaster) {
					if args[0] == "SET" {
						m.mu.Unlock()
						time.Sleep(stalled)
						m.mu.Lock()
					}
				}
			})
			w.want(w.acquire("k", "t", time.Minute), quorum.Contended)
			time.Sleep(time.Second)
			if held := m.value("k") == "t"; held != (stalled > clock.Sharp) {
				t.Errorf("of a batch that stalled for %v, what was granted is there: %v", stalled, held)
			}
		})
	}
}

// A master that is far, or whose answer is late, tells as exactly as any other when it
// has granted a lock.
func TestUndoOfAFarGrantIsExact(t *testing.T) {
	inWorld(t, 3, func(w *world) {
		cfg := w.cfg
		cfg.Masters = append([]master.Master(nil), cfg.Masters...)
		far(&cfg, 2, 40*ms)(40 * ms)
		w.engine = w.start(cfg)
		w.masters[0].put("k", "x", time.Minute)
		w.masters[1].put("k", "x", time.Minute)
		w.each(func(m *fakeMaster) { m.set(func(m *fakeMaster) { m.lag = 60 * ms }) }, 1, 2)
		a := w.put(quorum.Request{Kind: quorum.Acquire, Key: "k", Token: "t", TTL: time.Minute})
		time.Sleep(50 * ms)
		w.wantValues("k", "x", "x", "t")
		w.want(a.wait(t), quorum.Contended)
		time.Sleep(200 * ms)
		w.wantValues("k", "x", "x", "")
	})
}

// A lost acquire's leftover is met by an EXPIRE, which names no token.
func TestUndoIsNotEvadedByAnExpiry(t *testing.T) {
	for name, r := range map[string]quorum.Request{
		"PEXPIRE": {Args: []string{"PEXPIRE", "k", ""}, TTLArg: 2, TTL: 100 * time.Second},
		"a bit":   {Args: []string{"PEXPIRE", "k", ""}, TTLArg: 2, TTL: 30 * time.Second},
		"PERSIST": {Args: []string{"PERSIST", "k"}},
	} {
		r.Kind, r.Key = quorum.Write, "k"
		for _, another := range []bool{false, true} { // of the proxy that is asked
			t.Run(name, func(t *testing.T) {
				inWorld(t, 3, func(w *world) {
					other := w.engine
					if another {
						other = w.start(w.cfg)
					}
					w.down(3)
					w.want(w.acquire("k", "holder", 10*time.Second), quorum.Won) // on 1 and 2
					w.up(3)
					w.each(func(m *fakeMaster) { m.set(func(m *fakeMaster) { m.lag = 20 * ms }) }, 1, 2)
					b := w.put(quorum.Request{Kind: quorum.Acquire, Key: "k", Token: "b", TTL: 30 * time.Second})
					time.Sleep(5 * ms) // 3 has granted
					h := putTo(other, r)
					w.want(b.wait(t), quorum.Contended)
					w.want(h.wait(t), quorum.Won)
					time.Sleep(time.Second)
					w.wantValues("k", "holder", "holder", "")
				})
			})
		}
	}
}

// What a write has changed is put back as it was, to the millisecond, though the master
// answers late.
func TestExpiryIsPutBackExactly(t *testing.T) {
	inWorld(t, 3, func(w *world) {
		w.masters[2].put("k", "x", 20*time.Second)
		ends := func() time.Duration { return w.masters[2].left("k") + time.Since(epoch) }
		was := ends()
		w.masters[2].set(func(m *fakeMaster) { m.delay = 200 * ms })
		w.want(w.ask(quorum.Request{Kind: quorum.Write, Key: "k", Args: []string{"PEXPIRE", "k", ""}, TTLArg: 2, TTL: 100 * time.Second}), quorum.Won)
		time.Sleep(time.Second)
		if by := ends() - was; by.Abs() > ms {
			t.Errorf("it ends %v later", by)
		}
	})
}

// A lock that is taken without a ttl has one until its second step. Two others take that away,
// each on one master, and are told that there was none.
func TestLockWithoutTTLStaysThoughOthersTakeItsFirstOneAway(t *testing.T) {
	inWorld(t, 3, func(w *world) {
		w.masters[2].put("k", "a", 0)
		for i, m := range w.masters[:2] {
			m.put("k", "a", w.engine.zero.firstTTL())
			w.masters[1-i].put("k", "a", 0)
			w.lagging(0, i+1)
			w.lagging(5*ms, 2-i, 3)
			if r := w.ask(quorum.Request{Kind: quorum.Write, Key: "k", Args: []string{"PERSIST", "k"}}); r.Reply.Int != 0 {
				t.Errorf("it is told %+v", r)
			}
		}
		time.Sleep(3 * time.Second)
		w.wantValues("k", "a", "a", "a")
	})
}
