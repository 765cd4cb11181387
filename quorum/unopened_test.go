package quorum

import (
	"testing"
	"time"
)

// Each database bears a marker from the first, used or not. So what is lost of one while
// nobody has it open is found out by whoever opens it next:
//
//	1: A wins k in database 5, on masters 1 and 2; its proxy ends
//	2: master 1 is flushed; who finds that out has opened database 0 alone
//	3: master 1 votes again, as it has caught up there
//	4: B asks for k in database 5
//
// Where so many have lost it that the rest cannot tell who holds what, nobody is taken for new.
func TestDatabaseThatIsOpenedKnowsWhoLostItWhileNobodyLooked(t *testing.T) {
	flushed := func(m *fakeMaster) { m.in(5, func() { clear(m.keys) }) } // FLUSHDB by hand
	for name, c := range map[string]struct {
		lose    func(*fakeMaster)
		masters []int // that lose it, in turn
		atOnce  bool
	}{
		"FLUSHALL":                     {forgetAll, []int{1}, false},
		"FLUSHALL twice":               {forgetAll, []int{1, 1}, false},
		"FLUSHDB":                      {flushed, []int{1}, false},
		"FLUSHALL at a quorum":         {forgetAll, []int{1, 2}, false},
		"FLUSHDB at a quorum":          {flushed, []int{1, 2}, false},
		"FLUSHDB at all":               {flushed, []int{1, 2, 3}, false},
		"FLUSHALL at all":              {forgetAll, []int{1, 2, 3}, false},
		"FLUSHDB at all at once":       {flushed, []int{1, 2, 3}, true},
		"FLUSHALL at all at once":      {forgetAll, []int{1, 2, 3}, true},
		"an empty process":             {nil, []int{1}, false},
		"an empty process at a quorum": {nil, []int{1, 2}, false},
	} {
		for whose, later := range map[string]bool{"a proxy that was there": false, "one that begins then": true} {
			t.Run(name+", asked of "+whose, func(t *testing.T) {
				inWorld(t, 3, func(w *world) {
					w.down(3)
					w.want(w.asked(5, Request{Kind: Acquire, Key: "k", Token: "a", TTL: w.cfg.MaxTTL}), Won)
					ends := time.Now().Add(w.cfg.MaxTTL)
					w.up(3)
					w.stop(w.engine)
					w.engine = w.start(w.cfg)
					for _, n := range c.masters {
						if c.lose == nil {
							w.masters[n-1].restartBlank()
						} else {
							w.masters[n-1].set(c.lose)
						}
						if !c.atOnce {
							time.Sleep(2 * w.cfg.ProbeInterval)
							w.wantState(n, Voting, "")
						}
					}
					if later {
						w.launch(w.cfg)
					}
					for r := (Result{}); r.Decision != Won; time.Sleep(w.cfg.ProbeInterval / 4) {
						r = w.asked(5, Request{Kind: Acquire, Key: "k", Token: "b", TTL: time.Second})
						if r.Decision == Won && time.Now().Before(ends) {
							t.Errorf("a second holder %v before the first one's time is over", time.Until(ends))
						}
						if time.Since(ends) > 2*w.cfg.firstTime() {
							t.Fatalf("nobody is given it any more: %+v", r)
						}
					}
				}, briefTTL)
			})
		}
	}
}

// The time of a first start is that of what was written in its one step. What has voted in a
// database since, and was flushed there, waits for its own.
func TestFirstStartThatIsOverAdmitsNobodyWhoWasFlushedSince(t *testing.T) {
	inBlank(t, 3, func(w *world) {
		w.launch(w.cfg)
		w.wantMarked(w.engine, time.Minute)
		disputed := func(db int) {
			for i, m := range w.masters[:2] {
				m.locked(func() { m.in(db, func() { m.keys["x"] = fakeKey{value: m.name + string(rune('a'+i))} }) })
			}
		}
		disputed(0) // so that master 3 has to wait there
		w.want(w.asked(5, Request{Kind: Acquire, Key: "k", Token: "a", TTL: time.Second}), Unavailable)
		w.order(w.engine.Admit("m1"))
		w.order(w.engine.Admit("m2"))
		time.Sleep(3 * w.cfg.ProbeInterval)
		if w.state(3).State == Voting {
			t.Fatal("master 3 votes in database 0 already")
		}
		first := w.noncesOf(3)[0]
		w.down(2)
		w.want(w.asked(5, Request{Kind: Acquire, Key: "k", Token: "a", TTL: w.cfg.MaxTTL}), Won) // on 1 and 3
		ends := time.Now().Add(w.cfg.MaxTTL)
		w.settle()
		w.up(2)
		disputed(5)
		w.masters[2].locked(func() { w.masters[2].in(5, func() { clear(w.masters[2].keys) }) }) // FLUSHDB by hand
		for w.noncesOf(3)[0] == first {
			time.Sleep(w.cfg.ProbeInterval / 4)
		}
		if !time.Now().Before(ends) {
			t.Fatal("the first start is over too late")
		}
		w.down(1)
		if r := w.asked(5, Request{Kind: Acquire, Key: "k", Token: "b", TTL: time.Second}); r.Decision == Won {
			t.Errorf("a second holder: %v", w.noncesOf(3))
		}
	})
}
