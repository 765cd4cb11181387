package integration

import (
	"crypto/tls"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// writeFile writes a file that ends with the test.
func writeFile(t *testing.T, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "file")
	must(t, os.WriteFile(path, []byte(content), 0o600))
	return path
}

// startSecured starts a proxy whose clients need a password.
func startSecured(t *testing.T, masters []*Redis, password string) *Proxy {
	t.Helper()
	p := launch(t, ProxyOptions{Args: append(append(flags(masters), patient...), "--requirepass-file", writeFile(t, password+"\n"))})
	awaitVotingAs(t, p, len(masters), func() talk {
		c := dial(t, p.Addr)
		c.want("OK", "AUTH", password)
		return c
	})
	return p
}

// awaitVotingAs is awaitVoting where clients are not let in just so.
func awaitVotingAs(t *testing.T, p *Proxy, n int, connect func() talk) {
	t.Helper()
	eventually(t, func() error {
		c := connect()
		defer c.Close()
		if got := strings.Count(c.text("INFO", "quorum"), "state=voting"); got != n {
			return fmt.Errorf("%d masters vote, want %d", got, n)
		}
		return nil
	})
}

// TestMasterPasswordComesFromFileVariableOrURL, and is never shown.
func TestMasterPasswordComesFromFileVariableOrURL(t *testing.T) {
	t.Parallel()
	const password = "s3cr3t p@ss/word"
	masters := make([]*Redis, 3)
	var urls []string
	for i := range masters {
		masters[i] = startMaster(t, RedisOptions{Password: password})
		urls = append(urls, "--master", "redis://:s3cr3t%20p%40ss%2Fword@"+masters[i].Addr)
	}
	for name, o := range map[string]ProxyOptions{
		"file":     {Args: append(flags(masters), "--master-password-file", writeFile(t, password+"\n"))},
		"variable": {Args: flags(masters), Env: []string{"REDLOCK_PROXY_MASTER_PASSWORD=" + password}},
		"URL":      {Args: urls},
	} {
		t.Run(name, func(t *testing.T) {
			o.Args = append(append(o.Args, patient...), "--log-level", "trace")
			p := launch(t, o)
			awaitVoting(t, p, 3)
			c := dial(t, p.Addr)
			cycle(c, "k")
			if shown := p.Log() + c.text("INFO", "everything"); strings.Contains(shown, "s3cr3t") {
				t.Error("the log or INFO shows the password")
			}
		})
	}
	t.Run("wrong", func(t *testing.T) {
		p := launch(t, ProxyOptions{Args: flags(masters), Env: []string{"REDLOCK_PROXY_MASTER_PASSWORD=wrong"}})
		dial(t, p.Addr).wantNoQuorum(acquireArgs("k", "t", ttl)...)
		eventually(t, func() error { return logged(p, "WRONGPASS") })
	})
}

// startAsUser starts three masters, and a proxy that is the user px to them, who may do all.
func startAsUser(t *testing.T) ([]*Redis, *Proxy, talk) {
	t.Helper()
	masters := startMasters(t, 3)
	for _, m := range masters {
		ask(t, m, "ACL", "SETUSER", "px", "on", ">pw", "~*", "&*", "+@all")
	}
	p := startProxy(t, append(flags(masters), "--master-user", "px", "--master-password-file", writeFile(t, "pw\n"))...)
	return masters, p, dial(t, p.Addr)
}

// TestMasterWhoseUserMayNotFreeLocksIsDownUntilItMay: two masters take from the proxy's user
// what locks are freed with, and give it back. What was freed meanwhile is read by nobody.
func TestMasterWhoseUserMayNotFreeLocksIsDownUntilItMay(t *testing.T) {
	t.Parallel()
	masters, p, c := startAsUser(t)
	c.lockTogether(masters, "k", "t")
	c.want("OK", "SET", "for ever", "t", "NX")
	wantHolding(t, masters, "for ever", "t", 0, 1, 2)
	for _, m := range masters[1:] {
		ask(t, m, "ACL", "SETUSER", "px", "-eval", "-evalsha", "-del")
	}
	c.want(1, "DEL", "for ever")
	c.want(1, releaseArgs("k", "t")...)
	c.wantNoQuorum("GET", "for ever")
	c.wantNoQuorum("GET", "k")
	eventually(t, func() error { return logged(p, "NOPERM") })
	eventually(t, func() error {
		if told := c.text("INFO", "quorum"); strings.Count(told, "NOPERM") != 2 {
			return fmt.Errorf("INFO says %.600s", told)
		}
		return nil
	})
	for _, m := range masters[1:] {
		ask(t, m, "ACL", "SETUSER", "px", "+@all")
	}
	wantGone(t, masters, "k")
	wantGone(t, masters, "for ever")
	awaitVoting(t, p, 3)
	cycle(c, "k")
}

