package main

import (
	"os"
	"strings"
	"syscall"
	"testing"
)

func TestConfigSetChangesARunningProxyAndRewriteItsFile(t *testing.T) {
	const file = "# ours\nuser = [\"default on nopass ~* &* +@all\"]\nlog-level = \"info\" # not much\n"
	path := write(t, "c.toml", file)
	p := startProgram(t, nil, "--config", path, "--listen", "127.0.0.1:0", "--slowlog-max-len", "7")
	e := endpoint{network: "tcp", address: p.await(`listening: address=(\S+)`)}
	ask := func(want string, command ...string) {
		t.Helper()
		if reply, err := e.ask(patience, command...); err != nil || reply != want {
			t.Errorf("%q: %q, %v; want %q", command, reply, err, want)
		}
	}
	ask("-ERR Unknown option or number of arguments for CONFIG SET - 'nosuch'", "CONFIG", "SET", "loglevel", "debug", "nosuch", "1")
	ask("-ERR CONFIG SET failed (possibly related to argument 'maxclients') - can't set immutable config", "CONFIG", "SET", "maxclients", "5")
	ask("-ERR CONFIG SET failed (possibly related to argument 'master') - can't set immutable config", "CONFIG", "SET", "loglevel", "debug", "master", "5")
	ask("-ERR CONFIG SET failed (possibly related to argument 'slowlog-max-len') - argument must be between 0 and 10000 inclusive", "CONFIG", "SET", "slowlog-max-len", "-5")
	ask("OK", "CONFIG", "REWRITE")
	if b, _ := os.ReadFile(path); string(b) != file {
		t.Errorf("where nothing is set the file becomes %q", b)
	}
	ask("OK", "CONFIG", "SET", "loglevel", "debug", "requirepass", "hunter2", "slowlog-max-len", "9", "slowlog-log-slower-than", "0")
	p.await(`\[WARN\] .*a client has given the order CONFIG SET: options="loglevel requirepass slowlog-max-len slowlog-log-slower-than" by=\S+ id=\d+ user=default name="" answer=OK`)
	ask("-NOAUTH Authentication required.", "SLOWLOG", "LEN")
	e.password = "hunter2"
	if n, err := e.ask(patience, "SLOWLOG", "LEN"); err != nil || n == "0" {
		t.Errorf("listed are %s, %v", n, err)
	}
	ask("OK", "CONFIG", "REWRITE")
	p.await(`what was written into the configuration file does not count at the next start: these do: instead=--slowlog-max-len`)
	want := "# ours\nuser = [\"default on nopass ~* &* +@all\"]\nlog-level = \"debug\" # not much\n" +
		"# Written by CONFIG REWRITE.\nrequirepass = \"hunter2\"\nslowlog-log-slower-than = 0\nslowlog-max-len = 9\n"
	if b, err := os.ReadFile(path); string(b) != want || err != nil {
		t.Errorf("the file becomes %q, %v", b, err)
	}
	p.signal(syscall.SIGHUP)
	p.await(`the options that may change are reloaded: changed=slowlog-max-len`) // which the flag says otherwise
	ask("OK", "CONFIG", "SET", "loglevel", "info")
	p.signal(syscall.SIGHUP)
	p.await(`the options that may change are reloaded: changed=log-level`)
	p.signal(syscall.SIGTERM)
	if code := p.exitCode(); code != 0 || strings.Contains(p.logged(), "hunter2") {
		t.Errorf("exit code %d, or the log tells the password", code)
	}
}

func TestConfigRewriteNeedsAFile(t *testing.T) {
	p := startProgram(t, nil, "--user", "default on nopass ~* &* +@all", "--listen", "127.0.0.1:0")
	e := endpoint{network: "tcp", address: p.await(`listening: address=(\S+)`)}
	if reply, err := e.ask(patience, "CONFIG", "REWRITE"); reply != "-ERR The server is running without a config file" || err != nil {
		t.Errorf("%q, %v", reply, err)
	}
}
