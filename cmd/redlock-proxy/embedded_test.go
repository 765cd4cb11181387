package main

import (
	"fmt"
	"net"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/alicebob/miniredis/v2/proto"
)

// do sends a command and gives the raw reply.
func do(t *testing.T, c *proto.Client, args ...string) string {
	t.Helper()
	reply, err := c.Do(args...)
	if err != nil {
		t.Fatalf("%q: %v", args, err)
	}
	return reply
}

func want(t *testing.T, c *proto.Client, want string, args ...string) {
	t.Helper()
	if got := do(t, c, args...); got != want {
		t.Errorf("%q: got %q, want %q", args, got, want)
	}
}

// bubbled is an embedded master without a socket, for synctest, and a client.
func bubbled(t *testing.T) (*embedded, *proto.Client) {
	t.Helper()
	e := newEmbedded()
	conn, err := e.redis.Dial()
	if err != nil {
		t.Fatal(err)
	}
	e.interpose("")
	c := proto.NewClient(conn)
	t.Cleanup(func() {
		c.Close()
		e.redis.Close()
	})
	return e, c
}

func TestEmbeddedTTLsRunOutByThemselves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, c := bubbled(t)
		want(t, c, "+OK\r\n", "SET", "k", "t", "NX", "PX", "1000")
		time.Sleep(400 * time.Millisecond)
		want(t, c, ":600\r\n", "PTTL", "k")
		want(t, c, "$-1\r\n", "SET", "k", "u", "NX", "PX", "1000")
		time.Sleep(599 * time.Millisecond)
		want(t, c, ":1\r\n", "PTTL", "k")
		time.Sleep(time.Millisecond)
		want(t, c, "$-1\r\n", "GET", "k")
		want(t, c, ":-2\r\n", "PTTL", "k")
		want(t, c, "+OK\r\n", "SET", "k", "u", "NX", "PX", "1000")

		// A key that is set after a long silence has its whole ttl.
		time.Sleep(time.Hour)
		want(t, c, "+OK\r\n", "SET", "k", "v", "PX", "50")
		want(t, c, ":50\r\n", "PTTL", "k")
		time.Sleep(49 * time.Millisecond)
		want(t, c, "$1\r\nv\r\n", "GET", "k")

		// What is longer than it can count is as long as it can.
		want(t, c, "+OK\r\n", "SET", "k", "v", "PX", "9223372036854775")
		want(t, c, ":9150000000000\r\n", "PTTL", "k")
		want(t, c, ":1\r\n", "PEXPIRE", "k", "9999999999999998")
		want(t, c, ":9150000000000\r\n", "PTTL", "k")
		want(t, c, ":1\r\n", "EVAL", "return redis.call('PEXPIRE', KEYS[1], ARGV[1])", "1", "k", "9999999999999998")
		want(t, c, ":9150000000000\r\n", "PTTL", "k")
	})
}

func TestEmbeddedMastersTellTheirKeys(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, c := bubbled(t)
		want(t, c, "$12\r\n# Keyspace\r\n\r\n", "INFO", "keyspace")
		want(t, c, "+OK\r\n", "SET", "k", "t", "PX", "1000")
		want(t, c, "+OK\r\n", "SET", "l", "t")
		want(t, c, "+OK\r\n", "SELECT", "3")
		want(t, c, "+OK\r\n", "SET", "k", "t")
		want(t, c, "+OK\r\n", "SELECT", "0")
		text := "# Keyspace\r\ndb0:keys=2,expires=1,avg_ttl=0\r\ndb3:keys=1,expires=0,avg_ttl=0\r\n"
		want(t, c, fmt.Sprintf("$%d\r\n%s\r\n", len(text), text), "INFO", "KEYSPACE")
	})
}

func TestEmbeddedTTLsStandStillNoLongerThanSaid(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e, c := bubbled(t)
		want(t, c, "+OK\r\n", "SET", "k", "t", "PX", "1000")
		e.ticked, e.pause = time.Now(), maxPause
		time.Sleep(maxPause - time.Millisecond)
		want(t, c, ":1000\r\n", "PTTL", "k")
		time.Sleep(time.Millisecond)
		want(t, c, ":950\r\n", "PTTL", "k")
	})
}

func TestEmbeddedTimeIsRightBetweenTicks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e, c := bubbled(t)
		do(t, c, "PING")
		e.ticked, e.pause = time.Now(), maxPause
		time.Sleep(7 * time.Millisecond)
		now := time.Now()
		micros := strconv.Itoa(now.Nanosecond() / 1000)
		want(t, c, proto.Strings(strconv.FormatInt(now.Unix(), 10), micros), "TIME")
		if !strings.HasSuffix(do(t, c, "EVAL", "return redis.call('time')", "0"), micros+"\r\n") {
			t.Error("a script sees another time")
		}
	})
}

