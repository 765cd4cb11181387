package conf

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"
)

// write puts a file into a directory of its own and gives its path.
func write(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// load is Load of arguments that must be right.
func load(t *testing.T, environ []string, args ...string) *Config {
	t.Helper()
	c, err := Load(args, environ)
	if err != nil {
		t.Fatalf("Load(%q): %v", args, err)
	}
	return c
}

func TestNothingConfiguredMeansEmbeddedMastersOnLoopback(t *testing.T) {
	c := load(t, nil)
	if c.Command != Serve || c.Embedded != 3 || len(c.Masters) != 0 || len(c.Warnings) != 0 {
		t.Errorf("command %v, embedded %d, masters %v, warnings %q", c.Command, c.Embedded, c.Masters, c.Warnings)
	}
	if want := []Address{{"tcp", "127.0.0.1:6380"}}; !reflect.DeepEqual(c.Listeners, want) {
		t.Errorf("listeners %v, want %v", c.Listeners, want)
	}
	want := Options{
		Listen: []string{"127.0.0.1:6380"}, TLSListen: []string{}, AdminHost: []string{}, User: []string{}, AdminTLS: "no", Master: []string{},
		ProtectedMode: "yes", RedisVersion: "7.2.0", TLSAuthClients: "yes", FirstStart: "yes", OverMaxTTL: "keep", LogLevel: "info", LogFormat: "text",
		SlowlogSlowerThan: 10000, SlowlogMaxLen: 128,
		MaxClients: 10000, Embedded: 3, SplitRetries: 3, ScriptSteps: 10000, ScriptMemory: 1 << 20,
		TCPKeepalive: 300 * time.Second, ReusePort: "no", ShutdownTimeout: 10 * time.Second,
		ConnectTimeout: 500 * time.Millisecond, MasterTimeout: 500 * time.Millisecond, ProbeInterval: time.Second,
		AcquireTimeout: 250 * time.Millisecond, MaxTTL: 5 * time.Minute, SplitDelay: 25 * time.Millisecond, TraceSample: 0.01,
	}
	if !reflect.DeepEqual(c.Options, want) {
		t.Errorf("defaults\n%+v, want\n%+v", c.Options, want)
	}
}

func TestFlagCountsBeforeVariableBeforeFileBeforeDefault(t *testing.T) {
	path := write(t, "c.toml", "max-ttl = \"1m\"\nmax-clients = 7\n\nsplit-retries = 9\n")
	environ := []string{
		"REDLOCK_PROXY_CONFIG=" + path, "REDLOCK_PROXY_MAX_TTL=2m", "REDLOCK_PROXY_MAX_CLIENTS=8",
		"REDLOCK_PROXY_LOG_LEVEL=", "HOME=/",
	}
	c := load(t, environ, "--max-ttl", "3m")
	if c.MaxTTL != 3*time.Minute || c.MaxClients != 8 || c.SplitRetries != 9 || c.LogLevel != "info" {
		t.Errorf("max-ttl %v, max-clients %d, split-retries %d, log-level %s", c.MaxTTL, c.MaxClients, c.SplitRetries, c.LogLevel)
	}
	for name, want := range map[string]string{
		"max-ttl": "flag --max-ttl", "max-clients": "environment REDLOCK_PROXY_MAX_CLIENTS",
		"split-retries": "file " + path + " line 4", "log-level": "default",
	} {
		if got := c.From[name].String(); got != want {
			t.Errorf("%s is from %q, want %q", name, got, want)
		}
	}
}

func TestSubcommandMayStandAnywhereOrNowhere(t *testing.T) {
	for _, c := range []struct {
		args []string
		want Command
	}{
		{nil, Serve},
		{[]string{"serve"}, Serve},
		{[]string{"--split-retries", "1"}, Serve},
		{[]string{"--split-retries=1", "check"}, Check},
		{[]string{"check", "--split-retries=1"}, Check},
		{[]string{"ping"}, Ping},
		{[]string{"ready"}, Ready},
		{[]string{"--version"}, ShowVersion},
		{[]string{"--help"}, ShowHelp},
		{[]string{"check", "-h"}, ShowHelp},
		{[]string{"--max-ttl", "nonsense", "--help"}, ShowHelp},
	} {
		if got := load(t, nil, c.args...).Command; got != c.want {
			t.Errorf("%q is %v, want %v", c.args, got, c.want)
		}
	}
}

func TestMastersAreReadInEveryForm(t *testing.T) {
	c := load(t, []string{"REDLOCK_PROXY_MASTER_PASSWORD=common", "REDLOCK_PROXY_MASTER_USER=all"},
		"--master", "10.0.0.1:6381, Redis-2:6382", "--master=redis://u:p%40%2F@r3", "--master", "rediss://:pw@[2001:DB8::1]:7000/0?name=east-1",
		"--master", "unix:///run/../run/redis.sock")
	want := []Master{
		{Address{"tcp", "10.0.0.1:6381"}, false, "all", "common", ""},
		{Address{"tcp", "redis-2:6382"}, false, "all", "common", ""},
		{Address{"tcp", "r3:6379"}, false, "u", "p@/", ""},
		{Address{"tcp", "[2001:db8::1]:7000"}, true, "", "pw", "east-1"},
		{Address{"unix", "/run/redis.sock"}, false, "all", "common", ""},
	}
	if !reflect.DeepEqual(c.Masters, want) {
		t.Errorf("masters\n%v, want\n%v", c.Masters, want)
	}
	if a, b := c.Masters[0].Name(), c.Masters[3].Name(); a != "10.0.0.1:6381" || b != "east-1" {
		t.Errorf("they are called %q and %q", a, b)
	}
	if c.Embedded != 0 {
		t.Errorf("%d embedded masters beside real ones", c.Embedded)
	}
	if c.MasterTLS == nil || c.Masters[3].Host() != "2001:db8::1" {
		t.Errorf("MasterTLS %v, host %q", c.MasterTLS, c.Masters[3].Host())
	}
	if c.Masters[2].Password != "p@/" {
		t.Error("the password of a URL is not unescaped")
	}
}

func TestListsInTheFileMayBeListsOrTexts(t *testing.T) {
	for _, text := range []string{
		`master = ["a:1", "b:2", "c:3"]`, `master = "a:1,b:2 , c:3"`, `master = ["a:1,b:2", "c:3"]`,
	} {
		c := load(t, nil, "--config", write(t, "c.toml", text))
		if want := []string{"a:1", "b:2", "c:3"}; !reflect.DeepEqual(c.Master, want) {
			t.Errorf("%s: %q, want %q", text, c.Master, want)
		}
	}
}

func TestPasswordFileMayEndInOneNewline(t *testing.T) {
	for text, want := range map[string]Secret{"s3cret": "s3cret", "s3cret\n": "s3cret", "s3cret\r\n": "s3cret", "s3cret\n\n": "s3cret\n", " s ": " s "} {
		c := load(t, nil, "--requirepass-file", write(t, "pw", text))
		if c.Password != want {
			t.Errorf("%q: the password is %q, want %q", text, string(c.Password), string(want))
		}
	}
}

// A container's health check has the variables of the proxy, but not its flags.
func TestPingAndReadyOpenNothingAndNeedNoProtection(t *testing.T) {
	environ := []string{"REDLOCK_PROXY_LISTEN=:6380"}
	for _, command := range []string{"ping", "ready"} {
		load(t, environ, command)
	}
	for _, command := range []string{"serve", "check"} {
		if got := wrong(t, environ, command); !strings.Contains(got, "other machines can reach :6380") {
			t.Errorf("%s: %s", command, got)
		}
	}
}

func TestYesAndNoHaveTheUsualOtherWords(t *testing.T) {
	for text, want := range map[string]string{"yes": "yes", "no": "no", "off": "no", "ON": "yes", "false": "no"} {
		if c := load(t, nil, "--protected-mode", text); c.ProtectedMode != want {
			t.Errorf("%s is %s, want %s", text, c.ProtectedMode, want)
		}
	}
}

func TestWarnings(t *testing.T) {
	for _, c := range []struct {
		environ, args []string
		want          string // part of the only warning; "" for none
	}{
		{nil, []string{"--master", "a:1,b:1,c:1"}, ""},
		{nil, []string{"--master", "a:1"}, ""},
		{nil, []string{"--master", "a:1,b:1"}, "2 masters are an even number: they stand the loss of no more of them than 1 would"},
		{nil, []string{"--embedded", "4"}, "4 masters are an even number"},
		{nil, []string{"--requirepass", "x"}, "--requirepass is on the command line, where ps shows it to everybody on this machine; use --requirepass-file or the variable REDLOCK_PROXY_REQUIREPASS"},
		{nil, []string{"--master", "redis://:x@h:1"}, "--master has a password on the command line"},
		{nil, []string{"--master", "a:1", "--master-password=x"}, "--master-password is on the command line"},
		{[]string{"REDLOCK_PROXY_REQUIREPASS=x"}, nil, ""},
		{[]string{"REDLOCK_PROXY_MAXTTL=1m"}, nil, "the variable REDLOCK_PROXY_MAXTTL is no option; did you mean max-ttl?"},
		{[]string{"REDLOCK_PROXY_max_ttl=1m"}, nil, "the variable REDLOCK_PROXY_max_ttl is no option"},
		{[]string{"REDLOCK_PROXY_PORT=tcp://10.0.0.1:6380", "REDLOCK_PROXY_SERVICE_HOST=10.0.0.1", "REDLOCK_PROXY_PORT_6380_TCP=x"}, nil, ""},
	} {
		got := strings.Join(load(t, c.environ, c.args...).Warnings, "\n")
		if c.want == "" && got != "" || !strings.Contains(got, c.want) || strings.Contains(got, "\n") {
			t.Errorf("%q %q: warnings %q, want %q", c.environ, c.args, got, c.want)
		}
	}
}