// TestForbiddenKeyEndsNoCatchUp: somebody else keeps keys beside the locks, which the proxy's
// user may not touch, or may only read, as versions say it each in their own words.
func TestForbiddenKeyEndsNoCatchUp(t *testing.T) {
	t.Parallel()
	masters, p, c := startAsUser(t)
	for _, m := range masters {
		ask(t, m, "ACL", "SETUSER", "px", "resetkeys", "~lock:*", "~redlock-proxy:{*")
	}
	c.lock("lock:k", "t", ttl)
	c.want("OK", "SET", "lock:for ever", "t", "NX")
	wantHolding(t, masters, "lock:k", "t", 0, 1, 2)
	ask(t, masters[1], "SET", "app:config", "x")
	ask(t, masters[1], "HSET", "app:hash", "f", "x")
	ask(t, masters[2], "SET", "app:config", "y")
	ask(t, masters[0], "FLUSHALL")
	eventually(t, func() error { return logged(p, "master has caught up") })
	awaitVoting(t, p, 3)
	wantHolding(t, masters, "lock:k", "t", 0, 1, 2)
	wantHolding(t, masters, "lock:for ever", "t", 0, 1, 2)
	must(t, logged(p, "master does not let its user touch keys"))
	cycle(c, "lock:another")
}

// TestGhostsStayWhereTheUserMayNotWatchThem: a master that is back lets its user free it of what
// nobody holds no sooner than it lets a transaction of his watch that.
func TestGhostsStayWhereTheUserMayNotWatchThem(t *testing.T) {
	t.Parallel()
	masters, p, c := startAsUser(t)
	ask(t, masters[0], "ACL", "SETUSER", "px", "-exec")
	awaitCatchUp(t, p, masters[0])
	ask(t, masters[0], "SET", "ghost", "1")
	eventually(t, func() error { return logged(p, "its user lacks a right") })
	cycle(c, "k")
	if exists := ask(t, masters[0], "EXISTS", "ghost"); exists != int64(1) {
		t.Error("what nobody holds is gone")
	}
	ask(t, masters[0], "ACL", "SETUSER", "px", "+@all")
	wantGone(t, masters, "ghost")
}

// TestWhatCannotBePutBackStaysWhereItIs: the masters' user may not restore keys, so what a
// refused script, or a write that a minority has carried out, replaces would be gone for good.
func TestWhatCannotBePutBackStaysWhereItIs(t *testing.T) {
	t.Parallel()
	masters, p, c := startAsUser(t)
	c.lock("k", "t", ttl)
	wantHolding(t, masters, "k", "t", 0, 1, 2)
	for _, m := range masters {
		ask(t, m, "ACL", "SETUSER", "px", "-restore")
	}
	c.do("EVAL", "redis.call('set',KEYS[1],'x') return redis.call('pfadd',KEYS[1],'1')", "1", "k")
	for _, m := range masters {
		if exists := ask(t, m, "EXISTS", "k"); exists != int64(1) {
			t.Error("what a refused script cannot put back is gone")
		}
	}
	eventually(t, func() error { return logged(p, "'restore'") })
	c.wantNoQuorum("GET", "k")
}

func TestMastersAreReachedThroughTLS(t *testing.T) {
	t.Parallel()
	certificates, err := NewCertificates(t.TempDir())
	must(t, err)
	masters := make([]*Redis, 3)
	var args []string
	for i := range masters {
		masters[i] = startMaster(t, RedisOptions{TLS: certificates, Password: "secret"})
		args = append(args, "--master", "rediss://:secret@"+masters[i].Addr)
	}
	known := []string{"--master-tls-ca-cert-file", certificates.CA,
		"--master-tls-cert-file", certificates.ClientCert, "--master-tls-key-file", certificates.ClientKey}
	p := startProxy(t, append(args, known...)...)
	cycle(dial(t, p.Addr), "k")

	// Masters whose certificate nobody vouches for are no masters.
	doubtful := launch(t, ProxyOptions{Args: args})
	dial(t, doubtful.Addr).wantNoQuorum(acquireArgs("k", "t", ttl)...)
}