func TestEmbeddedMastersHaveNamesOfTheirOwn(t *testing.T) {
	list, err := startEmbedded(3)
	if err != nil {
		t.Fatal(err)
	}
	defer closeEmbedded(list)
	runID := regexp.MustCompile(`\r\nrun_id:([0-9a-f]{40})\r\n`)
	seen := map[string]bool{}
	for _, e := range list {
		c, err := proto.Dial(e.master().Address)
		if err != nil {
			t.Fatal(err)
		}
		info := do(t, c, "INFO")
		m := runID.FindStringSubmatch(info)
		if m == nil || seen[m[1]] {
			t.Errorf("no run id, or one that another master has:\n%s", info)
			continue
		}
		seen[m[1]] = true
		for _, line := range []string{"role:master", "loading:0", "cluster_enabled:0", "maxmemory_policy:noeviction", "aof_enabled:0", "uptime_in_seconds:0"} {
			if !strings.Contains(info, "\r\n"+line+"\r\n") {
				t.Errorf("INFO has no %s", line)
			}
		}
		if do(t, c, "INFO", "everything") != info {
			t.Error("INFO everything has less than INFO")
		}
		c.Close()
	}
}

// The conversation at the gate, and the commands by which locks are taken,
// extended and released.
func TestEmbeddedMasterKnowsWhatTheEngineSays(t *testing.T) {
	list, err := startEmbedded(1)
	if err != nil {
		t.Fatal(err)
	}
	defer closeEmbedded(list)
	c, err := proto.Dial(list[0].master().Address)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	want(t, c, ":1\r\n", "CLIENT", "ID")
	want(t, c, ":1\r\n", "client", "id")
	want(t, c, "+OK\r\n", "CLIENT", "SETINFO", "LIB-NAME", "x")
	want(t, c, "*3\r\n$6\r\nmaster\r\n:0\r\n*0\r\n", "ROLE")
	want(t, c, "*2\r\n$10\r\nappendonly\r\n$2\r\nno\r\n", "CONFIG", "GET", "appendonly")
	want(t, c, "-ERR client-id should be greater than 0\r\n", "CLIENT", "KILL", "ID", "x")
	want(t, c, "-ERR syntax error\r\n", "CLIENT", "KILL", "1.2.3.4:5")
	want(t, c, ":0\r\n", "CLIENT", "KILL", "ID", "7")

	want(t, c, "$-1\r\n", "SET", "k", "t", "NX", "GET", "PX", "30000")
	want(t, c, "$1\r\nt\r\n", "SET", "k", "u", "NX", "GET", "PX", "30000")
	const release = `if redis.call("get",KEYS[1])==ARGV[1] and redis.call("pttl",KEYS[1])<=tonumber(ARGV[2]) then return redis.call("del",KEYS[1]) end return 0`
	load := do(t, c, "SCRIPT", "LOAD", release)
	sha := strings.Split(load, "\r\n")[1]
	want(t, c, ":0\r\n", "EVALSHA", sha, "1", "k", "u", "30000")
	want(t, c, ":0\r\n", "EVALSHA", sha, "1", "k", "t", "10")
	want(t, c, ":1\r\n", "PEXPIRE", "k", "20000")
	want(t, c, ":1\r\n", "EVALSHA", sha, "1", "k", "t", "20000")
	want(t, c, "$-1\r\n", "GET", "k")
	if got := do(t, c, "EVALSHA", strings.Repeat("0", 40), "0"); !strings.HasPrefix(got, "-NOSCRIPT ") {
		t.Errorf("an unknown script: %q", got)
	}
}

func TestKilledConnectionHasNothingMoreCarriedOut(t *testing.T) {
	list, err := startEmbedded(1)
	if err != nil {
		t.Fatal(err)
	}
	defer closeEmbedded(list)
	old, err := net.Dial("tcp", list[0].master().Address)
	if err != nil {
		t.Fatal(err)
	}
	defer old.Close()
	victim := proto.NewClient(old)
	id := strings.Trim(do(t, victim, "CLIENT", "ID"), ":\r\n")
	c, err := proto.Dial(list[0].master().Address)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	want(t, c, ":1\r\n", "CLIENT", "KILL", "ID", id)
	if reply, err := victim.Do("SET", "k", "v"); err == nil {
		t.Errorf("SET is answered %q", reply)
	}
	want(t, c, "$-1\r\n", "GET", "k")
}

// A thousand keys and more are no reason to spend all the time on their ttls.
func TestManyKeysDoNotStopAnEmbeddedMaster(t *testing.T) {
	list, err := startEmbedded(1)
	if err != nil {
		t.Fatal(err)
	}
	defer closeEmbedded(list)
	c, err := proto.Dial(list[0].master().Address)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	const keys = 5000
	start := time.Now()
	for i := range keys {
		do(t, c, "SET", "k"+strconv.Itoa(i), "v", "PX", "600000")
	}
	if took := time.Since(start); took > patience {
		t.Errorf("%d keys took %v", keys, took)
	}
	want(t, c, ":5000\r\n", "DBSIZE")
	e := list[0]
	e.clock.Lock()
	defer e.clock.Unlock()
	if e.pause <= 0 || e.pause > maxPause {
		t.Errorf("the pause is %v, want one above 0 and up to %v", e.pause, maxPause)
	}
}
