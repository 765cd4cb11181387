package integration

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
)

// farRows are ttls that no time.Duration can count, and the same with Redis.
var farRows = []struct {
	command []string
	left    int64 // milliseconds
}{
	{[]string{"SET", "k", "t", "NX", "PX", "9223372036854775"}, 9223372036854775},
	{[]string{"SET", "k", "t", "NX", "EX", "99999999999"}, 99999999999000},
	{[]string{"SET", "k", "t", "PX", "9223372036854775"}, 9223372036854775},
	{[]string{"SETEX", "k", "99999999999", "t"}, 99999999999000},
	{[]string{"PSETEX", "k", "7000000000000", "t"}, 7000000000000},
	{[]string{"EXPIRE", "k", "99999999999"}, 99999999999000},
	{[]string{"PEXPIRE", "k", "9223372036854775", "GT"}, 9223372036854775},
	{[]string{"GETEX", "k", "PX", "9223372036854775"}, 9223372036854775},
	{[]string{"EVAL", "return redis.call('PEXPIRE', KEYS[1], ARGV[1])", "1", "k", "9223372036854775"}, 9223372036854775},
}

// TestTTLOfManyYearsReadsAsItWasAsked, and of what is no ttl at all Redis's own words.
func TestTTLOfManyYearsReadsAsItWasAsked(t *testing.T) {
	t.Parallel()
	masters, p := startQuorum(t, 3)
	c := dial(t, p.Addr)
	for _, row := range farRows {
		if row.command[0] == "SET" {
			c.do("DEL", "k")
		} else {
			c.want("OK", "SET", "k", "t", "PX", "60000")
		}
		asked := time.Now()
		if got := c.do(row.command...); got == nil || got == int64(0) {
			t.Errorf("%v is answered %v", row.command, got)
		}
		near := func(got, want int64) bool { return got <= want+2 && got >= want-time.Since(asked).Milliseconds()-5 }
		if got := c.integer("PTTL", "k"); !near(got, row.left) {
			t.Errorf("after %v %d is left", row.command, got)
		}
		if got := c.integer("TTL", "k"); got < row.left/1000-time.Since(asked).Milliseconds()/1000-2 || got > row.left/1000+1 {
			t.Errorf("after %v %d seconds are left", row.command, got)
		}
		eventually(t, func() error {
			for i, m := range masters {
				if got := ask(t, m, "PTTL", "k").(int64); !near(got, row.left) {
					return fmt.Errorf("after %v %d is left on master %d", row.command, got, i)
				}
			}
			return nil
		})
	}
	c.want(int64(1), "EXPIREAT", "k", "99999999999")
	if got := c.integer("EXPIRETIME", "k"); got < 99999999998 || got > 100000000000 {
		t.Errorf("it ends at %d", got)
	}
	c.want("t", "GET", "k")
	c.refused("k", "u", ttl)
	c.unlock("k", "t")
	wantGone(t, masters, "k")
	for _, command := range [][]string{
		{"SET", "k", "t", "PX", "9223372036854775807"},
		{"SET", "k", "t", "NX", "PX", "9223370300000000000"},
		{"SETEX", "k", "9223372036854775", "t"},
		{"PSETEX", "k", "9223372036854775807", "t"},
	} {
		if got := fmt.Sprint(c.do(command...)); got != fmt.Sprint(direct(t, masters[0]).do(command...)) {
			t.Errorf("%v is answered %s", command, got)
		}
	}
}

// TestWhatOneMasterWasGivenForManyYearsIsTakenBack: else nobody would get the key there any more.
func TestWhatOneMasterWasGivenForManyYearsIsTakenBack(t *testing.T) {
	t.Parallel()
	masters, p := startQuorum(t, 3)
	c := dial(t, p.Addr)
	direct(t, masters[0]).want("OK", "SET", "k", "t", "PX", "600000")
	c.want(int64(0), "EXPIRE", "k", "99999999999")
	eventually(t, func() error {
		if stats := fmt.Sprint(ask(t, masters[0], "INFO", "commandstats")); !strings.Contains(stats, "cmdstat_pexpire:") {
			return errors.New("it has not come to the master yet")
		}
		if left := ask(t, masters[0], "PTTL", "k").(int64); left <= 0 || left > 600000 {
			return fmt.Errorf("%d is left", left)
		}
		return nil
	})
	direct(t, masters[1]).want("OK", "SET", "l", "u", "PX", "600000")
	direct(t, masters[2]).want("OK", "SET", "l", "u", "PX", "600000")
	c.want(nil, "SET", "l", "t", "NX", "EX", "99999999999")
	wantGone(t, masters[:1], "l")
}
