package conf

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

// wrong is the text of what Load says about arguments that are not right.
func wrong(t *testing.T, environ []string, args ...string) string {
	t.Helper()
	_, err := Load(args, environ)
	if err == nil {
		t.Fatalf("Load(%q) finds nothing wrong", args)
	}
	return err.Error()
}

// mistakeRows name files and masters that the test makes, in capitals.
var mistakeRows = []struct{ args, want string }{
	// The command line.
	{"--bogus", `command line: unknown flag --bogus; see --help`},
	{"--max-tl=1m", `command line: unknown flag --max-tl, did you mean "--max-ttl"?; see --help`},
	{"start", `command line: there is no command start; did you mean serve?`},
	{"--max-ttl", `command line: --max-ttl: it needs a value; see --help`},
	{"--config MISSING", `config: open MISSING: no such file or directory; correct the path, or make the file readable for the user that the proxy runs as`},

	// Values.
	{"--acquire-timeout 300", `--acquire-timeout: "300" has no unit; write 300ms for milliseconds or 300s for seconds`},
	{"--acquire-timeout soon", `--acquire-timeout: "soon" is not a duration; write a number and a unit, such as 250ms, 10s, 5m or 1h30m`},
	{"--probe-interval 2m", `--probe-interval: 2m is out of range; write a duration from 10ms to 1m`},
	{"--timeout=-1s", `--timeout: -1s is out of range; write a duration from 0 to 8760h`},
	{"--split-retries many", `--split-retries: "many" is not a whole number; write one from 0 to 100`},
	{"--max-clients 0", `--max-clients: 0 is out of range; write a number from 1 to 1000000`},
	{"--max-client-memory 1000000", `--max-client-memory: 1000000 bytes are too few to serve clients with; write 33554432 or more, or 0 for the default`},
	{"--over-max-ttl drop", `--over-max-ttl: "drop" is not a choice; write keep or refuse`},
	{"--tls-auth-clients maybe", `--tls-auth-clients: "maybe" is not a choice; write yes, no or optional`},
	{"--log-level loud", `--log-level: "loud" is not a choice; write trace, debug, info, warn or error`},

	{"--redis-version 8", `--redis-version: "8" is not a version of Redis; write three numbers, such as 7.2.0`},
	{"--redis-version 7.2.0-rc1", `--redis-version: "7.2.0-rc1" is not a version of Redis`},

	// Listeners.
	{"--listen 6380", `--listen: "6380" is not host:port; write host:port, such as 127.0.0.1:6380, or :6380 for all interfaces`},
	{"--listen ::1:6380", `--listen: "::1:6380" is not host:port; write an IPv6 address in brackets: [::1]:6380`},
	{"--listen localhost:99999", `--listen: "localhost:99999" has no port from 0 to 65535; write host:port, such as 127.0.0.1:6380`},
	{"--listen /run/x", `--listen: "/run/x" is a path; write unix:///run/x`},
	{"--listen unix://run/x", `--listen: "unix://run/x" names no absolute path; write unix:///run/redlock-proxy/socket, with three slashes`},
	{"--listen unix:///" + strings.Repeat("x", 107), `is longer than the 107 bytes that the kernel allows for a socket; choose a shorter path`},
	{"--listen redis://h:1", `--listen: "redis://h:1" is a URL; write host:port, or unix:///path; tls-listen is for TLS`},
	{"--listen a!b:1", `--listen: "a!b" is not the name or address of a host; write host:port, such as 127.0.0.1:6380`},
	{"--listen 127.0.0.1:1,localhost:1", `--listen: localhost:1 is there twice, first in listen; leave one of them out`},
	{"--listen unix:///a/b,unix:///a/./b", `--listen: unix:///a/b is there twice, first in listen; leave one of them out`},
	{"--listen=", `--listen: there is no address to listen on; name one in listen or tls-listen, such as 127.0.0.1:6380`},
	{"--listen :6380", `--listen: other machines can reach :6380, and nobody has to prove who he is there; set a password with requirepass-file, demand client certificates with tls-listen and tls-auth-clients yes, listen on 127.0.0.1, or set protected-mode no`},
	{"--listen 10.0.0.1:6380", `other machines can reach 10.0.0.1:6380`},

	// Masters that a variable was to name.
	{"--master=", `--master: it names no master; name 3 or 5, or leave it out`},
	{"--master=,", `--master: it names no master; name 3 or 5, or leave it out`},

	// Passwords.
	{"--requirepass a --requirepass-file EMPTY", `--requirepass-file: there is a password in requirepass as well; leave one of them out`},
	{"--requirepass-file EMPTY", `--requirepass-file: EMPTY is empty; write the password into it, or leave requirepass-file out`},
	{"--requirepass-file MISSING", `--requirepass-file: open MISSING: no such file or directory; correct the path`},
	{"--requirepass-file /dev/zero", `--requirepass-file: /dev/zero is no regular file; correct the path`},
	{"--master a:1 --master-password-file MISSING", `--master-password-file: open MISSING`},
	{"--master a:1 --master-password a --master-password-file EMPTY", `--master-password-file: there is a password in master-password as well`},
	{"--master a:1 --master-user u", `--master-user: there is a user and no password; name it in master-password-file, or leave the user out`},
	{"--master-password x", `master: there is a user or a password for masters, but no master; name 3 or 5 in master`},

	{"--audit-log /dev/null", `--audit-log: /dev/null is no regular file; name a file, or write stdout or stderr`},
	{"--audit-log /", `--audit-log: / is no regular file`},

	// Masters.
	{"--master 6381", `--master: "6381" is not host:port; write host:port, such as 127.0.0.1:6379`},
	{"--master :6381", `--master: ":6381" names no host; write host:port`},
	{"--master a:0", `--master: "a:0" has no port from 1 to 65535`},
	{"--master http://a:1", `--master: "http://a:1" is a URL of another kind; write host:port, redis://, rediss:// or unix://`},
	{"--master u:pw@a:1", `--master: master 1 has a user or password, but is no URL; write redis://user:password@host:port, with a comma in the password as %2C`},
	{"--master redis://u@a:1", `--master: "redis://…@a:1" has a user and no password; write redis://user:password@host:port`},
	{"--master redis://a:1/3", `--master: "redis://a:1/3" names a database other than 0; leave it out`},
	{"--master redis://a:1?x=y", `--master: "redis://a:1?x=y" has more than a host; leave out what follows ? or #`},
	{"--master redis://a:1#x", `has more than a host`},
	{"--master redis://u:%zz@a:1", `--master: "redis://…@a:1" is not a URL; write redis://user:password@host:port, with special characters`},
	{"--master redis://", `--master: "redis://" names no host; write redis://host:port`},
	{"--master unix:///x?db=1", `--master: "unix:///x?db=1" has more than a path`},
	{"--master unix:x", `--master: "unix:x" names no absolute path`},
	{"--master a:1,b:1,A.:1", `--master: the masters 1 and 3 are both a.:1; leave one of them out: a quorum counts each server once`},
	{"--master localhost:1,redis://127.0.0.1:1", `the masters 1 and 2 are both 127.0.0.1:1`},
	{"--master [::ffff:10.0.0.1]:1,10.0.0.1:1", `the masters 1 and 2 are both 10.0.0.1:1`},
	{"--master a:6379,redis://a", `the masters 1 and 2 are both a:6379`},
	{"--master 127.0.0.1:6380", `--master: 127.0.0.1:6380 is where the proxy itself listens; name the master's address, or listen elsewhere`},
	{"--master SIXTEEN", `--master: there are 16 masters; name at most 15; 3 or 5 are usual`},
	{"--master a:1 --embedded 3", `--embedded: masters are named as well; leave out embedded, which is for trying out, or master`},
	{"--embedded 0", `master: there is no master; name 3 or 5 in master, or leave embedded at 3 to try it out`},

	// Locks.
	{"--acquire-timeout 2s --max-ttl 10s", `--acquire-timeout: an acquire-timeout of 2s is more than a tenth of a max-ttl of 10s, so locks could run out while they are being taken; set acquire-timeout to at most 1s, or max-ttl to at least 20s`},
	{"--max-ttl 4s", `--max-ttl: 4s is out of range; write a duration from 5s to 168h`},
}

