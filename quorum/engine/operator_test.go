package engine

import (
	"bytes"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/go-hclog"

	"redlock-proxy/quorum"
	"redlock-proxy/quorum/marker"
)

// logged is a log that a test reads.
type logged struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *logged) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(b)
}

// lines are those that hold the text.
func (l *logged) lines(text string) (found []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for line := range strings.SplitSeq(l.text.String(), "\n") {
		if strings.Contains(line, text) {
			found = append(found, line)
		}
	}
	return found
}

// operated runs f with an engine over 3 masters whose log can be read.
func operated(t *testing.T, f func(w *world, log *logged)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w, log := newWorld(t, 3), &logged{}
		w.cfg.MaxTTL = 10 * time.Second
		w.bootstrap(w.cfg)
		w.engine = New(w.cfg, hclog.New(&hclog.LoggerOptions{Output: log, Level: hclog.Info}))
		w.engines = append(w.engines, w.engine)
		<-w.engine.Tried()
		synctest.Wait()
		f(w, log)
	})
}

func (w *world) order(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
	synctest.Wait()
}

// standsAs fails the test if a master, counted from 1, is in another state or for
// another reason.
func (w *world) standsAs(number int, s quorum.State, reason string) {
	w.t.Helper()
	synctest.Wait()
	got := w.engine.Status().Masters[number-1]
	if got.State != s || !strings.Contains(got.Reason, reason) {
		w.t.Errorf("master %d is %v (%s), want %v (%s)", number, got.State, got.Reason, s, reason)
	}
}

func TestDrainedMasterIsAskedForNothingButToFreeLocks(t *testing.T) {
	operated(t, func(w *world, log *logged) {
		for _, m := range w.masters {
			m.put("old", "t", time.Minute)
			m.put("gone", "t", time.Minute)
		}
		w.order(w.engine.Drain("m1", true))
		w.standsAs(1, quorum.Drained, "by the operator")
		w.want(w.acquire("k", "t", time.Minute), quorum.Won)
		w.want(w.extend("k", "t", time.Minute), quorum.Won)
		w.want(w.read("k"), quorum.Won)
		w.settle()
		w.wantValues("k", "", "t", "t")
		w.want(w.release("old", "t"), quorum.Won)
		w.want(w.ask(quorum.Request{Kind: quorum.Remove, Key: "gone"}), quorum.Won)
		w.settle()
		w.wantValues("old", "", "", "")
		w.wantValues("gone", "", "", "")
		if s := w.engine.Status().Masters[0]; s.Granted+s.Refused > 2 || s.Unknown > 0 || s.Withheld != 3 {
			t.Errorf("%+v", s)
		}
		if !w.engine.Ready() {
			t.Error("two of three masters are no quorum")
		}
		w.order(w.engine.Drain("m2", true))
		if w.engine.Ready() {
			t.Error("one of three masters is a quorum")
		}
		w.want(w.acquire("k2", "t", time.Minute), quorum.Unavailable)
		w.order(w.engine.Drain("m2", true)) // again
		w.order(w.engine.Resume("m1"))
		w.standsAs(1, quorum.Voting, "")
		w.want(w.acquire("k3", "t", time.Minute), quorum.Won)
		w.settle()
		w.wantValues("k3", "t", "", "t")
	})
}

