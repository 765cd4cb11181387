package proxy

import (
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"redlock-proxy/quorum"
)

func titles(info string) string {
	return strings.Join(regexp.MustCompile(`(?m)^# (\w+)`).FindAllString(info, -1), " ")
}

func TestInfoSections(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, Config{})
		for _, row := range []struct {
			names []string
			want  string
		}{
			{nil, "# Server # Clients # Memory # Persistence # Stats # Replication # CPU # Modules # Errorstats # Cluster # Keyspace # Quorum"},
			{[]string{"all"}, "# Server # Clients # Memory # Persistence # Stats # Replication # CPU # Commandstats # Latencystats # Errorstats # Cluster # Keyspace # Quorum"},
			{[]string{"everything"}, "# Server # Clients # Memory # Persistence # Stats # Replication # CPU # Modules # Commandstats # Latencystats # Errorstats # Cluster # Keyspace # Quorum"},
			{[]string{"QUORUM", "clients", "quorum"}, "# Clients # Quorum"},
			{[]string{"nosuch"}, ""},
			{[]string{"default", "commandstats"}, "# Server # Clients # Memory # Persistence # Stats # Replication # CPU # Modules # Commandstats # Errorstats # Cluster # Keyspace # Quorum"},
		} {
			info := r.server.info(row.names)
			if got := titles(info); got != row.want {
				t.Errorf("INFO %v: %s, want %s", row.names, got, row.want)
			}
			for _, text := range strings.Split(info, "\r\n") {
				if text != "" && !strings.HasPrefix(text, "# ") && !strings.Contains(text, ":") {
					t.Errorf("INFO %v: the line %q is no field", row.names, text)
				}
			}
		}
		r.end()
	})
}

// field is the value of a field of INFO.
func (r *rig) field(name string) string {
	r.t.Helper()
	for _, text := range strings.Split(r.server.info([]string{"everything"}), "\r\n") {
		if value, ok := strings.CutPrefix(text, name+":"); ok {
			return value
		}
	}
	r.t.Errorf("INFO has no field %s", name)
	return ""
}

func TestInfoCounts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := Config{ProgramVersion: "1.2.3", ConfigFile: "/etc/x.toml"}
		cfg.Commands.Password = func() string { return "secret" }
		r := newRig(t, cfg)
		c := r.dial()
		c.send("GET k\r\n")
		c.expect("-NOAUTH Authentication required.\r\n")
		c.send("AUTH wrong\r\n")
		c.expect("-WRONGPASS invalid username-password pair or user is disabled.\r\n")
		c.send("AUTH secret\r\nGET\r\nNOSUCH\r\n")
		c.expect("+OK\r\n-ERR wrong number of arguments for 'get' command\r\n-ERR unknown command 'NOSUCH', with args beginning with: \r\n")
		c.send("GET k\r\n")
		time.Sleep(30 * time.Millisecond)
		r.engine.answer(t, "k", quorum.Result{Decision: quorum.Won})
		c.expect("$-1\r\n")
		synctest.Wait()
		for name, want := range map[string]string{
			"cmdstat_get":                "calls=1,usec=30000,usec_per_call=30000.00,rejected_calls=2,failed_calls=0",
			"cmdstat_auth":               "calls=2,usec=0,usec_per_call=0.00,rejected_calls=0,failed_calls=1",
			"errorstat_NOAUTH":           "count=1",
			"errorstat_WRONGPASS":        "count=1",
			"errorstat_ERR":              "count=2",
			"total_error_replies":        "4",
			"acl_access_denied_auth":     "1",
			"total_commands_processed":   "3",
			"total_connections_received": "1",
			"connected_clients":          "1",
			"maxclients":                 "10000",
			"redlock_proxy_version":      "1.2.3",
			"redis_version":              "7.2.4",
			"config_file":                "/etc/x.toml",
			"role":                       "master",
			"loading":                    "0",
			"cluster_enabled":            "0",
		} {
			if got := r.field(name); got != want {
				t.Errorf("%s:%s, want %s", name, got, want)
			}
		}
		if input := r.field("total_net_input_bytes"); input == "0" {
			t.Error("no input counted")
		}
		r.end()
	})
}

func TestInfoShowsTheRateOfTheLastSecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, Config{})
		c := r.dial()
		time.Sleep(1100 * time.Millisecond)
		for range 50 {
			c.send("ping\r\n")
			c.expect("+PONG\r\n")
		}
		time.Sleep(time.Second)
		if got := r.field("instantaneous_ops_per_sec"); got != "50" {
			t.Errorf("rate %s, want 50", got)
		}
		r.end()
	})
}

func TestInfoQuorum(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, Config{})
		st := quorum.Status{Quorum: 2, Undos: 7, InFlight: 3}
		st.Decisions[quorum.Acquire][quorum.Won] = 11
		st.Decisions[quorum.Acquire][quorum.Unavailable] = 2
		st.Masters = []quorum.MasterStatus{{
			Name: "127.0.0.1:6381", State: quorum.Down, Since: time.Now(), Reason: "dial: refused, again\r\n",
			RunID: "abc", Version: "7.0.15", RoundTrip: 150 * time.Microsecond,
			Granted: 1, Refused: 2, Unknown: 3, Withheld: 4, Unasked: 11, Queue: 5, InBatch: 6, Debts: 7, DebtBytes: 8, Reconnects: 9,
			Left: 90 * time.Second, CatchUp: quorum.CatchUp{Copied: 10, Sources: 1, Needed: 2}, ClockKnown: true, ClockOffset: -2500 * time.Microsecond,
			Elsewhere: []quorum.MasterStatus{{DB: 3, State: quorum.Quarantined}, {DB: 7, State: quorum.CatchingUp}},
		}, {Name: "b", State: quorum.Quarantined, Withheld: 10, Debts: 20, DebtBytes: 30}}
		st.Quarantines, st.Quarantined, st.CatchUps, st.CatchUpKeys = 4, 3, 2, 1
		r.engine.stands(st)
		time.Sleep(12 * time.Second)
		for name, want := range map[string]string{
			"ready": "1", "draining": "0", "quorum": "2", "masters": "2", "undos": "7", "in_flight": "3",
			"votes_withheld": "14", "debts": "27", "debt_bytes": "38", "quarantines": "4", "quarantined": "3", "catch_ups": "2", "catch_up_keys": "1",
			"decisions_acquire": "won=11,contended=0,split=0,unavailable=2",
			"master0": "name=127.0.0.1:6381,state=down,since_seconds=12,run_id=abc,version=7.0.15,rtt_usec=150," +
				"granted=1,refused=2,unknown=3,withheld=4,unasked=11,queue=5,in_batch=6,debts=7,debt_bytes=8,reconnects=9," +
				"quarantine_left_seconds=90,catch_up_copied=10,catch_up_sources=1,catch_up_needed=2,clock_offset_usec=-2500,elsewhere=3:quarantined 7:catching-up,reason=dial: refused; again  ",
		} {
			if got := r.field(name); got != want {
				t.Errorf("%s:%s, want %s", name, got, want)
			}
		}
		if got := r.field("master1"); !strings.Contains(got, ",quarantine_left_seconds=,") {
			t.Errorf("of a master that waits for another one it is told %s", got)
		}
		r.end()
		if got := r.field("draining") + r.field("ready"); got != "10" {
			t.Errorf("after Shutdown draining, ready = %s, want 10", got)
		}
	})
}

func TestTimeIsTheMasters(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, Config{})
		c := r.dial()
		c.send("TIME\r\n")
		c.expect("*2\r\n$10\r\n1700000000\r\n$6\r\n123456\r\n")
		r.engine.timeless = true
		c.send("TIME\r\n")
		c.expect("-NOQUORUM no quorum of the masters' clocks agrees on the time of day\r\n")
		r.end()
	})
}
