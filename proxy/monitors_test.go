package proxy

import (
	"bufio"
	"fmt"
	"io"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"redlock-proxy/quorum"
)

// monitoring dials a client that is told of every command.
func (r *rig) monitoring() *client {
	c := r.dial()
	c.send("MONITOR\r\n")
	c.expect("+OK\r\n")
	return c
}

func TestMonitorShowsCommandsWithoutTokens(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, dangerous())
		m, c := r.monitoring(), r.dial()
		at := func() string {
			now := time.Now()
			return fmt.Sprintf("%d.%06d", now.Unix(), now.Nanosecond()/1000)
		}
		time.Sleep(1234567 * time.Microsecond)
		c.send("*6\r\n$3\r\nset\r\n$4\r\nk\"\n\xe9\r\n$5\r\ntoken\r\n$2\r\nNX\r\n$2\r\nPX\r\n$5\r\n60000\r\n")
		m.expect("+" + at() + ` [0 pipe] "set" "k\"\n\xe9" "(redacted)" "NX" "PX" "(redacted)"` + "\r\n")
		synctest.Wait()
		r.engine.answer(t, "k\"\n\xe9", won)
		c.expect("+OK\r\n")
		c.send("SELECT 3\r\n")
		c.expect("+OK\r\n")
		m.expect("+" + at() + ` [3 pipe] "SELECT" "3"` + "\r\n")
		c.send("AUTH hunter2\r\n")
		c.expect("-ERR AUTH <password> called without any password configured for the default user. Are you sure your configuration is correct?\r\n")
		m.expect("+" + at() + ` [3 pipe] "AUTH" "(redacted)"` + "\r\n")
		c.send("CONFIG SET requirepass hunter2\r\nCLIENT LIST\r\nNOSUCH token\r\nGET\r\nMULTI\r\nSET k token\r\nDISCARD\r\n")
		for _, want := range []string{`"MULTI"`, `"SET" "k" "(redacted)"`, `"DISCARD"`} {
			m.expect("+" + at() + " [3 pipe] " + want + "\r\n")
		}
		m.send("PING\r\nGET k\r\nMONITOR\r\n")
		m.expect("+PONG\r\n+" + at() + ` [0 pipe] "PING"` + "\r\n-ERR Replica can't interact with the keyspace\r\n")
		m.send("CLIENT INFO\r\n")
		if info := m.bulk(); !strings.Contains(info, " flags=O ") {
			t.Errorf("it is told of itself %s", info)
		}
		m.expect("+" + at() + ` [0 pipe] "CLIENT" "INFO"` + "\r\n")
		m.send("RESET\r\n")
		m.expect("+RESET\r\n")
		if r.server.monitors.all.Load() != nil {
			t.Error("after RESET it is told on")
		}
		m.send("GET k\r\n")
		synctest.Wait()
		r.engine.answer(t, "k", won)
		m.expect("$-1\r\n")
		r.end()
	})
}

func TestMonitorIsForOperators(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, Config{})
		c := r.dial()
		c.send("MONITOR\r\n")
		c.expect("-NOPERM User default has no permissions to run the 'monitor' command\r\n")
		if r.server.monitors.all.Load() != nil {
			t.Error("it is told all the same")
		}
		r.end()
	})
}

// Who does not read is cut off, and those that it is told of notice nothing.
func TestMonitorThatDoesNotReadIsCutOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := dangerous()
		cfg.Limits.MaxUnread = 10_000
		r := newRig(t, cfg)
		slow, quick, c := r.monitoring(), r.monitoring(), r.dial()
		heard := make(chan int)
		go func() {
			lines := bufio.NewScanner(quick.nc)
			n := 0
			for lines.Scan() {
				if !regexp.MustCompile(`^\+\d+\.\d{6} \[0 pipe\] "(PING|GET)"`).MatchString(lines.Text()) {
					t.Errorf("a monitor hears %q", lines.Text())
				}
				n++
			}
			heard <- n
		}()
		const asked = 1000
		for range asked {
			c.send("PING\r\n")
			c.expect("+PONG\r\n")
			synctest.Wait() // until who reads has
		}
		if n := r.server.stats.outputLimit.Load(); n != 1 || len(*r.server.monitors.all.Load()) != 1 {
			t.Errorf("%d are cut off", n)
		}
		if _, err := io.ReadAll(slow.nc); err != nil {
			t.Errorf("who does not read meets %v", err)
		}
		c.send("GET k\r\n")
		synctest.Wait()
		r.engine.answer(t, "k", quorum.Result{Decision: quorum.Won})
		c.expect("$-1\r\n")
		synctest.Wait()
		quick.nc.Close()
		if n := <-heard; n != asked+1 {
			t.Errorf("a monitor that reads hears of %d commands", n)
		}
		synctest.Wait()
		if r.server.monitors.all.Load() != nil {
			t.Error("monitors that are gone are told on")
		}
		r.end()
	})
}

// A monitor may be silent for ever, as a subscriber may.
func TestMonitorIsNotIdle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := dangerous()
		cfg.Timeout = time.Second
		r := newRig(t, cfg)
		m, c := r.monitoring(), r.dial()
		time.Sleep(time.Minute)
		c.expectEnd("")
		c = r.dial()
		c.send("PING\r\n")
		c.expect("+PONG\r\n")
		m.expect(fmt.Sprintf("+%d.", time.Now().Unix()))
		r.end()
	})
}
