package engine

import (
	"context"
	"errors"
	"net"
	"slices"
	"sync"
	"testing"
	"time"

	"redlock-proxy/quorum"
)

// A jump of a clock is excused by the loss that tells of it, and by no other.
func TestLossThatIsOverExcusesNoClockThatIsSetAfterwards(t *testing.T) {
	for name, ends := range map[string]bool{"the proxy that told of it ends": true, "it is cut off": false} {
		t.Run(name, func(t *testing.T) {
			var p, q route
			inWorld(t, 3, func(w *world) {
				first := w.engine
				cfg := w.cfg
				cfg.Masters = slices.Clone(cfg.Masters)
				cfg.Masters[0] = w.masters[0].master()
				q.over(&cfg, 1)
				second := w.start(cfg)
				time.Sleep(2 * w.cfg.ProbeInterval)
				p.set(true)
				time.Sleep(2 * w.cfg.ProbeInterval)
				w.engine = second
				w.masters[0].restartWith(w.masters[0].copy())
				w.noticed(1)
				w.votesWithin(1, 3*time.Second)
				time.Sleep(10 * time.Second)
				w.down(3)
				w.want(w.acquire("k", "a", time.Minute), quorum.Won) // on 1 and 2
				w.settle()
				w.up(3)
				if ends {
					w.stop(second)
				} else {
					q.set(true)
				}
				time.Sleep(2 * w.cfg.ProbeInterval)
				w.masters[0].set(func(m *fakeMaster) { m.jumped += 2 * time.Minute })
				time.Sleep(5 * w.cfg.ProbeInterval)
				w.engine = first
				p.set(false)
				time.Sleep(5 * w.cfg.ProbeInterval)
				w.down(2)
				if r := w.acquire("k", "b", time.Minute); r.Decision == quorum.Won {
					t.Errorf("a second holder, master 1 is %v", w.state(1).State)
				}
			}, func(cfg *Config) { p.over(cfg, 1) })
		})
	}
}

// route is an engine's way to a master, which can be cut.
type route struct {
	mu    sync.Mutex
	cut   bool
	conns []net.Conn
}

// over has the way of a configuration to a master, counted from 1, be this one.
func (r *route) over(cfg *Config, number int) {
	cfg.Masters = slices.Clone(cfg.Masters)
	m := &cfg.Masters[number-1]
	dial := m.Dial
	m.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
		r.mu.Lock()
		defer r.mu.Unlock()
		if r.cut {
			return nil, errors.New("no route to host")
		}
		c, err := dial(ctx, network, address)
		if err == nil {
			r.conns = append(r.conns, c)
		}
		return c, err
	}
}

func (r *route) set(cut bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.cut = cut; cut {
		for _, c := range r.conns {
			c.Close()
		}
		r.conns = nil
	}
}

// The marker of database 0 is gone where nobody votes there, and the master's clock is set.
// Another database is opened when it is marked again, since others vote by then, or none does.
func TestJumpOfAMasterWithoutMarkerIsToldInAllDatabases(t *testing.T) {
	for name, marked := range map[string]bool{"others vote": true, "none does": false} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, 3, func(w *world) {
				first := w.engine
				w.engine = w.start(w.cfg)
				w.want(w.asked(5, quorum.Request{Kind: quorum.Acquire, Key: "other", Token: "a", TTL: time.Minute}), quorum.Won)
				w.down(1)
				w.want(w.asked(5, quorum.Request{Kind: quorum.Acquire, Key: "k", Token: "a", TTL: 5 * time.Minute}), quorum.Won) // on 2 and 3
				w.settle()
				w.stop(w.engine)
				w.engine = first
				flushed := []int{2, 3}
				if !marked {
					flushed = append(flushed, 1)
				}
				w.each(func(m *fakeMaster) { m.set(func(m *fakeMaster) { clear(m.keys) }) }, flushed...) // FLUSHDB by hand
				time.Sleep(10 * time.Second)
				before := w.noncesOf(2)[5]
				w.masters[1].set(func(m *fakeMaster) { m.jumped += time.Hour })
				time.Sleep(5 * w.cfg.ProbeInterval)
				w.up(1)
				time.Sleep(5 * w.cfg.ProbeInterval)
				if w.noncesOf(2)[5] == before {
					t.Error("its marker in database 5 is as before")
				}
				w.down(3)
				if r := w.asked(5, quorum.Request{Kind: quorum.Acquire, Key: "k", Token: "b", TTL: time.Second}); r.Decision == quorum.Won {
					t.Error("a second holder")
				}
			})
		})
	}
}
