package proxy

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

const wrongPass = "-WRONGPASS invalid username-password pair or user is disabled.\r\n"

func newSecretRig(t *testing.T) *rig {
	cfg := Config{}
	cfg.Commands.Password = func() string { return "secret" }
	return newRig(t, cfg)
}

func TestWrongPasswordsAreAnsweredLaterAndLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newSecretRig(t)
		c := r.dial()
		took := func(line string) time.Duration {
			began := time.Now()
			c.send(line)
			c.expect(wrongPass)
			return time.Since(began)
		}
		want := firstDenial
		for range 12 {
			if d := took("AUTH wrong\r\n"); d != want {
				t.Errorf("a failure was answered after %v, want %v", d, want)
			}
			want = min(2*want, longestDenial)
		}
		if d := took("HELLO 3 AUTH default wrong\r\n"); d != longestDenial {
			t.Errorf("HELLO with a wrong password was answered after %v", d)
		}
		began := time.Now()
		c.send("AUTH secret\r\nPING\r\n")
		c.expect("+OK\r\n+PONG\r\n")
		if d := time.Since(began); d != 0 {
			t.Errorf("the right password was answered after %v", d)
		}
		time.Sleep(denialMemory + 2*time.Second)
		if d := took("AUTH wrong\r\n"); d != firstDenial {
			t.Errorf("after a while a failure was answered after %v, want %v", d, firstDenial)
		}
		r.end()
	})
}

// A client that sends many wrong passwords at once waits for each, and nobody for it.
func TestOnlyWhoDoesNotKnowThePasswordWaits(t *testing.T) {
	r := newSecretRig(t)
	flood := r.dialTCP()
	flood.send(strings.Repeat("AUTH wrong\r\n", 1000) + "PING\r\n")
	flood.expect(wrongPass)
	c := r.dialAt(flood.nc.RemoteAddr())
	c.send("AUTH secret\r\n")
	c.expect("+OK\r\n")
	for range 100 {
		c.send("PING\r\n")
		c.expect("+PONG\r\n")
	}
	// A hundred answers have come, and not a thousand to the other one.
	if n := r.server.stats.authFailures.Load(); n > 500 {
		t.Errorf("%d wrong passwords were answered meanwhile", n)
	}
	flood.nc.Close()
}

func TestWaitForAnAnswerToAWrongPasswordEndsWithTheServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newSecretRig(t)
		c := r.dial()
		for range 10 {
			c.send("AUTH wrong\r\n")
			c.expect(wrongPass)
		}
		c.send("AUTH wrong\r\n")
		synctest.Wait()
		began := time.Now()
		go r.end()
		c.expectEnd(wrongPass)
		if d := time.Since(began); d >= longestDenial {
			t.Errorf("the end has waited for %v", d)
		}
	})
}

func TestWrongPasswordsAreLoggedOnceAMinuteForAnAddress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newSecretRig(t)
		c := r.dial()
		began := time.Now()
		n := 0
		for time.Since(began) < 2*denialMemory+denialMemory/2 {
			c.send("AUTH wrong\r\n")
			c.expect(wrongPass)
			n++
		}
		time.Sleep(denialMemory + 2*time.Second)
		lines := regexp.MustCompile(`clients do not know the password: from=pipe failures=(\d+)`).FindAllStringSubmatch(r.log.String(), -1)
		sum := 0
		for _, m := range lines {
			failures := 0
			fmt.Sscan(m[1], &failures)
			sum += failures
		}
		if len(lines) != 4 || sum != n {
			t.Errorf("%d lines tell of %d failures, want 4 of %d\n%s", len(lines), sum, n, r.log)
		}
		if strings.Contains(r.log.String(), "wrong") {
			t.Errorf("the log shows a password\n%s", r.log)
		}
		r.end()
	})
}

func TestAddressesThatAreRememberedAreBounded(t *testing.T) {
	var d denials
	for i := range 3 * maxDenied {
		if delay, tell := d.count(fmt.Sprint(i), time.Hour); i >= maxDenied && i < maxDenied+5 && delay != firstDenial<<(i-maxDenied) {
			t.Errorf("address %d waits for %v", i, delay)
		} else if (tell.failures == 1) != (i <= maxDenied) || i == maxDenied && tell.address != otherAddresses {
			t.Errorf("of address %d is told %+v", i, tell)
		}
	}
	if len(d.from) != maxDenied+1 {
		t.Errorf("%d addresses are remembered", len(d.from))
	}
	if tell := d.forget(time.Hour + denialMemory); len(d.from) != 0 || len(tell) != 1 || tell[0].failures != 2*maxDenied-1 {
		t.Errorf("%d addresses are remembered, and the log is told of %v", len(d.from), tell)
	}
}
