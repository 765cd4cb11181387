package engine

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"redlock-proxy/quorum"
	"redlock-proxy/quorum/master"
)

// atTheGate starts an engine over three masters, the first of which is changed
// by f, and returns how that one stands and how long it took to find out.
func atTheGate(t *testing.T, f func(m *fakeMaster, c *master.Master)) (s quorum.MasterStatus, took time.Duration) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 3)
		f(w.masters[0], &w.cfg.Masters[0])
		began := time.Now()
		w.engine = w.start(w.cfg)
		took = time.Since(began)
		s = w.engine.Status().Masters[0]
		w.want(w.acquire("k", "t", time.Minute), quorum.Won)
		if v := w.masters[0].value("k"); (s.State == quorum.Voting) != (v == "t") {
			t.Errorf("state is %v, and the master holds %q", s.State, v)
		}
	})
	return s, took
}

// answerTo has a command be answered otherwise than by a master.
func answerTo(name, reply string) func(*fakeMaster, *master.Master) {
	return func(m *fakeMaster, _ *master.Master) {
		m.respond = func(args []string) string {
			if strings.HasPrefix(strings.Join(args, " "), name) {
				return reply
			}
			return ""
		}
	}
}

func TestGateLetsOnlyAMasterIn(t *testing.T) {
	info := func(lines string) func(*fakeMaster, *master.Master) { return answerTo("INFO", bulk(lines)) }
	for name, c := range map[string]struct {
		change func(*fakeMaster, *master.Master)
		reason string // "" if it may vote
	}{
		"a master":              {func(*fakeMaster, *master.Master) {}, ""},
		"an old master":         {func(m *fakeMaster, _ *master.Master) { m.version = "6.2.14" }, ""},
		"a replica":             {info("run_id:a\r\nredis_version:7.0.0\r\nrole:slave\r\n"), "it is a replica, which"},
		"loading":               {func(m *fakeMaster, _ *master.Master) { m.info = "loading:1\r\n" }, "loading"},
		"a cluster node":        {func(m *fakeMaster, _ *master.Master) { m.info = "cluster_enabled:1\r\n" }, "cluster"},
		"no run id":             {info("redis_version:7.0.0\r\nrole:master\r\n"), "run_id"},
		"INFO loading error":    {answerTo("INFO", "-LOADING Redis is loading the dataset in memory\r\n"), "LOADING"},
		"INFO nil":              {answerTo("INFO", fakeNil), master.ErrGarbage.Error()},
		"INFO too long":         {answerTo("INFO", "$2147483647\r\n"), master.ErrGarbage.Error()},
		"password wanted":       {answerTo("CLIENT ID", "-NOAUTH Authentication required.\r\n"), "NOAUTH"},
		"no CLIENT ID":          {answerTo("CLIENT ID", "+OK\r\n"), master.ErrGarbage.Error()},
		"no time":               {answerTo("TIME", array(bulk("1"))), master.ErrGarbage.Error()},
		"a time before 1970":    {answerTo("TIME", array(bulk("-1"), bulk("0"))), master.ErrGarbage.Error()},
		"scripts refused":       {answerTo("SCRIPT LOAD", "-NOPERM no\r\n"), "NOPERM"},
		"a command forbidden":   {answerTo("DEL", "-NOPERM this user has no permissions to run the 'del' command\r\n"), "NOPERM"},
		"no RESTORE":            {answerTo("RESTORE", "-NOPERM this user has no permissions to run the 'restore' command\r\n"), "NOPERM"},
		"a command renamed":     {answerTo("EVALSHA", "-ERR unknown command 'EVALSHA', with args beginning with: 'x' 'y' \r\n"), "ERR unknown command 'EVALSHA'"},
		"a memory that is full": {answerTo("SET "+neverThere, "-OOM command not allowed when used memory > 'maxmemory'.\r\n"), ""},
		"scripts of another":    {answerTo("SCRIPT LOAD", bulk("0000")), "0000"},
		"HTTP":                  {answerTo("CLIENT ID", "HTTP/1.1 400 Bad Request\r\n\r\n"), master.ErrGarbage.Error()},
		"a surplus reply":       {answerTo("TIME", array(bulk("1"), bulk("0"))+"+OK\r\n"), ""},
		"an array without end":  {answerTo("CONFIG", strings.Repeat("*2\r\n", 100)), master.ErrGarbage.Error()},
		"a line without end":    {answerTo("CLIENT ID", "+"+strings.Repeat("x", 100_000)), master.ErrGarbage.Error()},
		"a connection refused":  {func(m *fakeMaster, _ *master.Master) { m.refuse = true }, "connection refused"},
		"silence":               {func(m *fakeMaster, _ *master.Master) { m.freeze() }, "no answer in time"},
		"silence after a while": {answerTo("TIME", silence), "no answer in time"},
	} {
		t.Run(name, func(t *testing.T) {
			s, took := atTheGate(t, c.change)
			switch {
			case name == "a surplus reply":
				if s.State == quorum.Voting {
					t.Errorf("it is %v", s.State)
				}
			case c.reason == "" && (s.State != quorum.Voting || s.Reason != ""):
				t.Errorf("it is %v: %s", s.State, s.Reason)
			case c.reason != "" && (s.State != quorum.Down || !strings.Contains(s.Reason, c.reason)):
				t.Errorf("it is %v: %s, want %s", s.State, s.Reason, c.reason)
			}
			if took > testConfig().ConnectTimeout {
				t.Errorf("it took %v to find out", took)
			}
		})
	}
}

