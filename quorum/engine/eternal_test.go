package engine

import (
	"strings"
	"testing"
	"time"

	"redlock-proxy/quorum"
	"redlock-proxy/quorum/clock"
	"redlock-proxy/quorum/marker"
)

func TestLockWithoutTTLIsPersistedOnAQuorum(t *testing.T) {
	inWorld(t, 3, func(w *world) {
		w.want(w.acquire("k", "t", 0), quorum.Won)
		w.settle()
		time.Sleep(time.Minute)
		w.wantValues("k", "t", "t", "t")
		if r := w.read("k"); r.TTL != quorum.NoTTL {
			t.Errorf("its ttl is %v", r.TTL)
		}
		for _, m := range w.masters {
			log := m.commands("")
			if len(log) < 2 || !strings.HasPrefix(log[0], "SET k t NX GET PX ") || log[1] != "extend k t " {
				t.Errorf("%s was told %q", m.name, log)
			}
		}
		w.want(w.acquire("k", "u", 0), quorum.Contended)
		w.want(w.release("k", "t"), quorum.Won)
		if s := w.engine.Status(); s.Decisions[quorum.Acquire][quorum.Won] != 1 || s.Decisions[quorum.Extend][quorum.Won] != 0 || s.OverMaxTTL != 2 || s.InFlight != 0 {
			t.Errorf("%+v", s)
		}
	})
}

// A ttl that is too long to be counted is taken as none is, and masters are told it, and tell it.
func TestLockOfManyYearsIsTakenAsOneWithoutTTL(t *testing.T) {
	const far = 7_000_000_000_000 // milliseconds, 222 years
	inWorld(t, 3, func(w *world) {
		w.want(w.ask(quorum.Request{Kind: quorum.Acquire, Key: "k", Token: "t", Far: far}), quorum.Won)
		w.settle()
		for _, m := range w.masters {
			log := m.commands("")
			if len(log) < 2 || !strings.HasPrefix(log[0], "SET k t NX GET PX 1517") || log[1] != "extend k t 7000000000000" {
				t.Errorf("%s was told %q", m.name, log)
			}
		}
		time.Sleep(time.Minute)
		r := w.read("k")
		if spent := far - r.Far; !r.Exists || r.TTL != quorum.NoTTL || spent < 59_000 || spent > 70_000 {
			t.Errorf("it is %+v", r)
		}
		w.want(w.acquire("k", "u", time.Minute), quorum.Contended)
		w.want(w.ask(quorum.Request{Kind: quorum.Acquire, Key: "k", Token: "u", Far: far}), quorum.Contended)
		w.want(w.extend("k", "t", time.Minute), quorum.Won)
		if r := w.read("k"); r.Far != 0 || r.TTL > time.Minute {
			t.Errorf("for a minute it is %+v", r)
		}
		// A time of day may be as far.
		w.want(w.ask(quorum.Request{Kind: quorum.Extend, Key: "k", Token: "t", At: time.Now().UnixMilli() + far}), quorum.Won)
		if r := w.read("k"); (r.Far-far > 5000) || far-r.Far > 5000 {
			t.Errorf("until then it is %+v", r)
		}
		w.want(w.release("k", "t"), quorum.Won)
		w.wantValues("k", "", "", "")
	})
}

func TestLockWithoutTTLWorksWithAMinorityDown(t *testing.T) {
	inWorld(t, 3, func(w *world) {
		w.masters[2].freeze()
		// By the time the lock is to live on, the third has its short expiry in its socket.
		w.each(func(m *fakeMaster) { m.set(func(m *fakeMaster) { m.lag = 2 * ms }) }, 1, 2)
		w.want(w.acquire("k", "t", 0), quorum.Won)
		time.Sleep(time.Minute)
		w.masters[2].unfreeze()
		time.Sleep(5 * time.Second) // what stood in its socket has the short expiry
		w.wantValues("k", "t", "t", "")
	})
}

// The second step fails: nothing is left behind, with or without expiry, also
// not on a master that was late with everything.
func TestLockWithoutTTLThatFailsLeavesNothingBehind(t *testing.T) {
	refusePersist := func(m *fakeMaster) {
		m.set(func(m *fakeMaster) {
			m.respond = func(args []string) string {
				if args[0] == "EVALSHA" && args[1] == extendScript.SHA {
					return "-OOM command not allowed when used memory > 'maxmemory'.\r\n"
				}
				return ""
			}
		})
	}
	for name, last := range map[string]func(*fakeMaster){
		"in time": func(*fakeMaster) {},
		"late":    func(m *fakeMaster) { m.set(func(m *fakeMaster) { m.delay = 150 * ms }) },
		"too late": func(m *fakeMaster) {
			m.set(func(m *fakeMaster) { m.delay = 300 * ms })
		},
		"not sent": func(m *fakeMaster) { m.set(func(m *fakeMaster) { m.lag = 270 * ms }) },
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, 3, func(w *world) {
				time.Sleep(100 * ms) // so that what is asked begins with a look at the masters' clocks, whoever was looked at as the world began
				w.each(refusePersist, 1, 2)
				last(w.masters[2])
				w.want(w.acquire("k", "t", 0), quorum.Unavailable)
				time.Sleep(900 * ms) // less than the short expiry
				w.wantValues("k", "", "", "")
				if s := w.engine.Status(); s.InFlight != 0 || s.Undos < 2 {
					t.Errorf("%d undos, %d in flight", s.Undos, s.InFlight)
				}
			})
		})
	}
}

// That a link is open is never taken for as long as the one before it was: what is owed to its
// master would be looked at before it is paid.
func TestLinkIsNoOlderThanItIs(t *testing.T) {
	l := lane{db: &database{engine: new(Engine)}, watch: new(clock.Watch), nonce: "n", sight: marker.Sight{Reached: true, Nonce: "n"}}
	begun := time.Now()
	after := func(links uint64) time.Time { return begun.Add(time.Duration(links) * time.Hour) }
	done := make(chan struct{})
	go func() {
		defer close(done)
		for range 20_000 {
			l.mu.Lock()
			l.links, l.open = l.links+1, false
			l.mu.Unlock()
			l.mu.Lock()
			l.opened, l.open = after(l.links), true
			l.mu.Unlock()
		}
	}()
	for {
		if _, link, since, votes := l.onLink(); votes && !since.Equal(after(link)) {
			t.Fatalf("link %d is open since that one was that was opened after %v", link, since.Sub(begun))
		}
		select {
		case <-done:
			return
		default:
		}
	}
}
