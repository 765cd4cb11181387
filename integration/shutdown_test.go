package integration

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// startLoose starts a proxy whose end the test itself brings about.
func startLoose(t *testing.T, args ...string) *Proxy {
	t.Helper()
	p, err := StartProxy(ProxyOptions{Path: program(t), Args: append(slices.Clone(patient), args...)})
	must(t, err)
	t.Cleanup(func() {
		must(t, p.Kill())
		if t.Failed() {
			t.Logf("the proxy's log:\n%s", p.Log())
		}
	})
	return p
}

func wantExit(t *testing.T, p *Proxy, want int) {
	t.Helper()
	code, err := p.Wait(patience)
	if err != nil || code != want {
		t.Fatalf("exit code %d, %v; want %d", code, err, want)
	}
}

func TestShutdownAnswersWhatWasAsked(t *testing.T) {
	t.Parallel()
	masters := startMasters(t, 3)
	relays := relayed(t, masters)
	p := startLoose(t, append(append(relayFlags(relays), unhurried...), "--shutdown-timeout", "10m")...)
	awaitQuiet(t, p, 3)
	c := dial(t, p.Addr)
	c.want("PONG", "PING")
	for _, r := range relays {
		r.Replies.Hold()
	}
	c.send(acquireArgs("k", "t", ttl)...)
	wantHolding(t, masters, "k", "t", 0, 1, 2)
	must(t, p.Signal(syscall.SIGTERM))
	eventually(t, func() error {
		if other, err := Dial(p.Addr); err == nil {
			other.Close()
			return errors.New("the proxy still accepts")
		}
		return nil
	})
	if p.Ended() {
		t.Fatal("the proxy has ended before it answered")
	}
	for _, r := range relays {
		r.Replies.Release()
	}
	c.receive("OK")
	if _, err := c.Receive(); err == nil {
		t.Fatal("the connection goes on")
	}
	wantExit(t, p, 0)
	wantHolding(t, masters, "k", "t", 0, 1, 2)
}

// TestShutdownPaysWhatCanBePaid: the master that is owed a release is back, and
// the proxy has not found out yet.
func TestShutdownPaysWhatCanBePaid(t *testing.T) {
	t.Parallel()
	masters := startMasters(t, 3)
	p := startLoose(t, append(flags(masters), "--shutdown-timeout", "10m")...)
	awaitQuiet(t, p, 3)
	c := dial(t, p.Addr)
	c.lock("k", "t", ttl)
	wantHolding(t, masters, "k", "t", 0, 1, 2)
	must(t, masters[2].Freeze())
	awaitVoting(t, p, 2)
	c.unlock("k", "t")
	must(t, masters[2].Thaw())
	must(t, p.Signal(syscall.SIGTERM))
	wantExit(t, p, 0)
	direct(t, masters[2]).want(0, "EXISTS", "k")
}

func TestShutdownIsBoundedByItsTimeout(t *testing.T) {
	masters := startMasters(t, 3)
	p := startLoose(t, append(flags(masters), "--shutdown-timeout", "1s")...)
	awaitQuiet(t, p, 3)
	c := dial(t, p.Addr)
	c.lock("k", "t", ttl)
	wantHolding(t, masters, "k", "t", 0, 1, 2)
	must(t, masters[2].Freeze())
	c.unlock("k", "t")
	must(t, p.Signal(syscall.SIGTERM))
	took(t, 2500*time.Millisecond, func() { wantExit(t, p, 0) })
}

func TestShutdownWithNothingToDoIsAtOnce(t *testing.T) {
	masters := startMasters(t, 3)
	p := startLoose(t, flags(masters)...)
	awaitQuiet(t, p, 3)
	idle := dial(t, p.Addr)
	cycle(idle, "k")
	must(t, p.Signal(syscall.SIGTERM))
	took(t, 2*time.Second, func() { wantExit(t, p, 0) })
}

func TestSecondSignalEndsAtOnce(t *testing.T) {
	masters := startMasters(t, 3)
	relays := relayed(t, masters)
	p := startLoose(t, append(append(relayFlags(relays), unhurried...), "--shutdown-timeout", "10m")...)
	awaitQuiet(t, p, 3)
	for _, r := range relays {
		r.Replies.Hold()
	}
	c := dial(t, p.Addr)
	c.send(acquireArgs("k", "t", 2*time.Minute)...)
	wantHolding(t, masters, "k", "t", 0, 1, 2)
	must(t, p.Signal(syscall.SIGTERM))
	time.Sleep(300 * time.Millisecond)
	if p.Ended() {
		t.Fatal("the proxy left a client without its answer")
	}
	must(t, p.Signal(syscall.SIGTERM))
	took(t, time.Second, func() {
		if code, err := p.Wait(patience); err != nil || code == 0 {
			t.Fatalf("exit code %d, %v; want another than 0, at once", code, err)
		}
	})
}

// A client whose time is over is cut off as the masters have carried out what he asked for.
func TestWhatIsTakenForWhoIsCutOffAtTheEndIsThereYet(t *testing.T) {
	t.Parallel()
	masters := startMasters(t, 3)
	relays := relayed(t, masters)
	p := startLoose(t, append(append(relayFlags(relays), unhurried...), "--shutdown-timeout", "12s")...)
	awaitQuiet(t, p, 3)
	c := dial(t, p.Addr)
	for _, m := range masters {
		ask(t, m, "RPUSH", "q", "a", "b", "c")
	}
	for _, r := range relays {
		r.Replies.Hold()
	}
	c.send("BLPOP", "q", "0")
	eventually(t, func() error {
		n := 0
		for _, m := range masters {
			if ask(t, m, "LLEN", "q") == int64(2) {
				n++
			}
		}
		if n < 2 { // the way to the third may wait for an answer from before
			return fmt.Errorf("%d masters have given an element", n)
		}
		return nil
	})
	must(t, p.Signal(syscall.SIGTERM))
	eventually(t, func() error {
		if !strings.Contains(p.Log(), "are cut off") {
			return errors.New("nobody is cut off")
		}
		return nil
	})
	for _, r := range relays {
		r.Replies.Release()
	}
	wantExit(t, p, 0)
	for _, m := range masters {
		direct(t, m).want([]any{"a", "b", "c"}, "LRANGE", "q", "0", "-1")
	}
}
