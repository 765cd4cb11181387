package conf

import (
	"errors"
	"os"
	"strings"
	"testing"
)

func setAll(c *Config, words ...string) (*Config, error) {
	var list []Setting
	for i := 0; i < len(words); i += 2 {
		list = append(list, Setting{words[i], words[i+1]})
	}
	return c.Set(list)
}

func TestWhatMayChangeIsSetAllAtOnce(t *testing.T) {
	c := load(t, nil, "--requirepass", "one")
	next, err := setAll(c, "slowlog-max-len", "5", "SLOWLOG-log-slower-than", "-1", "loglevel", "verbose", "requirepass", "two", "latency-monitor-threshold", "100")
	if err != nil {
		t.Fatal(err)
	}
	if next.SlowlogMaxLen != 5 || next.SlowlogSlowerThan != -1 || next.LogLevel != "debug" || next.Password != "two" || next.LatencyMonitorThreshold != 100 {
		t.Errorf("set is %+v, with the password %s", next.Options, string(next.Password))
	}
	if c.SlowlogMaxLen != 128 || c.Password != "one" || c.From["slowlog-max-len"].Source != Default {
		t.Errorf("what was in effect has changed: %+v", c.Options)
	}
	if next.From["slowlog-max-len"].Source != Order || next.From["max-ttl"].Source != Default {
		t.Errorf("origins are %v and %v", next.From["slowlog-max-len"], next.From["max-ttl"])
	}
	if again, err := setAll(next, "loglevel", "warning"); err != nil || again.LogLevel != "warn" || again.SlowlogMaxLen != 5 {
		t.Errorf("set again is %v, %v", again, err)
	}
}

func TestSettingsAreRefusedInRedissWords(t *testing.T) {
	c := load(t, nil, "--listen", ":7000", "--requirepass", "one")
	for _, row := range []struct {
		words     []string
		name, why string
	}{
		{[]string{"slowlog-max-len", "5", "nosuch", "1"}, "nosuch", ""},
		{[]string{"max-ttl", "1m"}, "max-ttl", "can't set immutable config"},
		{[]string{"slowlog-max-len", "5", "slowlog-max-len", "6"}, "slowlog-max-len", "duplicate parameter"},
		{[]string{"loglevel", "debug", "log-level", "info"}, "log-level", "duplicate parameter"},
		{[]string{"slowlog-max-len", "x"}, "slowlog-max-len", "argument couldn't be parsed into an integer"},
		{[]string{"slowlog-max-len", "+1"}, "slowlog-max-len", "argument couldn't be parsed into an integer"},
		{[]string{"slowlog-max-len", "99999999999999999999"}, "slowlog-max-len", "argument couldn't be parsed into an integer"},
		{[]string{"slowlog-max-len", "-1"}, "slowlog-max-len", "argument must be between 0 and 10000 inclusive"},
		{[]string{"loglevel", "loud"}, "loglevel", "argument(s) must be one of the following: trace, debug, info, warn, error"},
		{[]string{"slowlog-max-len", "5", "requirepass", ""}, "requirepass", "--listen: other machines can reach :7000, and nobody has to prove who he is there; set a password"},
		{[]string{"requirepass-file", "/nosuch"}, "requirepass-file", "requirepass-file: there is a password in requirepass as well; leave one of them out"},
		{[]string{"requirepass", "", "requirepass-file", "/nosuch"}, "requirepass-file", "requirepass-file: open /nosuch: no such file or directory; " + fileCure},
		{[]string{"tls-cert-file", "/nosuch"}, "tls-cert-file", "tls-cert-file: there is no TLS listener that would use it; name one in tls-listen, or set admin-tls yes, or leave it out"},
	} {
		_, err := setAll(c, row.words...)
		var r *Refused
		if !errors.As(err, &r) {
			t.Errorf("%q: %v", row.words, err)
			continue
		}
		if r.Name != row.name || r.Unknown != (row.why == "") || !strings.HasPrefix(r.Why, row.why) {
			t.Errorf("%q: refused for %s: %q, want %s: %q", row.words, r.Name, r.Why, row.name, row.why)
		}
	}
}

func TestCertificatesAreSetTogether(t *testing.T) {
	cert, key := validCertificate(t)
	c := load(t, nil, "--tls-listen", "127.0.0.1:7443", "--tls-cert-file", cert, "--tls-key-file", key, "--tls-ca-cert-file", cert)
	otherCert, otherKey := validCertificate(t)
	if _, err := setAll(c, "tls-cert-file", otherCert); err == nil || !strings.Contains(err.Error(), "tls-cert-file: "+"tls-cert-file: "+otherCert+" with "+key) {
		t.Errorf("one without the other: %v", err)
	}
	next, err := setAll(c, "tls-cert-file", otherCert, "tls-key-file", otherKey, "tls-auth-clients", "no", "slowlog-max-len", "1")
	if err != nil {
		t.Fatal(err)
	}
	if string(next.ServerTLS.Certificates[0].Certificate[0]) == string(c.ServerTLS.Certificates[0].Certificate[0]) || next.ServerTLS.ClientAuth == c.ServerTLS.ClientAuth || next.SlowlogMaxLen != 1 {
		t.Errorf("not all is set: %+v", next.Options)
	}
}

// A setting that has nothing to do with files is not refused for what has become of them.
func TestWhatStandsAloneIsSetWhateverIsWithFiles(t *testing.T) {
	cert, key := validCertificate(t)
	c := load(t, nil, "--tls-listen", "127.0.0.1:7443", "--tls-cert-file", cert, "--tls-key-file", key, "--tls-ca-cert-file", cert)
	if err := os.Remove(cert); err != nil {
		t.Fatal(err)
	}
	if next, err := setAll(c, "loglevel", "debug"); err != nil || next.LogLevel != "debug" || next.ServerTLS != c.ServerTLS {
		t.Errorf("%v", err)
	}
	warned := *c
	warned.Warnings = []string{"of something, at the start"}
	if next, err := setAll(&warned, "loglevel", "debug"); err != nil || next.Warnings != nil {
		t.Errorf("%v; it is warned again: %q", err, next.Warnings)
	}
	if _, err := setAll(c, "requirepass", "x"); err == nil {
		t.Error("a password is set without a look at what it hangs together with")
	}
}

func TestToldIsEveryOptionButPasswords(t *testing.T) {
	told := load(t, nil, "--requirepass", "hunter2", "--master", "redis://u:hunter2@a:1,b:2,c:3", "--max-ttl", "1m").Told()
	for name, want := range map[string]string{"max-ttl": "1m", "master": "redis://u:(set)@a:1 b:2 c:3", "acquire-timeout": "250ms", "script-steps": "10000", "log-level": "info"} {
		if told[name] != want {
			t.Errorf("%s is told as %q, want %q", name, told[name], want)
		}
	}
	for i := range options {
		if _, is := told[options[i].name]; is == options[i].secret() {
			t.Errorf("%s is told: %v", options[i].name, is)
		}
	}
}
