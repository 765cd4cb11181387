package engine

import (
	"context"
	"maps"
	"math/rand/v2"
	"net"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"redlock-proxy/quorum"
	"redlock-proxy/quorum/marker"
	"redlock-proxy/quorum/master"
)

// The log is asked for in another database while database 0's connection is not there: its
// password is another by now.
func TestLogThatIsSwitchedOffWhileDatabase0CannotBeReachedExcusesNobody(t *testing.T) {
	inDurableWorld(t, 3, func(w *world) {
		m := w.masters[0]
		w.want(w.asked(5, quorum.Request{Kind: quorum.Acquire, Key: "before", Token: "a", TTL: time.Second}), quorum.Won)
		w.settle()
		time.Sleep(3 * w.cfg.ProbeInterval)
		m.closeDatabase0()
		time.Sleep(3 * w.cfg.ProbeInterval)
		m.configure(nil)
		time.Sleep(5 * w.cfg.ProbeInterval)
		w.down(3)
		w.want(w.asked(5, quorum.Request{Kind: quorum.Acquire, Key: "k", Token: "a", TTL: time.Hour}), quorum.Won)
		w.settle()
		w.up(3)
		time.Sleep(5 * w.cfg.ProbeInterval)
		m.restartFromLog()
		m.rejoin()
		w.neverIn(5, "k")
	})
}

