package engine

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"redlock-proxy/quorum"
)

// lone is the configuration of a proxy that is given one of the masters.
func (w *world) lone(number int) Config {
	cfg := w.cfg
	cfg.Masters = cfg.Masters[number-1 : number]
	return cfg
}

func TestLoneProxyDoesNotServeWithAMasterOfASet(t *testing.T) {
	inWorld(t, 3, func(w *world) {
		e := w.start(w.lone(3))
		err := e.Refusal()
		for _, want := range []string{"master m3", "masters m1 m2 m3", "name all masters of the set", "delete the key " + quorum.MarkerKey} {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("it is told %v, want %s", err, want)
			}
		}
		before := w.masters[2].value(quorum.MarkerKey)
		w.engine = e
		w.want(w.acquire("k", "a", time.Second), quorum.Unavailable)
		if after := w.masters[2].value(quorum.MarkerKey); after != before {
			t.Errorf("the marker was overwritten with %s", after)
		}
	})
}

func TestLoneProxyThatMeetsAMarkerGrantsNothingMore(t *testing.T) {
	for name, meet := range map[string]func(*world, *fakeMaster){
		"in one batch with what is asked": func(w *world, m *fakeMaster) {
			once(m, "SET k b", func(m *fakeMaster) { m.keys[quorum.MarkerKey] = fakeKey{value: testMarker().String()} })
		},
		"in another database": func(w *world, m *fakeMaster) {
			m.locked(func() { m.in(5, func() { m.keys[quorum.MarkerKey] = fakeKey{value: testMarker().String()} }) })
			time.Sleep(w.cfg.ProbeInterval + w.cfg.ProbeInterval/2)
		},
		"that is none": func(w *world, m *fakeMaster) {
			m.put(quorum.MarkerKey, "hello", 0)
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, 1)
				w.engine = New(w.cfg, testLog())
				w.engines = append(w.engines, w.engine)
				<-w.engine.Tried()
				if err := w.engine.Open(5); err != nil {
					t.Fatal(err)
				}
				w.want(w.acquire("k", "a", time.Second), quorum.Won)
				w.want(w.release("k", "a"), quorum.Won)
				m := w.masters[0]
				meet(w, m)
				w.want(w.acquire("k", "b", time.Second), quorum.Unavailable)
				// The marker goes away: what it stood for may go on.
				m.locked(m.flushAll)
				time.Sleep(2 * w.cfg.ProbeInterval)
				for _, db := range []int{0, 5} {
					w.want(w.ask(quorum.Request{Kind: quorum.Acquire, DB: db, Key: "k", Token: "b", TTL: time.Second}), quorum.Unavailable)
				}
				if err := w.engine.Refusal(); err == nil || !strings.Contains(err.Error(), "bears") {
					t.Errorf("it is told %v", err)
				}
				if why := w.acquire("k", "b", time.Second).Why; !strings.HasPrefix(why, "nothing is granted until this proxy is restarted: ") {
					t.Errorf("NOQUORUM tells %q", why)
				}
				before := m.dialled()
				time.Sleep(time.Minute)
				if n := m.dialled() - before; n > 2*8 {
					t.Errorf("it was dialled %d times in a minute", n)
				}
				w.engine = New(w.cfg, testLog())
				w.engines = append(w.engines, w.engine)
				<-w.engine.Tried()
				w.want(w.acquire("k", "b", time.Second), quorum.Won)
			})
		})
	}
}
