package proxy

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"redlock-proxy/commands"
	"redlock-proxy/quorum"
)

// slow is a Config that lists what takes 10 ms, as the default does.
func slow(most int) Config {
	return Config{Tuning: Tuning{SlowerThan: 10 * time.Millisecond, SlowMaxLen: most}}
}

func TestSlowCommandsAreListedWithoutTheirTokens(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, slow(128))
		c := r.dial()
		c.send("CLIENT SETNAME me\r\n")
		c.expect("+OK\r\n")
		c.send("set k token NX PX 60000\r\n")
		time.Sleep(9 * time.Millisecond)
		r.engine.answer(t, "k", won)
		c.expect("+OK\r\n")
		c.send("SLOWLOG LEN\r\n")
		c.expect(":0\r\n") // it was quick
		c.send("*6\r\n$3\r\nset\r\n$1\r\nk\r\n$5\r\ntoken\r\n$2\r\nNX\r\n$2\r\nPX\r\n$5\r\n60000\r\n")
		time.Sleep(10 * time.Millisecond)
		r.engine.answer(t, "k", quorum.Result{Decision: quorum.Contended})
		c.expect("$-1\r\n")
		at := time.Now().Unix()
		time.Sleep(5 * time.Second)
		c.send("SLOWLOG GET\r\n")
		c.expect("*1\r\n*6\r\n:0\r\n" + fmt.Sprintf(":%d\r\n", at) + ":10000\r\n" +
			"*6\r\n$3\r\nset\r\n$1\r\nk\r\n$10\r\n(redacted)\r\n$2\r\nNX\r\n$2\r\nPX\r\n$10\r\n(redacted)\r\n$4\r\npipe\r\n$2\r\nme\r\n")
		c.send("SLOWLOG RESET\r\nSLOWLOG LEN\r\nSLOWLOG GET -1\r\n")
		c.expect("+OK\r\n:0\r\n*0\r\n")
		c.send("get k\r\n")
		time.Sleep(20 * time.Millisecond)
		r.engine.answer(t, "k", won)
		c.expect("$-1\r\n")
		c.send("SLOWLOG GET 1\r\n")
		c.expect("*1\r\n*6\r\n:1\r\n") // numbers go on
		r.end()
	})
}

// wait has a client wait for a command so long.
func (r *rig) wait(c *client, key string, d time.Duration) {
	c.send("get " + key + "\r\n")
	time.Sleep(d)
	r.engine.answer(r.t, key, won)
	c.expect("$-1\r\n")
}

func TestTheSlowLogKeepsTheLatest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, slow(3))
		c := r.dial()
		for i := range 5 {
			r.wait(c, fmt.Sprint("k", i), 10*time.Millisecond)
		}
		keys := func() string {
			r.server.slowlog.mu.Lock()
			defer r.server.slowlog.mu.Unlock()
			var keys []string
			for _, e := range r.server.slowlog.inOrder() {
				keys = append(keys, fmt.Sprint(e.id, e.args[1]))
			}
			return strings.Join(keys, " ")
		}
		if got := keys(); got != "2k2 3k3 4k4" {
			t.Errorf("kept are %s", got)
		}
		r.server.Tune(Tuning{SlowerThan: 10 * time.Millisecond, SlowMaxLen: 2})
		if got := keys(); got != "3k3 4k4" {
			t.Errorf("of fewer are kept %s", got)
		}
		r.server.Tune(Tuning{SlowerThan: 10 * time.Millisecond, SlowMaxLen: 4})
		r.wait(c, "k5", 10*time.Millisecond)
		if got := keys(); got != "3k3 4k4 5k5" {
			t.Errorf("of more are kept %s", got)
		}
		c.send("SLOWLOG GET 2\r\n")
		c.expect("*2\r\n*6\r\n:5\r\n")
		r.end()
	})
}

func TestWhatIsSlowIsTuned(t *testing.T) {
	for name, row := range map[string]struct {
		tuning Tuning
		want   int
	}{
		"all":               {Tuning{SlowerThan: 0, SlowMaxLen: 10}, 2},
		"what takes longer": {Tuning{SlowerThan: 5 * time.Millisecond, SlowMaxLen: 10}, 1},
		"none":              {Tuning{SlowerThan: -1, SlowMaxLen: 10}, 0},
		"none is kept":      {Tuning{SlowerThan: 0, SlowMaxLen: 0}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, slow(10))
				r.server.Tune(row.tuning)
				c := r.dial()
				c.send("ECHO token\r\n")
				c.expect("$5\r\ntoken\r\n")
				r.wait(c, "k", 5*time.Millisecond)
				synctest.Wait()
				if got := r.server.slowlog.length(); got != row.want {
					t.Errorf("%d are listed, want %d", got, row.want)
				}
				r.end()
			})
		})
	}
}

// What is quick costs a comparison.
func TestQuickCommandsLeaveNothingBehind(t *testing.T) {
	r := newRig(t, slow(10))
	c := &conn{srv: r.server} // of which nothing more is looked at
	row, reply := commands.Table()[0], commands.OK
	if n := testing.AllocsPerRun(100, func() { c.carriedOut(row, 9*time.Millisecond, nil, &reply) }); n > 0 {
		t.Errorf("%v allocations", n)
	}
	if n := r.server.slowlog.length(); n != 0 {
		t.Errorf("%d entries", n)
	}
	r.end()
}

// A command that is refused before it could run, or queued, is not listed, as on Redis.
func TestWhatIsNotCarriedOutIsNotListed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, Config{Tuning: Tuning{SlowMaxLen: 10}})
		c := r.dial()
		c.send("NOSUCH token\r\nGET\r\nMULTI\r\nGET k\r\nDISCARD\r\n")
		c.expect("-ERR unknown command 'NOSUCH', with args beginning with: 'token' \r\n-ERR wrong number of arguments for 'get' command\r\n+OK\r\n+QUEUED\r\n+OK\r\n")
		c.send("SLOWLOG GET\r\n")
		c.expect("*2\r\n*6\r\n:1\r\n")
		r.end()
	})
}
