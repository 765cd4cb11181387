package main

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"redlock-proxy/conf"
	"redlock-proxy/quorum"
	"redlock-proxy/quorum/engine"
	"redlock-proxy/quorum/master"
)

func TestEngineGetsWhatIsConfigured(t *testing.T) {
	cfg := loaded(t, "--acquire-timeout", "1ms", "--max-ttl", "6s", "--max-hold", "3s", "--split-retries", "4", "--split-delay", "5ms",
		"--connect-timeout", "6ms", "--master-timeout", "7ms", "--probe-interval", "80ms", "--max-client-memory", "90000000")
	masters := []master.Master{{Name: "a"}}
	want := engine.Config{
		Set: master.Set{
			Masters: masters, AcquireTimeout: time.Millisecond, MaxTTL: 6 * time.Second,
			ConnectTimeout: 6 * time.Millisecond, MasterTimeout: 7 * time.Millisecond, ProbeInterval: 80 * time.Millisecond,
		},
		MaxHold: 3 * time.Second, SplitRetries: 4, SplitDelay: 5 * time.Millisecond, FirstStart: true,
		Memory: 90_000_000,
	}
	if got := engineConfig(cfg, masters); !reflect.DeepEqual(got, want) {
		t.Errorf("got\n%+v, want\n%+v", got, want)
	}
}

func TestServerGetsWhatIsConfigured(t *testing.T) {
	cfg := loaded(t, "--max-clients", "10", "--timeout", "1500ms", "--tcp-keepalive", "20s", "--acquire-wait", "4s", "--over-max-ttl", "refuse", "--max-ttl", "1m", "--redis-version", "8.4.0", "--user", "default on nopass ~* &* +@all",
		"--listen", "127.0.0.1:7000,unix:///x,[::1]:7001")
	live := inEffect(cfg)
	got := serverConfig(cfg, live, 9, now)
	if got.MaxClients != 9 || got.Timeout != 1500*time.Millisecond || got.TCPKeepAlive != 20*time.Second || got.AcquireWait != 4*time.Second ||
		got.Commands.MaxTTL != time.Minute || !got.Commands.RefuseOverMaxTTL || got.Commands.Now == nil || got.Commands.Version != "8.4.0" || got.Commands.Users != "user default on nopass ~* &* +@all\n" {
		t.Errorf("got %+v", got)
	}
	for name, want := range map[string]string{
		"maxclients": "9", "timeout": "2", "tcp-keepalive": "20", "port": "7000", "tls-port": "0", "bind": "127.0.0.1 ::1", "save": "", "appendonly": "no",
		"replica-read-only": "yes", "slave-read-only": "yes",
	} {
		if got := got.Commands.Settings()[name]; got != want {
			t.Errorf("CONFIG GET %s tells %q, want %q", name, got, want)
		}
	}
	if got := serverConfig(loaded(t), live, 9, now); got.Commands.RefuseOverMaxTTL || got.Commands.Users != "" {
		t.Error("over-max-ttl keep refuses, or there are users")
	}
}

func TestConfigGetHoldsNoPassword(t *testing.T) {
	cfg := loaded(t, "--requirepass", "hunter2", "--master", "redis://u:hunter2@a:1", "--listen", ":7000")
	for name, value := range settings(cfg, 1) {
		if strings.Contains(value, "hunter2") {
			t.Errorf("CONFIG GET %s tells %q", name, value)
		}
	}
	if got := settings(cfg, 1)["bind"]; got != "*" {
		t.Errorf("bind is %q, want *", got)
	}
}

func TestPasswordsAndCertificatesAreThoseInEffect(t *testing.T) {
	live := inEffect(loaded(t, "--requirepass", "one", "--master", "rediss://u:one@Redis-1:1,b:2,unix:///c", "--master-password", "all"))
	server := serverConfig(live.Load(), live, 1, now)
	masters := configuredMasters(live)
	credentials := func(i int) [2]string {
		user, password := masters[i].Credentials()
		return [2]string{user, password}
	}
	if got := server.Commands.Password(); got != "one" {
		t.Errorf("the password is %q", got)
	}
	if a, b := credentials(0), credentials(1); a != [2]string{"u", "one"} || b != [2]string{"", "all"} {
		t.Errorf("credentials %q, %q", a, b)
	}
	if masters[0].TLS().ServerName != "redis-1" || masters[1].TLS != nil || masters[2].TLS != nil {
		t.Errorf("TLS to %q, %t, %t", masters[0].TLS().ServerName, masters[1].TLS != nil, masters[2].TLS != nil)
	}
	if m := masters[2]; m.Network != "unix" || m.Address != "/c" || m.Name != "unix:///c" {
		t.Errorf("master %+v", m)
	}
	for i := range masters {
		if strings.Contains(masters[i].Name, "one") {
			t.Errorf("the name %q holds a password", masters[i].Name)
		}
	}

	next := loaded(t, "--requirepass", "two", "--master", "rediss://u:two@Redis-1:1,b:2,unix:///c", "--master-tls-server-name", "other")
	merged, _, _, err := conf.Reload(live.Load(), next)
	if err != nil {
		t.Fatal(err)
	}
	live.Store(merged)
	if got := server.Commands.Password(); got != "two" {
		t.Errorf("after the reload the password is %q", got)
	}
	if a, b := credentials(0), credentials(1); a != [2]string{"u", "two"} || b != [2]string{"", ""} {
		t.Errorf("after the reload credentials %q, %q", a, b)
	}
	if got := masters[0].TLS().ServerName; got != "other" {
		t.Errorf("after the reload TLS to %q", got)
	}
}

// conf cannot ask the engine how many masters it can count.
func TestConfAndEngineAgreeOnTheNumberOfMasters(t *testing.T) {
	list := make([]string, quorum.MaxMasters+1)
	for i := range list {
		list[i] = string(rune('a'+i)) + ":6379"
	}
	if _, err := conf.Load([]string{"--master", strings.Join(list[1:], ",")}, nil); err != nil {
		t.Errorf("%d masters: %v", quorum.MaxMasters, err)
	}
	if _, err := conf.Load([]string{"--master", strings.Join(list, ",")}, nil); err == nil {
		t.Errorf("%d masters are not too many", len(list))
	}
}

func TestMaxClientsFitsTheLimitOnOpenFiles(t *testing.T) {
	for _, c := range []struct {
		maxClients, masters int
		limit               uint64
		fit                 int
		warned              bool
	}{
		{10000, 3, 1 << 20, 10000, false},
		{10000, 3, 10050, 10000, false},
		{10000, 3, 10049, 9999, true},
		{10000, 3, 1024, 974, true},
		{10000, 15, 64, 1, true},
		{1, 3, 1 << 63, 1, false},
	} {
		fit, warning := fitClients(c.maxClients, c.masters, c.limit)
		if fit != c.fit || (warning != "") != c.warned {
			t.Errorf("max-clients %d with %d masters and %d files: %d, %q; want %d", c.maxClients, c.masters, c.limit, fit, warning, c.fit)
		}
	}
	if limit, err := openFilesLimit(); err != nil || limit == 0 {
		t.Errorf("the limit is %d, %v", limit, err)
	}
}

func now() (time.Time, bool) { return time.Now(), true }
