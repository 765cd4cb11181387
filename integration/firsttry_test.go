package integration

import (
	"errors"
	"fmt"
	"net"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// cli runs the real redis-cli.
func cli(t *testing.T, addr string, args ...string) string {
	t.Helper()
	host, port, err := net.SplitHostPort(addr)
	must(t, err)
	out, err := exec.Command("redis-cli", append([]string{"-h", host, "-p", port}, args...)...).CombinedOutput()
	if err != nil {
		t.Fatalf("redis-cli %q: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// TestFirstTry is what the README tells a new user to do: nothing configured
// (but a port that is free), and redis-cli.
func TestFirstTry(t *testing.T) {
	t.Parallel()
	p := launch(t, ProxyOptions{})
	awaitVoting(t, p, 3)
	tries := 0
	eventually(t, func() error {
		tries++
		return firstTry(t, p, fmt.Sprint("lock:", tries))
	})
	warnings := 0
	for line := range strings.Lines(p.Log()) {
		// A machine that is busy enough has a master miss its time.
		if strings.Contains(line, "[WARN]") && !strings.Contains(line, `reason="no answer in time"`) {
			warnings++
		}
	}
	if warnings != 1 || !strings.Contains(p.Log(), "[WARN]  redlock-proxy: embedded masters are for trying out") {
		t.Errorf("want one warning, about embedded masters:\n%s", p.Log())
	}
}

// firstTry is an error where the machine is too busy for three masters in the time that they have if
// nothing is configured.
func firstTry(t *testing.T, p *Proxy, key string) error {
	t.Helper()
	set := []string{"SET", key, "t1", "NX", "PX", "30000"}
	for _, step := range []struct {
		want string
		args []string
	}{
		{"OK", set},
		{"", set},
		{"t1", []string{"GET", key}},
		{"0", []string{"EVAL", releaseScript, "1", key, "t2"}},
		{"1", []string{"EVAL", releaseScript, "1", key, "t1"}},
		{"OK", []string{"SET", key, "t2", "NX", "PX", "30000"}},
		{"1", []string{"DEL", key}},
	} {
		if err := answers(t, p, step.want, step.args...); err != nil {
			return err
		}
	}
	began := time.Now()
	if err := answers(t, p, "OK", "SET", key, "t2", "NX", "PX", "300"); err != nil {
		return err
	}
	eventually(t, func() error { // the embedded masters' clock runs by itself
		if got := cli(t, p.Addr, set...); got != "OK" {
			return fmt.Errorf("got %q", got)
		}
		return nil
	})
	if after := time.Since(began); after < 300*time.Millisecond {
		t.Errorf("a lock of 300 ms was free after %v", after)
	}
	return nil
}

// answers fails where the answer is another one, but for NOQUORUM.
func answers(t *testing.T, p *Proxy, want string, args ...string) error {
	t.Helper()
	got := cli(t, p.Addr, args...)
	if strings.HasPrefix(got, "NOQUORUM") {
		return errors.New(got)
	}
	if got != want {
		t.Fatalf("redis-cli %q: got %q, want %q", args, got, want)
	}
	return nil
}

// What the embedded masters grant they let go of, also where a lock is a hash, and undo what a
// script has done that is refused.
func TestFirstTryIsForLocksThatAreHashesToo(t *testing.T) {
	t.Parallel()
	p := launch(t, ProxyOptions{Args: []string{"--acquire-timeout", "20s", "--master-timeout", "20s"}})
	awaitVoting(t, p, 3)
	a, b := &redisson{talk: dial(t, p.Addr), key: "k", owner: "a:1"}, &redisson{talk: dial(t, p.Addr), key: "k", owner: "b:1", requests: 100}
	for range 2 {
		if r := a.lock(); r != nil {
			t.Fatalf("the lock is not granted: %v", r)
		}
	}
	if r, _ := b.lock().(int64); r <= 0 {
		t.Errorf("another one is told that it is taken for %v", r)
	}
	for _, want := range []any{int64(0), int64(1), nil} {
		if r := a.unlock(); r != want {
			t.Fatalf("it is let go, and told %v, want %v", r, want)
		}
	}
	if r := b.lock(); r != nil {
		t.Fatalf("what is free is not granted: %v", r)
	}
	const script = "redis.call('HSET', KEYS[1], 'b:1', 'x') return redis.call('PFADD', KEYS[1], 'x')"
	if f, _ := a.do("EVAL", script, "1", "k").(Failure); !strings.Contains(string(f), "PFADD is not for lock scripts") {
		t.Errorf("a script for no locks is told %v", f)
	}
	a.want("1", "HGET", "k", "b:1")
	if r := b.unlock(); r != int64(1) {
		t.Errorf("it is let go, and told %v", r)
	}
}

// TestProgramAnswersWithoutServing: the subcommands that only look.
func TestProgramAnswersWithoutServing(t *testing.T) {
	t.Parallel()
	masters, p := startQuorum(t, 3)
	run := func(args ...string) (string, error) {
		out, err := exec.Command(program(t), args...).CombinedOutput()
		return string(out), err
	}
	if out, err := run("--version"); err != nil || !strings.Contains(out, "redlock-proxy") {
		t.Errorf("--version: %v\n%s", err, out)
	}
	if out, err := run("--help"); err != nil || !strings.Contains(out, "--acquire-timeout") {
		t.Errorf("--help: %v\n%s", err, out)
	}
	if out, err := run(append([]string{"check"}, flags(masters)...)...); err != nil {
		t.Errorf("check: %v\n%s", err, out)
	}
	out, err := run("check", "--master", "127.0.0.1:1", "--master", "127.0.0.1:1", "--acquire-timeout", "1", "--nonsense")
	if err == nil {
		t.Errorf("check takes nonsense:\n%s", out)
	}
	for _, probe := range []string{"ping", "ready"} {
		if out, err := run(probe, "--listen", p.Addr); err != nil {
			t.Errorf("%s: %v\n%s", probe, err, out)
		}
	}
	must(t, masters[1].Kill())
	must(t, masters[2].Kill())
	awaitVoting(t, p, 1)
	if out, err := run("ping", "--listen", p.Addr); err != nil {
		t.Errorf("ping: %v\n%s", err, out)
	}
	if out, err := run("ready", "--listen", p.Addr); err == nil {
		t.Errorf("ready without a quorum:\n%s", out)
	}
}