func TestEveryMistakeIsNamedWithItsCure(t *testing.T) {
	m16 := make([]string, 16)
	for i := range m16 {
		m16[i] = fmt.Sprintf("m%d:6379", i)
	}
	named := strings.NewReplacer("MISSING", filepath.Join(t.TempDir(), "none"), "EMPTY", write(t, "empty", "\n"), "SIXTEEN", strings.Join(m16, ","))
	for _, c := range mistakeRows {
		c.args, c.want = named.Replace(c.args), named.Replace(c.want)
		got := wrong(t, nil, strings.Fields(c.args)...)
		if !strings.Contains(got, c.want) {
			t.Errorf("%s\n got %s\nwant %s", c.args, got, c.want)
		}
		if strings.Contains(got, "\n") {
			t.Errorf("%s: more than one problem: %s", c.args, got)
		}
	}
}

func TestMistakesInTheFileAreNamedWithTheirLines(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"\nmax_ttl = \"1m\"", ` line 2: max_ttl: there is no such option; did you mean max-ttl?`},
		{"colour = 1", ` line 1: colour: there is no such option; see --help for the names, or leave it out`},
		{"[tls]\nlisten = \"a:1\"", ` line 1: tls: there is no such option`},
		{"config = \"x\"", ` line 1: config: the file cannot name another file; leave it out`},
		{"\n\nmax-ttl = 300", ` line 3: max-ttl: this number has no unit; write "300ms" for milliseconds or "300s" for seconds`},
		{"max-ttl = true", ` line 1: max-ttl: this is true or false; write a duration in quotes, such as "250ms"`},
		{"max-clients = \"10\"", ` line 1: max-clients: this is text; write the number without quotes`},
		{"max-clients = 1.5", ` line 1: max-clients: this is a number with a fraction; write a whole number`},
		{"protected-mode = false", ` line 1: protected-mode: this is true or false; write yes or no in quotes`},
		{"requirepass = 12345", ` line 1: requirepass: this is a number; write text in quotes`},
		{"log-level = [\"info\"]", ` line 1: log-level: this is a list; write text in quotes`},
		{"master = 6379", ` line 1: master: this is a number; write texts in a list, such as ["a", "b"]`},
		{"master = [\"a:1\", 2]", ` line 1: master: the list holds a number; write texts in a list, such as ["a", "b"]`},
		{"listen = 1979-05-27", ` line 1: listen: this is a date or time; write texts in a list`},
		{"[listen]\nx = 1", ` line 1: listen: this is a table; write texts in a list`},
		{"\nlog-level = \"loud\"", ` line 2: log-level: "loud" is not a choice; write trace, debug, info, warn or error`},
		{"max-clients = 1\nmax-clients = 2", ` line 2: Key 'max-clients' has already been defined.; write name = "value", name = number or name = ["value", "value"]`},
		{"max-clients 1", ` line 1: `},
	} {
		path := write(t, "c.toml", c.text)
		got := wrong(t, nil, "--config", path)
		if !strings.HasPrefix(got, path+c.want) || strings.Contains(got, "\n") {
			t.Errorf("%q\n got %s\nwant %s", c.text, got, path+c.want)
		}
	}
}

func TestAllMistakesAreReportedAtOnce(t *testing.T) {
	path := write(t, "c.toml", "nonsense = 1\nmax-ttl = 5\nsplit-delay = \"-1s\"\n")
	got := wrong(t, []string{"REDLOCK_PROXY_MAX_CLIENTS=many", "REDLOCK_PROXY_LISTEN=:6380"},
		"--config", path, "--bogus", "value", "--typo=1", "check", "--embedded=2", "--master", "a", "--timeout", "7")
	for _, part := range []string{
		"--bogus", "--typo", "nonsense", "max-ttl", "split-delay", "REDLOCK_PROXY_MAX_CLIENTS", "REDLOCK_PROXY_LISTEN", "--embedded", "--master", "--timeout",
	} {
		if !strings.Contains(got, part) {
			t.Errorf("nothing about %s in\n%s", part, got)
		}
	}
	if n := strings.Count(got, "\n") + 1; n != 10 {
		t.Errorf("%d problems, want 10:\n%s", n, got)
	}
}
