package main

import (
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"

	"redlock-proxy/integration"

	"github.com/alicebob/miniredis/v2/proto"
)

// dumpOf has a script dump a key, as the engine does.
func dumpOf(t *testing.T, c *proto.Client, key string) string {
	t.Helper()
	reply := do(t, c, "EVAL", "return redis.call('DUMP', KEYS[1])", "1", key)
	_, dump, _ := strings.Cut(reply, "\r\n")
	return strings.TrimSuffix(dump, "\r\n")
}

// made is a key of each type, and how it is read.
var made = []struct{ make, read []string }{
	{[]string{"SET", "string", "v"}, []string{"GET", "string"}},
	{[]string{"SET", "empty", ""}, []string{"GET", "empty"}},
	{[]string{"HSET", "hash", "uuid:2", "1", "mode", strings.Repeat("x", 300), "a", ""}, []string{"HGET", "hash", "mode"}},
	{[]string{"RPUSH", "list", "b", "", "1", "b"}, []string{"LRANGE", "list", "0", "-1"}},
	{[]string{"SADD", "set", "b", "a", "\r\n\x00"}, []string{"SMEMBERS", "set"}},
	{[]string{"ZADD", "zset", "1.5", "b", "-inf", "a", "1764109081000", "c"}, []string{"ZRANGE", "zset", "0", "-1", "WITHSCORES"}},
}

// What a script's undo record has is made of the key again, whatever the script did to it.
func TestEmbeddedMasterRestoresWhatItDumps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, c := bubbled(t)
		for _, m := range made {
			do(t, c, m.make...)
			key := m.read[1]
			before, dump := do(t, c, m.read...), dumpOf(t, c, key)
			if again := dumpOf(t, c, key); again != dump {
				t.Errorf("%s is dumped as %q, and as %q", key, dump, again)
			}
			do(t, c, "SET", key, "another")
			const restore = "return redis.pcall('RESTORE', KEYS[1], ARGV[1], ARGV[2], unpack(ARGV, 3))"
			if got := do(t, c, "EVAL", restore, "1", key, "0", dump); !strings.HasPrefix(got, "-BUSYKEY") {
				t.Errorf("what is there is replaced: %q", got)
			}
			want(t, c, "+OK\r\n", "EVAL", restore, "1", key, "30000", dump, "REPLACE")
			want(t, c, before, m.read...)
			want(t, c, ":30000\r\n", "PTTL", key)
			if again := dumpOf(t, c, key); again != dump {
				t.Errorf("%s was %q, and is restored as %q", key, dump, again)
			}
			for _, broken := range []string{"", dump[:len(dump)-1], dump[:1] + dump[2:], "\x63" + dump[1:]} {
				if got := do(t, c, "EVAL", restore, "1", key, "0", broken, "REPLACE"); !strings.HasPrefix(got, "-") {
					t.Errorf("%q is restored: %q", broken, got)
				}
			}
			want(t, c, before, m.read...)
		}
		want(t, c, "$-1\r\n", "EVAL", "return redis.call('DUMP', KEYS[1])", "1", "none")
	})
}

// The coding is Redis's: what the masters dump is compared by what it is of.
func TestRedisReadsWhatAnEmbeddedMasterDumps(t *testing.T) {
	server, err := integration.StartRedis(integration.RedisOptions{Unix: true})
	if err != nil {
		t.Fatal(err)
	}
	defer server.Stop()
	real, err := server.Dial()
	if err != nil {
		t.Fatal(err)
	}
	defer real.Close()
	_, c := bubbled(t)
	for _, m := range made {
		do(t, c, m.make...)
		if reply, err := real.Do("RESTORE", m.read[1], "0", dumpOf(t, c, m.read[1])); err != nil || reply != "OK" {
			t.Errorf("%q: %v, %v", m.make, reply, err)
		}
	}
	for _, member := range []string{"a", "b", "\r\n\x00"} {
		if reply, err := real.Do("SISMEMBER", "set", member); err != nil || reply != int64(1) {
			t.Errorf("the set has no %q: %v, %v", member, reply, err)
		}
	}
	for key, fields := range map[string][]string{"string": {"GET", "v"}, "hash": {"HGET", strings.Repeat("x", 300), "mode"}, "zset": {"ZSCORE", "1764109081000", "c"}, "list": {"LINDEX", "1", "2"}} {
		reply, err := real.Do(slices.Concat(fields[:1], []string{key}, fields[2:])...)
		if err != nil || reply != fields[1] {
			t.Errorf("of the %s it reads %v, %v", key, reply, err)
		}
	}
}

// A script that asks for what is not for locks hears so, and is undone.
func TestEmbeddedMasterTellsWhichCommandsThereAre(t *testing.T) {
	_, c := bubbled(t)
	for name, there := range map[string]bool{"lpush": true, "NOSUCH": false} {
		script := "return redis.call('COMMAND', 'INFO', '" + name + "')[1] == false and 0 or 1"
		if got := do(t, c, "EVAL", script, "0"); got != ":"+strconv.Itoa(map[bool]int{true: 1}[there])+"\r\n" {
			t.Errorf("%s is there: %q", name, got)
		}
	}
}