func TestClientsComeThroughTLS(t *testing.T) {
	t.Parallel()
	certificates, err := NewCertificates(t.TempDir())
	must(t, err)
	masters := startMasters(t, 3)
	port, err := FreePort()
	must(t, err)
	addr := "127.0.0.1:" + strconv.Itoa(port)
	p := launch(t, ProxyOptions{Args: append(append(flags(masters), patient...), "--tls-listen", addr,
		"--tls-cert-file", certificates.ServerCert, "--tls-key-file", certificates.ServerKey,
		"--tls-ca-cert-file", certificates.CA)})
	awaitVoting(t, p, 3)
	c, err := DialTLS(addr, certificates.Client())
	must(t, err)
	defer c.Close()
	cycle(talk{c, t}, "k")

	if answered(addr, certificates.Anonymous()) {
		t.Error("a client without a certificate is served")
	}
	if c, err := Dial(addr); err == nil {
		if _, err := c.Do("PING"); err == nil {
			t.Error("a client without TLS is served at the TLS port")
		}
		c.Close()
	}
	cycle(dial(t, p.Addr), "k")
}

func answered(addr string, config *tls.Config) bool {
	c, err := DialTLS(addr, config)
	if err != nil {
		return false
	}
	defer c.Close()
	_, err = c.Do("PING")
	return err == nil
}

func TestUnixSocketsServeBothSides(t *testing.T) {
	t.Parallel()
	masters := make([]*Redis, 3)
	args := append([]string(nil), patient...)
	for i := range masters {
		masters[i] = startMaster(t, RedisOptions{Unix: true})
		args = append(args, "--master", "unix://"+masters[i].Addr)
	}
	dir, err := os.MkdirTemp("", "sock-")
	must(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	p := launch(t, ProxyOptions{Args: args, Addr: filepath.Join(dir, "proxy.sock")})
	awaitVoting(t, p, 3)
	c := dial(t, p.Addr)
	cycle(c, "k")
	c.lock("held", "t", ttl)
	wantHolding(t, masters, "held", "t", 0, 1, 2)
}

// TestListenerBeyondLoopbackNeedsProtection, or is not opened.
func TestListenerBeyondLoopbackNeedsProtection(t *testing.T) {
	t.Parallel()
	masters := startMasters(t, 1)
	port, err := FreePort()
	must(t, err)
	addr := "0.0.0.0:" + strconv.Itoa(port)
	p, err := StartProxy(ProxyOptions{Path: program(t), Args: append(flags(masters), "--listen", addr), Bare: true})
	must(t, err)
	code, err := p.Wait(patience)
	if err != nil || code == 0 || !strings.Contains(p.Log(), "protected-mode") {
		t.Fatalf("exit code %d, %v, and it says:\n%s", code, err, p.Log())
	}
}

// TestPasswordChangesWithoutARestart: SIGHUP reads it again, and connections
// that were let in stay.
func TestPasswordChangesWithoutARestart(t *testing.T) {
	t.Parallel()
	masters := startMasters(t, 1)
	file := writeFile(t, "first\n")
	p := launch(t, ProxyOptions{Args: append(flags(masters), "--requirepass-file", file)})
	old := dial(t, p.Addr)
	old.want("OK", "AUTH", "first")
	must(t, os.WriteFile(file, []byte("second\n"), 0o600))
	must(t, p.Signal(syscall.SIGHUP))
	eventually(t, func() error {
		c := dial(t, p.Addr)
		defer c.Close()
		if reply := c.do("AUTH", "second"); reply != "OK" {
			return fmt.Errorf("got %v", reply)
		}
		return nil
	})
	dial(t, p.Addr).want(Failure("WRONGPASS invalid username-password pair or user is disabled."), "AUTH", "first")
	old.want("PONG", "PING")
	if strings.Contains(p.Log(), "second") {
		t.Error("the log shows the password")
	}
}