func TestPasswordIsGivenAtTheGate(t *testing.T) {
	for _, c := range []struct {
		user, password string
		state          quorum.State
	}{{"", "secret", quorum.Voting}, {"proxy", "secret", quorum.Voting}, {"", "wrong", quorum.Down}} {
		var given []string
		s, _ := atTheGate(t, func(m *fakeMaster, cfg *master.Master) {
			m.password = "secret"
			m.after = func(args []string, m *fakeMaster) {
				if args[0] == "AUTH" {
					given = args[1:]
				}
			}
			cfg.Credentials = func() (string, string) { return c.user, c.password }
		})
		if s.State != c.state || c.state == quorum.Down && !strings.HasPrefix(s.Reason, "WRONGPASS") {
			t.Errorf("with %q it is %v: %s", c.password, s.State, s.Reason)
		}
		want := strings.TrimSpace(c.user + " " + c.password)
		if got := strings.Join(given, " "); got != want {
			t.Errorf("given was %q, want %q", got, want)
		}
	}
}

func TestOneServerHasOneVote(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 3)
		w.cfg.Masters[2].Dial = w.masters[1].dial // m3 is m2 by another name
		w.engine = w.start(w.cfg)
		states := make(map[quorum.State]int)
		for _, s := range w.engine.Status().Masters {
			states[s.State]++
			if s.State == quorum.Down && !strings.Contains(s.Reason, "same server") {
				t.Errorf("%s is down: %s", s.Name, s.Reason)
			}
		}
		if states[quorum.Voting] != 2 || states[quorum.Down] != 1 {
			t.Errorf("states are %v", states)
		}
		// With the first master gone, one server is no quorum of three.
		w.want(w.acquire("k", "t", time.Minute), quorum.Won)
		w.down(1)
		if r := w.acquire("k2", "t", time.Minute); r.Decision != quorum.Unavailable || r.Voted != 1 || r.Needed != 2 || r.Masters != 3 {
			t.Errorf("%+v", r)
		}
	})
}

// A master whose run id changes is asked anew, and nobody is killed there: the
// old connection's number belongs to somebody else by now.
func TestPredecessorIsEndedOnlyOnTheSameServer(t *testing.T) {
	inWorld(t, 3, func(w *world) {
		w.masters[0].restartBlank()
		w.down() // let time pass
		if s := w.engine.Status().Masters[0]; s.RunID != "m1-1" || s.Reconnects != 1 {
			t.Errorf("%+v", s)
		}
		if kills := w.masters[0].commands("CLIENT KILL"); len(kills) != 0 {
			t.Errorf("killed: %q", kills)
		}
		w.masters[1].sever()
		w.down()
		if kills := w.masters[1].commands("CLIENT KILL"); len(kills) != 1 || kills[0] != "CLIENT KILL ID 1" {
			t.Errorf("killed: %q", kills)
		}
	})
}
