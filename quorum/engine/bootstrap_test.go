package engine

import (
	"errors"
	"strings"
	"testing"
	"time"

	"redlock-proxy/quorum"
	"redlock-proxy/quorum/marker"
	"redlock-proxy/quorum/members"
)

var sworn = members.Bootstrapping{NoLocksHeld: true}

func (w *world) boots(how members.Bootstrapping) {
	w.t.Helper()
	if err := bootstrap(w.t.Context(), w.cfg, how); err != nil {
		w.t.Fatal(err)
	}
}

func TestBootstrapAdmitsAtOnceOnlyIfNoLocksAreHeld(t *testing.T) {
	for _, how := range []members.Bootstrapping{{}, sworn} {
		inBlank(t, 3, func(w *world) {
			w.cfg.FirstStart = false
			w.boots(how)
			w.launch(w.cfg)
			after := w.cfg.FirstTime()
			if how.NoLocksHeld {
				after = 0
			}
			w.wantVotes(w.engine, after)
			before := w.masters[0].value(quorum.MarkerKey)
			w.boots(members.Bootstrapping{})
			w.boots(sworn)
			if now := w.masters[0].value(quorum.MarkerKey); now != before {
				t.Errorf("it was marked anew: %s", now)
			}
		})
	}
}

// The masters are lost, and made a new set before a proxy looks at them, which is told to
// leave that to bootstrap.
func TestProxyGoesOnWithWhatBootstrapHasMadeAnew(t *testing.T) {
	for _, how := range []members.Bootstrapping{{}, sworn} {
		inBlank(t, 3, func(w *world) {
			w.cfg.FirstStart = false
			w.boots(how)
			w.launch(w.cfg)
			w.each(func(m *fakeMaster) { m.set(forgetAll) }, 1, 2, 3)
			w.boots(sworn)
			w.wantVotes(w.engine, 0)
		})
	}
}

// What it evicts before a proxy has looked at it is told by comparison with the marker.
func TestEvictionRightAfterBootstrapIsNoticed(t *testing.T) {
	inBlank(t, 3, func(w *world) {
		w.cfg.FirstStart = false
		w.boots(sworn)
		w.launch(w.cfg)
		w.wantVotes(w.engine, 0)
		before := w.noncesOf(1)
		w.masters[0].set(func(m *fakeMaster) { m.evicted++ })
		time.Sleep(w.cfg.ProbeInterval + w.cfg.ProbeInterval/2)
		for db, n := range w.noncesOf(1) {
			if n == before[db] {
				t.Errorf("its marker of database %d is as before", db)
			}
		}
	})
}

func TestBootstrapAdmitsWhatAProxyHasBegun(t *testing.T) {
	inBlank(t, 3, func(w *world) {
		w.launch(w.cfg)
		time.Sleep(2 * time.Second)
		w.boots(members.Bootstrapping{})
		w.want(w.acquire("k", "a", time.Second), quorum.Unavailable)
		w.boots(sworn)
		w.wantVotes(w.engine, 0)
	})
}

func TestBootstrapMarksMastersThatHoldKeys(t *testing.T) {
	inBlank(t, 3, func(w *world) {
		w.masters[0].put("x", "y", 0)
		w.masters[2].put("x", "y", 0)
		w.launch(w.cfg)
		time.Sleep(2 * time.Second)
		w.wantState(1, quorum.Quarantined, "holds keys")
		w.boots(members.Bootstrapping{})
		w.wantVotes(w.engine, w.cfg.FirstTime())
	})
}

// What may have been lost is not given up by a word that was meant for a new set.
func TestBootstrapLeavesASetAloneOfWhichAMasterVotes(t *testing.T) {
	inBlank(t, 3, func(w *world) {
		w.engine = w.start(w.cfg)
		w.want(w.acquire("k", "a", 9*time.Second), quorum.Won)
		w.down(1)
		w.masters[1].restartBlank()
		time.Sleep(2 * time.Second)
		w.masters[0].rejoin()
		told := ""
		w.boots(members.Bootstrapping{NoLocksHeld: true, Tell: func(text string) { told = text }})
		if !strings.Contains(told, "a master of it votes: nothing is done") {
			t.Errorf("it is told %q", told)
		}
		if n := marker.NonceOf(w.masters[1].value(quorum.MarkerKey)); !n.Provisional() {
			t.Errorf("it was admitted as %s", n)
		}
	})
}

func TestBootstrapEndsNoQuarantine(t *testing.T) {
	inBlank(t, 3, func(w *world) {
		w.stop(w.start(w.cfg))
		for _, m := range w.masters {
			m.restartWith(m.copy())
		}
		w.boots(sworn)
		w.launch(w.cfg)
		w.want(w.acquire("k", "a", time.Second), quorum.Unavailable)
		w.wantVotes(w.engine, w.cfg.MaxTTL)
	})
}

