package engine

import (
	"slices"
	"strings"
	"testing"
	"time"

	"redlock-proxy/quorum"
)

func TestShortageSaysWhatKeepsMasters(t *testing.T) {
	kept := func(states ...quorum.State) (s shortage) {
		for _, state := range states {
			s.kept[state]++
		}
		s.left = 4*time.Minute + 51*time.Second
		return s
	}
	for want, s := range map[string]shortage{
		"":                                   {can: 3},
		"2 down, 1 quarantined (4m51s left)": kept(quorum.Down, quorum.Down, quorum.Quarantined),
		"3 quarantined (up to 4m51s left)":   kept(quorum.Quarantined, quorum.Quarantined, quorum.Quarantined),
		"1 connecting, 1 quarantined, 1 catching-up (up to 4m51s left)": kept(quorum.Connecting, quorum.Quarantined, quorum.CatchingUp),
		"1 catching-up (4m51s left), 2 drained":                         kept(quorum.Drained, quorum.Drained, quorum.CatchingUp),
		"1 down, 2 gave no answer in time":                              {can: 2, kept: [quorum.Drained + 1]int{quorum.Down: 1}, silent: 2},
		"1 gave no answer in time, 1 being looked at anew":              {can: 2, silent: 1, doubt: 1},
		"2 gave no answer in the 15ms left when its turn came":          {can: 3, silent: 2, turn: 15 * ms},
		`1 gave no answer in time, 2 said "OOM no"`:                     {can: 3, silent: 1, refuse: []refusal{{"OOM no", 2}}},
	} {
		if got := s.String(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestNoQuorumSaysWhoCanVoteAndWhatKeepsTheOthers(t *testing.T) {
	inWorld(t, 3, func(w *world) {
		tells := func(r quorum.Result, can int, why ...string) {
			t.Helper()
			if r.Decision != quorum.Unavailable || r.Voted != can || !slices.Contains(why, r.Why) {
				t.Errorf("%v, %d can vote: %q; want %d: %q", r.Decision, r.Voted, r.Why, can, why)
			}
		}
		w.down(1, 2)
		tells(w.acquire("k", "a", time.Minute), 1, "2 down")
		tells(w.read("k"), 1, "2 down")
		w.up(1, 2)
		w.masters[0].freeze()
		w.masters[1].freeze()
		tells(w.acquire("k", "a", time.Minute), 3, "2 gave no answer in time")
		w.masters[0].unfreeze()
		w.masters[1].unfreeze()
		time.Sleep(10 * w.cfg.ProbeInterval)
		w.masters[0].restartBlank()
		w.masters[1].restartBlank()
		time.Sleep(11 * time.Second)
		// They were found out up to a probe interval after it.
		tells(w.acquire("k", "a", time.Minute), 1, "2 quarantined (up to 4m52s left)", "2 quarantined (up to 4m53s left)")
	})
}

// A drained one votes when the operator says so.
func TestTimeLeftIsThatOfAQuarantine(t *testing.T) {
	inWorld(t, 5, func(w *world) {
		w.down(4, 5)
		w.masters[1].restartBlank()
		time.Sleep(time.Minute)
		w.masters[0].restartBlank()
		w.noticed(1)
		w.order(w.engine.Drain("m1", true))
		r := w.acquire("k", "a", time.Minute)
		if r.Decision != quorum.Unavailable || r.Why != "2 down, 1 quarantined (4m3s left), 1 drained" {
			t.Errorf("%v: %s", r.Decision, r.Why)
		}
	})
}

// One that refuses to write answers reads in between.
func TestMasterThatRefusesCommandsIsLoggedOnce(t *testing.T) {
	operated(t, func(w *world, log *logged) {
		refuses := func(text string) {
			w.each(func(m *fakeMaster) {
				m.set(func(m *fakeMaster) {
					m.respond = func(args []string) string {
						if text != "" && args[0] == "SET" {
							return "-" + text + "\r\n"
						}
						return ""
					}
				})
			}, 1, 2)
		}
		refuses("OOM command not allowed.")
		for range 5 {
			r := w.acquire("k", "a", time.Minute)
			if want := `2 said "OOM command not allowed"`; r.Decision != quorum.Unavailable || r.Why != want {
				t.Errorf("%v, %q; want %q", r.Decision, r.Why, want)
			}
			w.read("k")
			time.Sleep(time.Second)
		}
		if found := log.lines("master refuses commands"); len(found) != 2 {
			t.Errorf("two masters refuse, and it is logged: %q", found)
		}
		if found := log.lines("accepts commands again"); len(found) != 0 {
			t.Errorf("they refuse still: %q", found)
		}
		refuses("")
		time.Sleep(2 * calmTime)
		w.want(w.acquire("k", "a", time.Minute), quorum.Won)
		if found := log.lines("accepts commands again"); len(found) != 2 {
			t.Errorf("two masters refuse no more, and it is logged: %q", found)
		}
	})
}

func TestLossOfTheQuorumIsLoggedOnceAndThatItIsBack(t *testing.T) {
	operated(t, func(w *world, log *logged) {
		w.masters[0].cut()
		w.masters[1].cut()
		w.masters[0].rejoin()
		w.masters[1].rejoin()
		time.Sleep(3 * w.cfg.ProbeInterval)
		if found := log.lines("quorum is"); len(found) != 0 {
			t.Errorf("connections were made anew, and it is logged: %q", found)
		}
		w.down(1, 2)
		for range 3 {
			w.want(w.acquire("k", "a", time.Minute), quorum.Unavailable)
		}
		time.Sleep(time.Minute)
		found := log.lines("the quorum is lost")
		if len(found) != 1 || !strings.Contains(found[0], "[ERROR]") || !strings.Contains(found[0], `why="2 down"`) || !strings.Contains(found[0], "can_vote=1") {
			t.Errorf("%q", found)
		}
		w.up(1, 2)
		found = log.lines("the quorum is back")
		if len(found) != 1 || !strings.Contains(found[0], "refused=3") || !strings.Contains(found[0], "after=1m") {
			t.Errorf("%q", found)
		}
	})
}

func TestLossOfTheQuorumIsLoggedOnceForAllDatabases(t *testing.T) {
	operated(t, func(w *world, log *logged) {
		if err := w.engine.Open(3); err != nil {
			t.Fatal(err)
		}
		w.down(1, 2)
		w.want(w.acquire("k", "a", time.Minute), quorum.Unavailable)
		w.want(w.ask(quorum.Request{Kind: quorum.Acquire, DB: 3, Key: "k", Token: "a", TTL: time.Minute}), quorum.Unavailable)
		time.Sleep(time.Minute)
		w.up(1, 2)
		time.Sleep(time.Minute)
		if found := log.lines("the quorum is lost"); len(found) != 1 {
			t.Errorf("%q", found)
		}
		if found := log.lines("the quorum is back"); len(found) != 1 || !strings.Contains(found[0], "refused=2") {
			t.Errorf("%q", found)
		}
		// Two masters forget what is in database 3 alone.
		for _, m := range w.masters[:2] {
			m.set(func(m *fakeMaster) { m.in(3, func() { clear(m.keys) }) })
		}
		time.Sleep(time.Minute)
		if found := log.lines("the quorum is lost"); len(found) != 2 || !strings.Contains(found[1], "database=3") {
			t.Errorf("%q", found)
		}
	})
}

func TestMasterThatIsDownForAnotherReasonSaysSo(t *testing.T) {
	operated(t, func(w *world, log *logged) {
		m := w.masters[0]
		w.down(1)
		m.set(func(m *fakeMaster) { m.refuse, m.info = false, "loading:1\r\n" })
		time.Sleep(5 * w.cfg.ProbeInterval)
		m.set(func(m *fakeMaster) { m.refuse = true })
		time.Sleep(5 * w.cfg.ProbeInterval)
		found := log.lines("is down")
		for i, want := range []string{"is down: ", "connection refused", "it is loading"} {
			if len(found) != 3 || !strings.Contains(found[i], want) || i > 0 && !strings.Contains(found[i], "is down for another reason now") {
				t.Errorf("%q", found)
			}
		}
		m.set(func(m *fakeMaster) { m.refuse, m.info = false, "" })
		time.Sleep(w.cfg.ProbeInterval)
		w.down(1)
		if found := log.lines("master is down:"); len(found) != 2 {
			t.Errorf("it was up meanwhile: %q", found)
		}
	})
}

func TestDrainThatTakesTheQuorumAwayNeedsForce(t *testing.T) {
	operated(t, func(w *world, log *logged) {
		w.order(w.engine.Drain("m1", false))
		err := w.engine.Drain("m2", false)
		if want := "without master m2 too few can vote for a quorum: bring another one back first, or say FORCE"; err == nil || err.Error() != want {
			t.Errorf("%v", err)
		}
		w.want(w.acquire("k", "a", time.Minute), quorum.Won)
		w.order(w.engine.Drain("m2", true))
		w.order(w.engine.Drain("m3", false)) // nothing is left to take away
		w.order(w.engine.Drain("m2", false)) // again
	})
}
