package engine

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"redlock-proxy/quorum"
	"redlock-proxy/quorum/decide"
	"redlock-proxy/quorum/master"
)

// answering has a master answer one command with what it should not.
func answering(m *fakeMaster, name, reply string) {
	m.set(func(m *fakeMaster) {
		m.respond = func(args []string) string {
			if args[0] == name {
				return reply
			}
			return ""
		}
	})
}

func TestMasterInTroubleHasNoVote(t *testing.T) {
	for text, ends := range map[string]bool{
		"LOADING Redis is loading the dataset in memory":          true,
		"READONLY You can't write against a read only replica.":   true,
		"NOAUTH Authentication required.":                         true,
		"OOM command not allowed when used memory > 'maxmemory'.": false,
		"MISCONF Redis is configured to save RDB snapshots":       true,
		"BUSY Redis is busy running a script.":                    false,
	} {
		inWorld(t, 3, func(w *world) {
			answering(w.masters[0], "SET", "-"+text+"\r\n")
			w.want(w.acquire("k", "t", time.Minute), quorum.Won)
			w.settle()
			s := w.engine.Status().Masters[0]
			if s.Unknown != 1 || s.Refused+s.Granted != 0 {
				t.Errorf("%s: %+v", text, s)
			}
			if ends != (s.State == quorum.Down && strings.HasPrefix(s.Reason, text[:6])) {
				t.Errorf("%s: it is %v: %s", text, s.State, s.Reason)
			}
			answering(w.masters[1], "SET", "-"+text+"\r\n")
			w.want(w.acquire("k2", "t", time.Minute), quorum.Unavailable)
			w.each(func(m *fakeMaster) { m.set(func(m *fakeMaster) { m.respond = nil }) }, 1, 2)
			time.Sleep(time.Second)
			w.want(w.acquire("k3", "t", time.Minute), quorum.Won)
			w.settle()
			w.wantValues("k", "", "t", "t")
			w.wantValues("k2", "", "", "")
			w.wantValues("k3", "t", "t", "t")
		})
	}
}

func flushScripts(m *fakeMaster) { m.set(func(m *fakeMaster) { clear(m.scripts) }) }

func TestScriptsThatMastersForgotAreLoadedAgain(t *testing.T) {
	inWorld(t, 3, func(w *world) {
		w.want(w.acquire("k", "t", time.Minute), quorum.Won)
		w.settle()
		for _, r := range []quorum.Request{
			{Kind: quorum.Extend, Key: "k", Token: "t", TTL: time.Minute}, {Kind: quorum.Read, Key: "k"},
			{Kind: quorum.Release, Key: "k", Token: "t"},
		} {
			w.each(flushScripts, 1, 2, 3)
			w.want(w.ask(r), quorum.Won)
			w.settle()
		}
		w.wantValues("k", "", "", "")
		w.write("SET", "k", "v")
		w.each(flushScripts, 1, 2, 3)
		w.want(w.ask(quorum.Request{Kind: quorum.Remove, Key: "k"}), quorum.Won)
	})
}

// Redis from 7.4 on keeps five hundred of the scripts that came by EVAL: clients alone can
// have one forgotten.
func TestScriptOfAClientThatMastersForgotCostsNoConnection(t *testing.T) {
	inWorld(t, 3, func(w *world) {
		run := func(s *quorum.Script) *waiter { return w.put(runOf(s, "k", "a", "60000")) }
		for range 10 { // it is asked for often, and known by its hash
			w.want(run(takeHash).wait(t), quorum.Won)
		}
		w.settle()
		links := make([]uint64, 3)
		for i := range links {
			links[i] = w.state(i + 1).Reconnects
		}
		for range 3 {
			w.each(func(m *fakeMaster) {
				m.set(func(m *fakeMaster) {
					for sha := range m.scripts {
						if !slices.ContainsFunc(scripts, func(s *master.Script) bool { return s.SHA == sha }) {
							delete(m.scripts, sha)
						}
					}
					m.lag = ms
				})
			}, 1, 2, 3)
			w.put(quorum.Request{Kind: quorum.Read, Key: "other", ValueOnly: true}) // so that the next share a batch
			first, second := run(takeHash), run(renewHash)
			first.wait(t)
			second.wait(t)
			w.settle()
			w.want(run(renewHash).wait(t), quorum.Won)
		}
		for i := range links {
			if s := w.state(i + 1); s.Reconnects != links[i] || s.State != quorum.Voting {
				t.Errorf("%s is %v, with %d new connections", s.Name, s.State, s.Reconnects-links[i])
			}
		}
	})
}

