package proxy

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"redlock-proxy/commands"
	"redlock-proxy/quorum"
)

// dangerous is a Config that lets an operator's orders through.
// everybodyOperates are users as allow all to everybody.
const everybodyOperates = "user default on nopass ~* &* +@all\n"

func dangerous() Config { return Config{Commands: commands.Options{Users: everybodyOperates}} }

func TestConfigSetAndRewriteAreTheCallers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := dangerous()
		var got []commands.Setting
		cfg.Configure = func(s []commands.Setting) commands.Reply { got = s; return commands.OK }
		cfg.Rewrite = func() commands.Reply { return commands.NotRewritten("the disk\nis full") }
		r := newRig(t, cfg)
		c := r.dial()
		c.send("CONFIG SET LogLevel debug requirepass hunter2\r\n")
		c.expect("+OK\r\n")
		if len(got) != 2 || got[0] != (commands.Setting{Name: "LogLevel", Value: "debug"}) || got[1].Value != "hunter2" {
			t.Errorf("set is %q", got)
		}
		if log := r.log.String(); !strings.Contains(log, `CONFIG SET: options="LogLevel requirepass" by=pipe id=1 `) || strings.Contains(log, "hunter2") {
			t.Errorf("the log says %s", log)
		}
		c.send("CONFIG REWRITE\r\n")
		c.expect("-ERR Rewriting config file: the disk is full\r\n")
		r.end()
	})
}

func TestWithoutAConfigurationNothingIsSet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, dangerous())
		c := r.dial()
		c.send("CONFIG SET loglevel debug\r\nCONFIG REWRITE\r\n")
		c.expect("-ERR CONFIG SET failed (possibly related to argument 'loglevel') - can't set immutable config\r\n" +
			"-ERR The server is running without a config file\r\n")
		r.end()
	})
}

func TestResetStatHasInfoCountFromZero(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, dangerous())
		c := r.dial()
		for range 50 {
			r.wait(c, "k", 10*ms)
		}
		c.send("NOSUCH\r\nGET\r\nEVALSHA x 0\r\n")
		c.expect("-ERR unknown command 'NOSUCH', with args beginning with: \r\n-ERR wrong number of arguments for 'get' command\r\n-NOSCRIPT No matching script. Please use EVAL.\r\n")
		time.Sleep(2 * time.Second)
		c.send("CONFIG RESETSTAT\r\n")
		c.expect("+OK\r\n")
		synctest.Wait()
		for name, want := range map[string]string{
			"total_commands_processed": "1", "total_connections_received": "0", "total_error_replies": "0", "total_net_input_bytes": "0",
			"cmdstat_config|resetstat": "calls=1,usec=0,usec_per_call=0.00,rejected_calls=0,failed_calls=0",
		} {
			if got := r.field(name); got != want {
				t.Errorf("%s:%s, want %s", name, got, want)
			}
		}
		info := r.server.info([]string{"commandstats", "latencystats", "errorstats"})
		for _, gone := range []string{"cmdstat_get", "usec_get", "errorstat_ERR"} {
			if strings.Contains(info, gone) {
				t.Errorf("%s is still told", gone)
			}
		}
		time.Sleep(time.Second)
		if got := r.field("instantaneous_ops_per_sec"); got != "2" { // that is one, in half a second
			t.Errorf("a second later the rate is %s", got)
		}
		c.send("GET k\r\n")
		synctest.Wait()
		r.engine.answer(t, "k", quorum.Result{Decision: quorum.Won})
		c.expect("$-1\r\n")
		if got := r.field("cmdstat_get"); got != "calls=1,usec=0,usec_per_call=0.00,rejected_calls=0,failed_calls=0" {
			t.Errorf("it counts on with %s", got)
		}
		r.end()
	})
}