func TestBootstrapIsRefused(t *testing.T) {
	for name, c := range map[string]struct {
		harm func(w *world)
		want []string
	}{
		"some are not there, one is another": {func(w *world) {
			w.masters[1].cut()
			w.cfg.Masters[2].Dial = w.masters[0].dial
		}, []string{"master m2: it cannot be reached", "master m3: it is the same server as m1"}},
		"another set's": {func(w *world) {
			other := w.some(1, 2)
			w.masters[1].mark(marker.Marker{Installation: "other", Member: "m2", Terms: other.Terms(), RunID: "m2-0"})
		}, []string{"master m2: its set has no m3"}},
		"a change has not finished": {func(w *world) {
			w.masters[1].mark(marker.Marker{Installation: "other", Member: "m2", Terms: w.cfg.Terms(), RunID: "m2-0", Changing: true})
		}, []string{"master m2: change-masters has begun"}},
		"fewer databases": {func(w *world) { w.masters[1].count = 4 }, []string{"master m2: it has 4 databases, and m1 has 16"}},
	} {
		inBlank(t, 3, func(w *world) {
			c.harm(w)
			err := bootstrap(w.t.Context(), w.cfg, sworn)
			for _, want := range c.want {
				if err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("%s: %v, want %s", name, err, want)
				}
			}
			if text := w.masters[0].value(quorum.MarkerKey); text != "" {
				t.Errorf("%s: m1 was marked %s", name, text)
			}
		})
	}
}

func TestBootstrapWaitsForMasters(t *testing.T) {
	inBlank(t, 3, func(w *world) {
		w.masters[1].cut()
		time.AfterFunc(20*time.Second, w.masters[1].rejoin)
		if err := bootstrap(w.t.Context(), w.cfg, members.Bootstrapping{NoLocksHeld: true, Wait: 10 * time.Second}); err == nil {
			t.Error("it did not wait for so long")
		}
		w.boots(members.Bootstrapping{NoLocksHeld: true, Wait: time.Minute})
		w.launch(w.cfg)
		w.wantVotes(w.engine, 0)
	})
}

// Two orders at once, one of which is not sworn, and proxies that begin by themselves.
func TestBootstrapsAtOnceMakeOneSet(t *testing.T) {
	inBlank(t, 3, func(w *world) {
		errs := make(chan error, 2)
		for _, how := range []members.Bootstrapping{sworn, {}} {
			go func() { errs <- bootstrap(w.t.Context(), w.cfg, how) }()
		}
		w.launch(w.cfg)
		for range 2 {
			if err := <-errs; err != nil {
				t.Error(err)
			}
		}
		if _, voting := allVote(w.engine); !voting {
			t.Error("no votes")
		}
		w.sameInstallation(1, 2, 3)
	})
}

func TestBootstrapTellsWhatARestartCosts(t *testing.T) {
	inBlank(t, 3, func(w *world) {
		w.masters[1].settings = map[string]string{"appendonly": "yes", "appendfsync": "everysec"}
		w.masters[2].settings = durableSettings
		var told []string
		w.boots(members.Bootstrapping{Tell: func(text string) { told = append(told, text) }})
		for _, want := range []string{
			"m1: no AOF: a restart of one costs nothing, of a quorum at once no locks for 10s or somewhat more",
			"m2: an AOF that may lack what was answered last",
			"m3: every write is on disk before it is answered: a restart costs nothing while so many of the others are there as any quorum shares a master with",
			"3 masters are marked; they may vote when proxies have seen 13s pass, or at once after the same order with --no-locks-held",
		} {
			if !strings.Contains(strings.Join(told, "\n"), want) {
				t.Errorf("it is told\n%s\nwant %s", strings.Join(told, "\n"), want)
			}
		}
	})
}

// One master alone is not marked; that it is there, and nobody's, is seen all the same.
func TestBootstrapOfOneMasterLooksAtIt(t *testing.T) {
	inBlank(t, 1, func(w *world) {
		told := ""
		how := members.Bootstrapping{Tell: func(text string) { told += text }}
		if err := bootstrap(w.t.Context(), w.cfg, how); err != nil || told != "one master alone needs no marker, and has none" {
			t.Errorf("%v, and told %q", err, told)
		}
		if text := w.masters[0].value(quorum.MarkerKey); text != "" {
			t.Errorf("it is marked: %s", text)
		}
		set := marker.Terms{Set: []string{"a", "b"}, AcquireTimeout: 250, MaxTTL: 1000}
		w.masters[0].put(quorum.MarkerKey, marker.Marker{Nonce: marker.NewNonce(false), Installation: "i", Member: "a", Terms: set}.String(), 0)
		if err := bootstrap(w.t.Context(), w.cfg, how); !errors.Is(err, quorum.ErrOtherTerms) {
			t.Errorf("of a set: %v", err)
		}
		w.masters[0].cut()
		if err := bootstrap(w.t.Context(), w.cfg, how); err == nil || !strings.Contains(err.Error(), "it cannot be reached") {
			t.Errorf("not there: %v", err)
		}
	})
}