// A release and an acquire with the same token stand in one batch when the
// masters have lost the scripts: sent again, the release would free what was
// just acquired.
func TestOrderOnAKeyIsKeptWhenScriptsAreLost(t *testing.T) {
	for _, lost := range [][]int{{1}, {1, 2}, {1, 2, 3}} {
		inWorld(t, 3, func(w *world) {
			w.masters[2].put("k", "1", time.Second) // what is left of an old lock
			w.each(flushScripts, lost...)
			for _, m := range w.masters {
				m.set(func(m *fakeMaster) { m.lag = ms })
			}
			w.put(quorum.Request{Kind: quorum.Read, Key: "other", ValueOnly: true}) // so that the next two share a batch
			w.put(quorum.Request{Kind: quorum.Release, Key: "k", Token: "1"})
			r := w.put(quorum.Request{Kind: quorum.Acquire, Key: "k", Token: "1", TTL: time.Minute}).wait(t)
			time.Sleep(2 * time.Second)
			held := 0
			for _, m := range w.masters {
				if m.value("k") == "1" {
					held++
				}
			}
			if r.Decision == quorum.Won && held < 2 {
				t.Errorf("scripts lost on %v: the lock was won, and is held by %d masters", lost, held)
			}
			if r.Decision != quorum.Won && held > 0 {
				t.Errorf("scripts lost on %v: %v, and it is held by %d masters", lost, r.Decision, held)
			}
		})
	}
}

// What a master should never send, in the place of one reply.
func TestGarbageCostsTheConnectionAndNoVote(t *testing.T) {
	for name, reply := range map[string]string{
		"a surplus reply":      "+OK\r\n+OK\r\n",
		"an array for a nil":   "*1\r\n+OK\r\n",
		"a push":               ">2\r\n+message\r\n+x\r\n",
		"a map":                "%1\r\n+a\r\n+b\r\n",
		"a null of RESP3":      "_\r\n",
		"a length of 2 GB":     "$2147483647\r\n",
		"a length over all":    "$99999999999999999999\r\n",
		"an array of billions": "*2147483647\r\n",
		"arrays without end":   strings.Repeat("*1000\r\n", 50),
		"nothing":              silence,
		"half a reply":         "$10\r\nabc",
		"no RESP":              "HTTP/1.1 400 Bad Request\r\n\r\n",
		"a line without end":   strings.Repeat("x", 1<<20),
		"a bare line feed":     "\n",
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, 3, func(w *world) {
				answering(w.masters[0], "SET", reply)
				// Another holds the other masters, and would lose them by a wrong grant.
				w.masters[1].put("k", "x", time.Minute)
				began := time.Now()
				r := w.acquire("k", "t", time.Minute)
				if r.Decision == quorum.Won {
					t.Fatal("won")
				}
				if took := time.Since(began); took > 4*300*ms { // with all tries of a split
					t.Errorf("it took %v", took)
				}
				time.Sleep(600 * ms)
				s := w.engine.Status().Masters[0]
				if s.Granted+s.Refused > 0 && name != "an array for a nil" {
					t.Errorf("a vote was counted: %+v", s)
				}
				w.masters[0].set(func(m *fakeMaster) { m.respond = nil })
				time.Sleep(time.Second)
				if s := w.engine.Status().Masters[0]; s.State != quorum.Voting || s.Reconnects == 0 && name != "an array for a nil" {
					t.Errorf("it is %v after %d reconnects: %s", s.State, s.Reconnects, s.Reason)
				}
				w.want(w.acquire("k2", "t", time.Minute), quorum.Won)
				w.settle()
				w.wantValues("k", "", "x", "")
			})
		})
	}
}

