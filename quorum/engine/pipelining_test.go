package engine

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"redlock-proxy/quorum"
	"redlock-proxy/quorum/messages"
)

// inFarWorld has every master be 5 ms away, one way, and the lanes know it.
func inFarWorld(t *testing.T, f func(w *world)) {
	inWorld(t, 3, func(w *world) {
		w.each(func(m *fakeMaster) { m.far = 5 * ms; m.cut(); m.rejoin() }, 1, 2, 3)
		time.Sleep(2 * w.cfg.ProbeInterval) // a link that is idle may not be known to have ended before it is probed
		for range minTrips {
			w.want(w.acquire("k", "t", time.Minute), quorum.Won)
			w.want(w.release("k", "t"), quorum.Won)
		}
		time.Sleep(100 * ms)
		f(w)
	})
}

// timed is a request that was put.
type timed struct {
	*waiter
	put time.Time
}

func (w *world) timed(r quorum.Request) timed {
	defer time.Sleep(ms)
	return timed{w.put(r), time.Now()}
}

// want has a request be won after so many round trips, or a little more.
func (r timed) want(w *world, trips int) {
	w.t.Helper()
	w.want(r.wait(w.t), quorum.Won)
	least := time.Duration(trips) * 10 * ms
	if took := time.Since(r.put); took < least || took > least+2*ms {
		w.t.Errorf("it took %v, want %v", took, least)
	}
}

func TestWhatIsAskedOfAFarMasterWaitsForNoOtherBatch(t *testing.T) {
	inFarWorld(t, func(w *world) {
		var asked []timed
		for i := range 5 {
			asked = append(asked, w.timed(quorum.Request{Kind: quorum.Acquire, Key: fmt.Sprint("k", i), Token: "t", TTL: time.Minute}))
		}
		for _, m := range w.engine.Status().Masters {
			if m.InBatch != len(asked) {
				t.Errorf("%d are on their way to %s", m.InBatch, m.Name)
			}
		}
		for _, r := range asked {
			r.want(w, 1)
		}
	})
}

// Of more batches than may be on their way at once, the last ones gather what is asked
// until one is answered.
func TestBatchesToAFarMasterAreBounded(t *testing.T) {
	inFarWorld(t, func(w *world) {
		var asked []timed
		for i := range 3 * maxPipelined {
			r := quorum.Request{Kind: quorum.Acquire, Key: fmt.Sprint("k", i), Token: "t", TTL: time.Minute}
			asked = append(asked, timed{w.put(r), time.Now()})
			time.Sleep(ms / 10)
		}
		for i, r := range asked {
			trips := 1
			if i >= maxPipelined {
				trips = 2
			}
			if w.want(r.wait(t), quorum.Won); time.Since(r.put) > time.Duration(trips)*10*ms {
				t.Errorf("%d took %v", i, time.Since(r.put))
			}
		}
	})
}

func TestWhatIsAboutAKeyOnItsWayToAFarMasterWaits(t *testing.T) {
	inFarWorld(t, func(w *world) {
		won := w.timed(quorum.Request{Kind: quorum.Acquire, Key: "k", Token: "t", TTL: time.Minute})
		read := w.timed(quorum.Request{Kind: quorum.Read, Key: "k"})
		other := w.timed(quorum.Request{Kind: quorum.Acquire, Key: "k2", Token: "t", TTL: time.Minute})
		won.want(w, 1)
		other.want(w, 1)
		if r := read.wait(t); r.Value != "t" {
			t.Errorf("read %+v", r)
		}
		if took := time.Since(read.put); took != 19*ms {
			t.Errorf("the read took %v", took)
		}
	})
}

func TestASurveyOfFarMastersGoesAlone(t *testing.T) {
	inFarWorld(t, func(w *world) {
		before := w.timed(quorum.Request{Kind: quorum.Acquire, Key: "a", Token: "t", TTL: time.Minute})
		counted := w.timed(quorum.Request{Kind: quorum.Survey, Args: []string{"DBSIZE"}})
		after := w.timed(quorum.Request{Kind: quorum.Acquire, Key: "b", Token: "t", TTL: time.Minute})
		before.want(w, 1)
		for _, a := range counted.wait(t).Answers {
			if a.Reply.Int != 2 { // a, and the marker
				t.Errorf("counted %+v", a)
			}
		}
		w.want(after.wait(t), quorum.Won)
		if took := time.Since(after.put); took != 18*ms {
			t.Errorf("what was asked after it took %v", took)
		}
	})
}