func TestAbsenceOfDrainedMasterIsNoFault(t *testing.T) {
	operated(t, func(w *world, log *logged) {
		w.order(w.engine.Drain("m1", true))
		w.down(1)
		w.standsAs(1, quorum.Drained, "by the operator; it is down: connection refused")
		w.want(w.acquire("k", "t", 5*time.Second), quorum.Won)
		w.want(w.release("k", "t"), quorum.Won)
		w.settle()
		if s := w.engine.Status(); s.Masters[0].Debts != 1 || s.Masters[0].Unasked != 1 || s.Masters[0].Withheld != 1 {
			t.Errorf("a release that it could not be told of is owed: %+v", s.Masters[0])
		}
		w.masters[0].put("k", "t", 5*time.Second)
		w.up(1)
		w.standsAs(1, quorum.Drained, "by the operator")
		w.wantValues("k", "", "", "")
		if found := log.lines("master is down"); found != nil {
			t.Errorf("it was logged: %q", found)
		}
		w.down(1)
		w.order(w.engine.Resume("m1"))
		w.down(1)
		w.standsAs(1, quorum.Down, "connection refused")
		if found := log.lines("master is down"); len(found) != 1 {
			t.Errorf("that it is down was logged %d times: %q", len(found), found)
		}
	})
}

func TestDrainedMasterThatForgotIsQuarantinedAllTheSame(t *testing.T) {
	operated(t, func(w *world, log *logged) {
		w.order(w.engine.Drain("m2", true))
		w.down(1)
		w.masters[1].restartBlank()
		time.Sleep(w.cfg.ProbeInterval)
		w.standsAs(2, quorum.Drained, "by the operator; it is quarantined: its marker is gone")
		w.order(w.engine.Resume("m2"))
		w.standsAs(2, quorum.Quarantined, "its marker is gone")
	})
}

func TestOrderIsAboutAllDatabases(t *testing.T) {
	operated(t, func(w *world, log *logged) {
		wants := func(db int, values ...string) {
			t.Helper()
			w.want(w.ask(quorum.Request{Kind: quorum.Acquire, DB: db, Key: "k", Token: "t", TTL: time.Minute}), quorum.Won)
			w.settle()
			for i, m := range w.masters {
				if v := m.copy()[db]["k"].value; v != values[i] {
					t.Errorf("%s holds %q in database %d, want %q", m.name, v, db, values[i])
				}
			}
			w.want(w.ask(quorum.Request{Kind: quorum.Release, DB: db, Key: "k", Token: "t"}), quorum.Won)
		}
		w.order(w.engine.Open(3))
		wants(3, "t", "t", "t")
		w.order(w.engine.Drain("m1", true))
		wants(3, "", "t", "t")
		w.order(w.engine.Open(4)) // opened under the order
		wants(4, "", "t", "t")
		w.order(w.engine.Resume("m1"))
		for _, db := range []int{0, 3, 4} {
			wants(db, "t", "t", "t")
		}
	})
}

func TestMasterIsAdmittedByHand(t *testing.T) {
	operated(t, func(w *world, log *logged) {
		w.order(w.engine.Open(3))
		w.down(1) // so that too few are left to catch up from
		w.masters[1].restartBlank()
		time.Sleep(w.cfg.ProbeInterval)
		w.standsAs(2, quorum.Quarantined, "its marker is gone")
		s := w.engine.Status()
		if left := s.Masters[1].Left; left <= 8*time.Second || left > w.cfg.QuarantineTime() {
			t.Errorf("it lasts another %v", left)
		}
		if s.Quarantined != 2 || s.Quarantines < 2 { // in databases 0 and 3
			t.Errorf("%d of %d quarantines last", s.Quarantined, s.Quarantines)
		}
		w.want(w.acquire("k", "t", time.Second), quorum.Unavailable)
		w.order(w.engine.Admit("m2"))
		time.Sleep(w.cfg.ProbeInterval)
		w.standsAs(2, quorum.Voting, "")
		for _, db := range []int{0, 3} {
			w.want(w.ask(quorum.Request{Kind: quorum.Acquire, DB: db, Key: "k2", Token: "t", TTL: time.Second}), quorum.Won)
			time.Sleep(2 * time.Second)
		}
		if s := w.engine.Status(); s.Quarantined != 0 || s.Masters[1].Left != 0 || s.Masters[1].Elsewhere != nil {
			t.Errorf("%+v", s)
		}
		if found := log.lines("locks that it has lost may be given a second time"); len(found) != 1 || !strings.Contains(found[0], "[WARN]") {
			t.Errorf("%q", found)
		}
		if nonce := marker.NonceOf(w.masters[1].value(quorum.MarkerKey)); nonce.Provisional() || !nonce.Valid() {
			t.Errorf("its marker begins with %q", nonce)
		}
	})
}