// neverIn has a second client ask for what another holds in a database, for a while.
func (w *world) neverIn(db int, key string) {
	w.t.Helper()
	for range 100 {
		if r := w.asked(db, quorum.Request{Kind: quorum.Acquire, Key: key, Token: "b", TTL: time.Minute}); r.Decision == quorum.Won {
			w.t.Fatalf("a second holder in database %d: m1 bears %s", db, w.masters[0].markerIn(db))
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// While a master is quarantined in database 0 it may vote in others.
func TestLogThatIsSwitchedOffInAQuarantineOfDatabase0ExcusesNobody(t *testing.T) {
	notInstrumented(t)
	for delay := range 20 {
		inDurableWorld(t, 3, func(w *world) {
			m := w.masters[0]
			w.want(w.asked(5, quorum.Request{Kind: quorum.Acquire, Key: "before", Token: "a", TTL: time.Second}), quorum.Won)
			w.settle()
			time.Sleep(3 * w.cfg.ProbeInterval)
			w.down(3)
			m.set(func(m *fakeMaster) { m.in(0, func() { clear(m.keys) }) }) // FLUSHDB by hand
			time.Sleep(5 * w.cfg.ProbeInterval)
			m.configure(nil)
			time.Sleep(5 * w.cfg.ProbeInterval)
			if told := w.masters[1].markerIn(0); !tellsOfNoLog(t, told, "m1") {
				t.Errorf("nobody was told: %s", told)
			}
			w.want(w.asked(5, quorum.Request{Kind: quorum.Acquire, Key: "k", Token: "a", TTL: time.Hour}), quorum.Won)
			w.settle()
			m.cut()
			w.up(3)
			time.Sleep(2 * w.cfg.ProbeInterval)
			m.restartFromLog()
			m.cut()
			time.Sleep(time.Duration(delay) * 50 * ms)
			m.rejoin()
			w.neverIn(5, "k")
		})
	}
}

// tellsOfNoLog tells that by a marker's text a master writes no log.
func tellsOfNoLog(t *testing.T, text, name string) bool {
	m, err := marker.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return m.Others[name] == marker.NoLog
}

// connected are the connections that a master has.
func (m *fakeMaster) connected() (ids []int64) {
	m.locked(func() { ids = slices.Collect(maps.Keys(m.conns)) })
	return ids
}

// serveLater has a master's connections, but for some, be served when until is closed.
func (m *fakeMaster) serveLater(until chan struct{}, but []int64) {
	m.locked(func() {
		m.behind = make(map[int64]chan struct{})
		for id := range m.conns {
			if !slices.Contains(but, id) {
				m.behind[id] = until
			}
		}
	})
}

// hangsWhile has nobody reach a master, nor be refused by it, while hung is set.
func hangsWhile(hung *atomic.Bool, m *master.Master) {
	dial := m.Dial
	m.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
		if hung.Load() {
			<-ctx.Done()
			return nil, ctx.Err()
		}
		return dial(ctx, network, address)
	}
}

// One proxy looks seldom, and has not noticed that it has lost its link to a master, when another
// one tells the others that this writes no log any more.
func TestProxyThatHasLostSightOfAMasterDoesNotUntellThatItsLogIsOff(t *testing.T) {
	for phase := range 6 {
		rnd := rand.New(rand.NewPCG(uint64(phase), 7))
		inDurableWorld(t, 3, func(w *world) {
			var hung atomic.Bool
			m := w.masters[0]
			w.want(w.acquire("before", "a", time.Second), quorum.Won)
			before := m.connected()
			cfg := w.cfg
			cfg.Masters = append([]master.Master(nil), cfg.Masters...)
			cfg.ProbeInterval = 5 * time.Second
			hangsWhile(&hung, &cfg.Masters[0])
			time.Sleep(time.Duration(rnd.IntN(2000)) * ms)
			for _, m := range w.masters {
				m.set(func(m *fakeMaster) { m.lag = time.Duration(rnd.IntN(40)) * ms })
			}
			w.start(cfg)
			time.Sleep(5*w.cfg.ProbeInterval + time.Duration(rnd.IntN(5000))*ms + 20*time.Second)
			hung.Store(true)
			until := make(chan struct{})
			defer close(until)
			m.serveLater(until, before)
			for _, o := range w.masters[1:] {
				tellingInfo(o, "aof_rewrites:1\r\n")
			}
			m.configure(nil)
			told := func() bool {
				return tellsOfNoLog(t, w.masters[1].markerIn(0), "m1") && tellsOfNoLog(t, w.masters[2].markerIn(0), "m1")
			}
			for range 60 {
				if time.Sleep(50 * ms); told() {
					break
				}
			}
			if !told() {
				return
			}
			time.Sleep(30 * time.Second)
			if told() {
				return
			}
			if tellsOfNoLog(t, w.masters[1].markerIn(0), "m1") || tellsOfNoLog(t, w.masters[2].markerIn(0), "m1") {
				return // one of them only
			}
			w.down(3)
			w.want(w.acquire("k", "a", time.Hour), quorum.Won)
			w.settle()
			m.cut()
			time.Sleep(5 * time.Second)
			w.up(3)
			time.Sleep(10 * time.Second)
			m.restartFromLog()
			w.neverIn(0, "k")
		})
	}
}

// Database 0 of no master can be reached, so that nobody can be told.
func TestLogThatAProxyAloneHasSeenSwitchedOffExcusesNobody(t *testing.T) {
	inDurableWorld(t, 3, func(w *world) {
		w.want(w.asked(5, quorum.Request{Kind: quorum.Acquire, Key: "before", Token: "a", TTL: time.Second}), quorum.Won)
		w.settle()
		time.Sleep(3 * w.cfg.ProbeInterval)
		for _, m := range w.masters {
			m.closeDatabase0()
		}
		m := w.masters[0]
		time.Sleep(3 * w.cfg.ProbeInterval)
		m.configure(nil)
		time.Sleep(20 * w.cfg.ProbeInterval)
		m3 := w.masters[2]
		m3.cut()
		time.Sleep(2 * time.Second)
		w.want(w.asked(5, quorum.Request{Kind: quorum.Acquire, Key: "k", Token: "a", TTL: time.Hour}), quorum.Won)
		w.settle()
		m.restartFromLog()
		for _, m := range w.masters {
			m.rejoin()
		}
		w.neverIn(5, "k")
	})
}

// A log is written anew for a moment, while database 0's link is made again.
func TestThatALogIsThereAgainIsTold(t *testing.T) {
	notInstrumented(t)
	for phase := range 60 {
		inDurableWorld(t, 3, func(w *world) {
			m := w.masters[0]
			w.want(w.asked(5, quorum.Request{Kind: quorum.Acquire, Key: "before", Token: "a", TTL: time.Second}), quorum.Won)
			w.settle()
			time.Sleep(3*w.cfg.ProbeInterval + time.Duration(phase)*20*ms)
			m.set(func(m *fakeMaster) { m.lag = 40 * ms })
			tellingInfo(m, "aof_rewrite_in_progress:1\r\naof_rewrites:1\r\n")
			m.closeDatabase0()
			m.rejoin() // at once
			time.Sleep(300 * ms)
			m.set(func(m *fakeMaster) { m.lag = 0 })
			tellingInfo(m, "aof_rewrites:1\r\n")
			time.Sleep(time.Minute)
			l := w.engine.zero.lanes[0]
			l.mu.Lock()
			defer l.mu.Unlock()
			if l.unlogged {
				t.Errorf("phase %d: m1 bears %s, m2 is told %s", phase, m.markerIn(0), w.masters[1].markerIn(0))
			}
		})
	}
}