// Several batches are on their way when the master hangs, or the connection breaks.
func TestAFarMasterThatIsLostCostsNobodyMoreThanANearOne(t *testing.T) {
	for name, loses := range map[string]func(*fakeMaster){
		"frozen": (*fakeMaster).freeze, "cut off": (*fakeMaster).cut, "severed": (*fakeMaster).sever,
	} {
		t.Run(name, func(t *testing.T) {
			inFarWorld(t, func(w *world) {
				var asked []timed
				for i := range 2 * maxPipelined {
					if i == 3 {
						loses(w.masters[2])
					}
					asked = append(asked, w.timed(quorum.Request{Kind: quorum.Acquire, Key: fmt.Sprint("k", i), Token: "t", TTL: time.Minute}))
				}
				for _, r := range asked {
					w.want(r.wait(t), quorum.Won)
				}
				time.Sleep(2 * w.cfg.MasterTimeout)
				if s := w.state(3); s.State != quorum.Down && name != "severed" || s.InBatch != 0 || s.Queue != 0 {
					t.Errorf("%+v", s)
				}
				for i := range asked {
					w.want(w.release(fmt.Sprint("k", i), "t"), quorum.Won)
				}
				w.masters[2].unfreeze()
				w.masters[2].rejoin()
				w.votesWithin(3, 3*time.Second)
				time.Sleep(100 * ms)
				for i := range asked {
					if name != "frozen" { // what was on its way is carried out at the thaw
						w.wantValues(fmt.Sprint("k", i), "", "", "")
					}
				}
				if s := w.engine.Status(); s.InFlight != 0 {
					t.Errorf("%d are in flight", s.InFlight)
				}
			})
		})
	}
}

// A link that was far once has no deadlines of rueidis's any more, for whatever it is asked.
func TestAMasterThatWasFarAndHangsIsDown(t *testing.T) {
	for name, hangs := range map[string]func(w *world, m *fakeMaster){
		"near by now": func(w *world, m *fakeMaster) {
			w.each(func(m *fakeMaster) { m.set(func(m *fakeMaster) { m.lag = 0 }) }, 1, 2, 3)
			time.Sleep(2 * w.cfg.ProbeInterval)
			m.freeze()
		},
		"asked by itself": func(w *world, m *fakeMaster) {
			m.set(func(m *fakeMaster) {
				m.respond = func(args []string) string {
					if args[0] == "CONFIG" && m.thaw == nil {
						m.thaw = make(chan struct{})
					}
					return ""
				}
			})
			time.Sleep(2 * w.cfg.ProbeInterval)
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, 3)
				w.each(func(m *fakeMaster) { m.settings, m.lag = durableSettings, 5*ms }, 1, 2, 3)
				w.engine = w.start(w.cfg)
				for range minTrips + 1 {
					w.want(w.acquire("k", "t", time.Minute), quorum.Won)
					w.want(w.release("k", "t"), quorum.Won)
				}
				m := w.masters[2]
				hangs(w, m)
				w.want(w.acquire("k", "t", time.Minute), quorum.Won)
				time.Sleep(w.cfg.ProbeInterval + w.cfg.MasterTimeout + 10*ms)
				if s := w.state(3); s.State != quorum.Down || s.Reason != "no answer in time" {
					t.Errorf("it is %v: %s", s.State, s.Reason)
				}
				m.set(func(m *fakeMaster) { m.respond = nil })
				m.unfreeze()
				w.votesWithin(3, 3*time.Second)
			})
		})
	}
}

// Messages reach a far master in the order in which they were published.
func TestMessagesToAFarMasterKeepTheirOrder(t *testing.T) {
	inFarWorld(t, func(w *world) {
		m := w.masters[0]
		m.set(func(m *fakeMaster) { m.log = nil })
		for i := range 20 {
			w.engine.Publish("c", fmt.Sprint("message ", i))
			time.Sleep(ms)
		}
		time.Sleep(100 * ms)
		got := m.commands("PUBLISH")
		if len(got) != 20 {
			t.Fatalf("%d messages: %q", len(got), got)
		}
		for i, command := range got {
			var sender string
			var number, length int
			fmt.Sscanf(command, "PUBLISH "+messages.Channel+" 1 %s %d %d", &sender, &number, &length)
			if number != i+1 {
				t.Errorf("%d is %q", i, command)
			}
		}
	})
}