// A master answers one command twice or not at all, and what follows in its
// batch is one off: the nil for a read would stand for a grant.
func TestRepliesThatAreOneOffAreNotCounted(t *testing.T) {
	for _, reply := range []string{fakeNil + fakeNil, silence} {
		inWorld(t, 3, func(w *world) {
			m := w.masters[0]
			m.put("k", "x", time.Minute)
			for i, m := range w.masters {
				m.set(func(m *fakeMaster) { m.lag = time.Duration(1+4*i) * ms })
			}
			w.put(quorum.Request{Kind: quorum.Read, Key: "first"})
			synctest.Wait() // what follows shares the next batch
			answering(m, "GET", reply)
			w.put(quorum.Request{Kind: quorum.Read, Key: "other", ValueOnly: true})
			w.put(quorum.Request{Kind: quorum.Acquire, Key: "k", Token: "t", TTL: time.Minute})
			time.Sleep(w.cfg.MasterTimeout + 20*ms)
			if log := m.commands(""); len(log) < 2 || !strings.HasPrefix(log[1], "SET k t") {
				t.Fatalf("the master was told %q", log)
			}
			s := w.engine.Status().Masters[0]
			if s.Granted != 1 || s.Refused != 0 || s.Unknown != 2 {
				t.Errorf("votes were counted: %+v", s)
			}
			m.set(func(m *fakeMaster) { m.respond = nil })
			time.Sleep(time.Second)
			if s := w.engine.Status().Masters[0]; s.State != quorum.Voting || s.Reconnects == 0 {
				t.Errorf("%+v", s)
			}
		})
	}
}

func TestFullQueueIsAnUnknownVoteAtOnce(t *testing.T) {
	inWorld(t, 3, func(w *world) {
		w.masters[0].freeze()
		var askers []*waiter
		for i := range maxQueue + 1000 {
			askers = append(askers, w.put(quorum.Request{Kind: quorum.Acquire, Key: fmt.Sprint(i), Token: "t", TTL: time.Minute}))
			if i%500 == 0 {
				synctest.Wait() // the other two keep up
			}
		}
		began := time.Now()
		for _, a := range askers {
			if r := <-a.answers; r.Decision != quorum.Won {
				t.Fatalf("%+v", r)
			}
		}
		if took := time.Since(began); took > 0 {
			t.Errorf("it took %v", took)
		}
		s := w.engine.Status().Masters[0]
		if s.Queue > maxQueue || s.Unknown == 0 {
			t.Errorf("%+v", s)
		}
		// Releases have room of their own.
		w.want(w.release("0", "t"), quorum.Won)
		if got := w.engine.Status().Masters[0]; got.Queue != s.Queue+1 || got.Unknown != s.Unknown {
			t.Errorf("%+v", got)
		}
	})
}

func TestCommandOnAnyOfSeveralKeysKeepsItsPlace(t *testing.T) {
	l := &lane{}
	both := &op{Question: decide.Question{Request: quorum.Request{Kind: quorum.Run, Key: "a", Keys: []string{"a", "b"}}}}
	one := &op{Question: decide.Question{Request: quorum.Request{Kind: quorum.Release, Key: "b"}}}
	for _, c := range []struct {
		keys  []string
		later *op
		sent  bool
		want  bool
	}{
		{[]string{"b"}, both, true, false},
		{[]string{"a", "b"}, one, true, false},
		{[]string{"c"}, both, true, true},
		{[]string{"b"}, both, false, true},
		{[]string{"c"}, &op{Question: decide.Question{Request: quorum.Request{Kind: quorum.Survey}}}, true, false},
	} {
		if got := l.sender.resendable(c.keys, []*op{c.later}, []bool{c.sent}); got != c.want {
			t.Errorf("%q before %v of %q: resendable is %v", c.keys, c.later.Kind, c.later.keys(), got)
		}
	}
}
