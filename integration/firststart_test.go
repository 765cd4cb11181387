package integration

import (
	"fmt"
	"net"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// soon is a max-ttl that a test can wait for.
var soon = []string{"--max-ttl", "5s", "--acquire-timeout", "500ms", "--probe-interval", "200ms"}

// Everything ends at once: the masters come back with nothing, the proxies are new.
// They go on by themselves when no lock of before can be left.
func TestLossOfEverythingHealsByItself(t *testing.T) {
	t.Parallel()
	masters := startMasters(t, 3)
	args := append(flags(masters), soon...)
	p := startProxy(t, args...)
	dial(t, p.Addr).want("OK", "SET", "k", "a", "NX", "PX", "4000")
	_, err := p.Terminate(patience)
	must(t, err)
	for _, m := range masters {
		must(t, m.Kill())
	}
	began := time.Now()
	for _, m := range masters {
		must(t, m.Restart())
	}
	one := launch(t, ProxyOptions{Args: args, Unmarked: true})
	c := dial(t, one.Addr)
	eventually(t, func() error {
		reply := fmt.Sprint(c.do("SET", "k", "b", "NX", "PX", "1000"))
		if !strings.HasPrefix(reply, "NOQUORUM ") {
			t.Fatalf("it says %s", reply)
		}
		if !strings.Contains(reply, ": a new set, or all was lost; locks ") {
			return fmt.Errorf("it says %s", reply)
		}
		return nil
	})
	for _, p := range []*Proxy{one, launch(t, ProxyOptions{Args: args, Unmarked: true})} {
		eventually(t, func() error {
			if n := voting(t, p); n != 3 {
				return fmt.Errorf("%d masters vote", n)
			}
			return nil
		})
	}
	if took := time.Since(began); took < 5*time.Second {
		t.Errorf("it took %v", took)
	}
	c.want("OK", "SET", "k", "b", "NX", "PX", "1000")
	c.want("OK", "SELECT", "3")
	eventually(t, func() error { // the masters are asked anew in a database that is opened
		if got := c.do("SET", "k", "b", "NX", "PX", "1000"); got != "OK" {
			return fmt.Errorf("in database 3: %v", got)
		}
		return nil
	})
}

// As an init job has it ordered: before the masters are there, again, and when all runs.
func TestBootstrapCanBeRepeated(t *testing.T) {
	t.Parallel()
	masters := startMasters(t, 3)
	must(t, masters[1].Kill())
	order := func(args ...string) *exec.Cmd {
		return exec.Command(program(t), append(append(append([]string{"bootstrap"}, patient...), args...), flags(masters)...)...)
	}
	if out, err := order().CombinedOutput(); err == nil || !strings.Contains(string(out), "cannot be reached") {
		t.Errorf("%v\n%s", err, out)
	}
	waiting := order("--wait", "30s")
	must(t, waiting.Start())
	must(t, masters[1].Restart())
	must(t, waiting.Wait())
	for _, c := range []struct{ args, want string }{
		{"", "they may vote when proxies have seen"},
		{"--no-locks-held", "may vote at once"},
		{"--no-locks-held", "a master of it votes: nothing is done"},
		{"", "no AOF: a restart of one costs nothing, of a quorum at once no locks for 5m0s or somewhat more"},
	} {
		out, err := order(strings.Fields(c.args)...).CombinedOutput()
		if err != nil || !strings.Contains(string(out), c.want) {
			t.Errorf("bootstrap %s: %v\n%s\nwant %s", c.args, err, out, c.want)
		}
	}
	p := startProxy(t, flags(masters)...)
	dial(t, p.Addr).want("OK", "SET", "k", "a", "NX", "PX", "1000")
	if err := order("--max-ttl", "1m").Run(); err == nil || err.(*exec.ExitError).ExitCode() != 78 {
		t.Errorf("with another max-ttl: %v", err)
	}
}

// A configuration that is not the masters' is told by what differs, and by the code that
// has a supervisor not try again.
// Only the master itself can say what it is called in its set, be it asked first or last.
func TestMasterOfAnotherNameIsToldByIt(t *testing.T) {
	t.Parallel()
	masters := startMasters(t, 3)
	mark(t, append(flags(masters), patient...)...)
	_, port, err := net.SplitHostPort(masters[2].Addr)
	must(t, err)
	for range 5 {
		p, err := StartProxy(ProxyOptions{Path: program(t), Bare: true, Args: append(append([]string{"--listen", "127.0.0.1:0", "--master", "localhost:" + port}, patient...), flags(masters[:2])...)})
		must(t, err)
		code, err := p.Wait(patience)
		if err != nil || code != 78 {
			t.Errorf("it ended with exit code %d, %v", code, err)
		}
		_, fatal, _ := strings.Cut(p.Log(), "cannot serve")
		if !strings.Contains(fatal, "add ?name="+masters[2].Addr) {
			t.Errorf("what it ends with does not say what to do:\n%s", p.Log())
		}
	}
}

func TestProxyOfOtherTermsExitsWithThatCode(t *testing.T) {
	t.Parallel()
	masters := startMasters(t, 3)
	mark(t, append(flags(masters), patient...)...)
	p, err := StartProxy(ProxyOptions{Path: program(t), Bare: true, Args: append(append([]string{"--listen", "127.0.0.1:0", "--max-ttl", "30s"}, patient...), flags(masters)...)})
	must(t, err)
	code, err := p.Wait(patience)
	if err != nil || code != 78 {
		t.Errorf("it ended with exit code %d, %v", code, err)
	}
	if !strings.Contains(p.Log(), "max-ttl is 5m0s on the masters and 30s here; configure") {
		t.Errorf("it does not say what differs:\n%s", p.Log())
	}
}

// One that was configured by mistake and started beside the old one takes nothing over of it.
func TestProxyOfOtherTermsTakesOverNoSocket(t *testing.T) {
	t.Parallel()
	masters := startMasters(t, 3)
	path := filepath.Join(t.TempDir(), "socket")
	beside := append(flags(masters), "--reuse-port", "yes")
	launch(t, ProxyOptions{Addr: path, Args: append(slices.Clone(patient), beside...)})
	p, err := StartProxy(ProxyOptions{Path: program(t), Bare: true, Args: append(append([]string{"--listen", "unix://" + path, "--max-ttl", "30s"}, patient...), beside...)})
	must(t, err)
	if code, err := p.Wait(patience); err != nil || code != 78 || strings.Contains(p.Log(), "listening") {
		t.Errorf("it ended with exit code %d, %v\n%s", code, err, p.Log())
	}
	dial(t, path).want("PONG", "PING")
}