func TestOrderThatCannotBeSaysWhy(t *testing.T) {
	operated(t, func(w *world, log *logged) {
		w.down(3)
		time.Sleep(w.cfg.ProbeInterval) // and it was tried to connect anew
		for name, order := range map[string]func(string) error{"admit": w.engine.Admit, "drain": func(name string) error { return w.engine.Drain(name, false) }, "resume": w.engine.Resume} {
			if err := order("m9"); err == nil || err.Error() != `there is no master "m9", the masters are m1 m2 m3` {
				t.Errorf("%s: %v", name, err)
			}
		}
		for name, want := range map[string]string{
			"m1": "master m1 is in no quarantine that could be ended: it is voting",
			"m3": "master m3 is in no quarantine that could be ended: it is down, connection refused",
		} {
			if err := w.engine.Admit(name); err == nil || err.Error() != want {
				t.Errorf("%v, want %s", err, want)
			}
		}
	})
}

func TestOtherDatabasesAreShownWhereTheyDiffer(t *testing.T) {
	s := quorum.Status{Masters: []quorum.MasterStatus{{Name: "m1", State: quorum.Voting}, {Name: "m2", State: quorum.Down}}}
	s.Add(quorum.Status{Quarantines: 2, Quarantined: 1, CatchUps: 3, CatchUpKeys: 4,
		Masters: []quorum.MasterStatus{{Name: "m1", DB: 3, State: quorum.Quarantined, Granted: 7}, {Name: "m2", DB: 3, State: quorum.Down}}})
	if e := s.Masters[0].Elsewhere; len(e) != 1 || e[0].DB != 3 || e[0].State != quorum.Quarantined || s.Masters[0].Granted != 7 {
		t.Errorf("%+v", s.Masters[0])
	}
	if s.Masters[1].Elsewhere != nil || s.Quarantines != 2 || s.Quarantined != 1 || s.CatchUps != 3 || s.CatchUpKeys != 4 {
		t.Errorf("%+v", s)
	}
}

func TestClocksAreShownBesideTheirMedian(t *testing.T) {
	db := &database{lanes: []*lane{{}, {}, {}, {}}}
	for i, micros := range []int64{1_000_000, 1_002_500, 999_000, 0} {
		db.lanes[i].clock.Store(1000 * micros)
		db.lanes[i].clockSeen.Store(micros)
	}
	masters := make([]quorum.MasterStatus, 4)
	db.clockOffsets(masters)
	for i, want := range []time.Duration{0, 2500 * time.Microsecond, -time.Millisecond, 0} {
		if masters[i].ClockOffset != want || masters[i].ClockKnown != (i < 3) {
			t.Errorf("%d: %+v", i, masters[i])
		}
	}
}

// What is asked for while the first proof of a master comes in is told all the same.
func TestStatusIsToldWhileAClockIsSeenForTheFirstTime(t *testing.T) {
	notInstrumented(t)
	for range 20_000 {
		db := &database{lanes: []*lane{{}}}
		var seen sync.WaitGroup
		seen.Go(func() {
			db.lanes[0].clock.Store(int64(time.Hour))
			db.lanes[0].clockSeen.Store(1)
		})
		if ahead, known := db.lanes[0].ahead(); known && ahead == 0 {
			t.Fatal("a clock that is known and not told")
		}
		masters := make([]quorum.MasterStatus, 1)
		db.clockOffsets(masters)
		if masters[0].ClockOffset != 0 {
			t.Fatalf("alone, and beside itself by %v", masters[0].ClockOffset)
		}
		seen.Wait()
	}
}
