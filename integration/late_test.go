package integration

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// hashLockScript takes a lock as a hash, or takes it once more for the same owner.
const hashLockScript = `if redis.call('exists', KEYS[1]) == 0 or redis.call('hexists', KEYS[1], ARGV[2]) == 1 then
redis.call('hincrby', KEYS[1], ARGV[2], 1) redis.call('pexpire', KEYS[1], ARGV[1]) return nil end
return redis.call('pttl', KEYS[1])`

// renewedLife, in milliseconds, ends long before B's lock does.
const renewedLife = "1500"

// renewals are commands that name no token, as A gives them on a lock that is its own.
var renewals = map[string]func(c talk, k string){
	"PEXPIRE":  func(c talk, k string) { c.want(1, "PEXPIRE", k, renewedLife) },
	"GETEX PX": func(c talk, k string) { c.want("ab", "GETEX", k, "PX", renewedLife) },
	"EVAL": func(c talk, k string) {
		c.want(1, "EVAL", "return redis.call('PEXPIRE',KEYS[1],ARGV[1])", "1", k, renewedLife)
	},
	"EVAL del": func(c talk, k string) { c.want(1, "EVAL", "return redis.call('DEL',KEYS[1])+0", "1", k) },
	"EVAL set, del": func(c talk, k string) {
		c.want(1, "EVAL", "redis.call('SET',KEYS[2],ARGV[1]) return redis.call('DEL',KEYS[1])", "2", k, k+" log", "x")
	},
	"EXEC": func(c talk, k string) {
		c.want("OK", "MULTI")
		c.want("QUEUED", "GET", k)
		c.want("QUEUED", "PEXPIRE", k, renewedLife)
		if r := fmt.Sprint(c.do("EXEC")); r != "[ab 1]" {
			c.t.Fatal("EXEC:", r)
		}
	},
}

// awaitHeardOf waits until the third master holds a key.
func awaitHeardOf(t *testing.T, third *Redis, key string) {
	t.Helper()
	eventually(t, func() error {
		if ask(t, third, "EXISTS", key) != int64(1) {
			return fmt.Errorf("the third master has not heard of %q", key)
		}
		return nil
	})
}

// A renews by a command that names no token; masters 1 and 2 answer it. The first proxy's
// way to master 3 is held up, and carries A's commands there when A has released the
// lock, and B has it by another proxy.
func TestWhatNamesNoTokenIsNotCarriedOutLateOnAnothersLock(t *testing.T) {
	t.Parallel()
	masters := startMasters(t, 3)
	two, three := startRelay(t, masters[1].Addr), startRelay(t, masters[2].Addr)
	named := func(r *Relay) string { return "redis://" + r.Addr + "?name=" + r.target }
	options := []string{"--master", masters[0].Addr, "--master", named(two), "--acquire-timeout", "2s", "--master-timeout", "5s"}
	mark(t, append(options, "--master", masters[2].Addr)...)
	p1 := startProxy(t, append(options, "--master", named(three))...)
	p2 := startProxy(t, append(options, "--master", masters[2].Addr)...)
	a, b := dial(t, p1.Addr), dial(t, p2.Addr)

	for name, renew := range renewals {
		for _, hashed := range []bool{false, true} {
			if hashed && name != "PEXPIRE" && !strings.HasPrefix(name, "EVAL") {
				continue
			}
			t.Run(fmt.Sprintf("%s, hashed %t", name, hashed), func(t *testing.T) {
				a, b, k := talk{a.Client, t}, talk{b.Client, t}, fmt.Sprint(name, hashed)
				lock := func(c talk, owner string) {
					if hashed {
						c.want(nil, "EVAL", hashLockScript, "1", k, milliseconds(ttl), "of "+owner)
					} else {
						c.want("OK", "SET", k, owner, "NX", "PX", milliseconds(ttl))
					}
				}
				awaitVoting(t, p1, 3)
				awaitVoting(t, p2, 3)
				defer two.Restore()
				defer three.Requests.Release()
				three.Requests.Hold()
				a.do("GET", "x") // is on its way to 3
				lock(a, "ab")
				renew(a, k)
				two.Cut() // it forgets nothing
				switch {
				case strings.Contains(strings.ToUpper(name), "DEL"):
				case hashed:
					ask(t, masters[0], "DEL", k) // it has ended there
				default:
					a.want(1, releaseArgs(k, "ab")...)
				}
				lock(b, "ba")
				three.Requests.Release()
				for range 2 { // the way's first batch, and what that has asked for
					k += "'"
					a.want("OK", "SET", k, "c", "NX", "PX", milliseconds(ttl))
					awaitHeardOf(t, masters[2], k)
				}
				k = strings.TrimRight(k, "'")
				if left := ask(t, masters[2], "PTTL", k); left.(int64) < ttl.Milliseconds()*5/6 {
					t.Errorf("B's lock, asked for %v, has %v ms left on 3", ttl, left)
				}
			})
		}
	}
}

// A master that is only late is told in order what the others were. It may keep the fields
// and members of what is big in another order than they.
func TestWhatIsLateIsCarriedOutOnWhatTheOthersFound(t *testing.T) {
	t.Parallel()
	masters := startMasters(t, 3)
	three := startRelay(t, masters[2].Addr)
	p := startProxy(t, "--master", masters[0].Addr, "--master", masters[1].Addr, "--master", three.Addr, "--acquire-timeout", "2s", "--master-timeout", "5s")
	c := dial(t, p.Addr)
	long := strings.Repeat("long", 40)
	for key, fill := range map[string][2][]string{
		"string":    {{"SET", "string", "v"}, {"SET", "string", "v"}},
		"long":      {{"SET", "long", long}, {"SET", "long", long}},
		"hash":      {{"HSET", "hash", "a", "1", "b", "2"}, {"HSET", "hash", "a", "1", "b", "2"}},
		"big hash":  {{"HSET", "big hash", long + "a", "1", long + "b", "2"}, {"HSET", "big hash", long + "b", "2", long + "a", "1"}},
		"set":       {{"SADD", "set", "x", "y", "z"}, {"SADD", "set", "x", "y", "z"}},
		"numbers":   {{"SADD", "numbers", "1", "2", "3"}, {"SADD", "numbers", "3", "1", "2"}},
		"ordered":   {{"ZADD", "ordered", "1", "x", "2", "y"}, {"ZADD", "ordered", "2", "y", "1", "x"}},
		"list":      {{"RPUSH", "list", "x", "1"}, {"RPUSH", "list", "x", "1"}},
		"different": {{"SET", "different", "v"}, {"SET", "different", "w"}},
	} {
		t.Run(key, func(t *testing.T) {
			for i, m := range masters {
				direct(t, m).do(fill[i/2]...)
			}
			for _, how := range [][]string{
				{"PEXPIRE", key, "100000"},
				{"EVAL", "return redis.call('PEXPIRE',KEYS[1],ARGV[1])", "1", key, "50000"},
			} {
				c := talk{c.Client, t}
				three.Requests.Hold()
				defer three.Requests.Release()
				c.do("GET", "x") // is on its way to 3
				c.want(1, how...)
				three.Requests.Release()
				last := how[0] + " " + key
				c.want("OK", "SET", last, "c", "NX", "PX", milliseconds(ttl))
				awaitHeardOf(t, masters[2], last)
				if left := ask(t, masters[2], "PTTL", key).(int64); (left > 0) != (key != "different") {
					t.Errorf("%q: %d ms are left on 3", how, left)
				}
			}
		})
	}
}

// A master that was stopped carries out what is in its sockets when it goes on, although the
// links are lost by then, and finds B's lock, which is on it since.
func TestWhatNamesNoTokenIsNotCarriedOutByAMasterThatWasStopped(t *testing.T) {
	t.Parallel()
	masters := startMasters(t, 3)
	p := startProxy(t, append(flags(masters), "--acquire-timeout", "250ms", "--master-timeout", "500ms")...)
	a := dial(t, p.Addr)
	for _, command := range [][]string{
		{"SET", "k", "new"},
		{"SET", "k", "new", "XX", "GET"},
		{"PEXPIRE", "k", "10"},
		{"GETEX", "k", "PX", "10"},
		{"DEL", "k"},
		{"EVAL", "return redis.call('SET',KEYS[1],ARGV[1])", "1", "k", "new"},
		{"EVAL", "return redis.call('DEL',KEYS[1])", "1", "k"},
		{"MULTI", "SET k new", "DEL other", "EXEC"},
		{"FLUSHDB"},
	} {
		t.Run(strings.Join(command, " "), func(t *testing.T) {
			a := talk{a.Client, t}
			awaitVoting(t, p, 3)
			for i, m := range masters {
				ask(t, m, "SET", "k", []string{"a", "b"}[i/2], "PX", "600000")
			}
			if err := masters[2].Freeze(); err != nil {
				t.Fatal(err)
			}
			defer masters[2].Thaw()
			if command[0] == "MULTI" {
				for _, queued := range command {
					a.do(strings.Fields(queued)...)
				}
			} else {
				a.do(command...)
			}
			time.Sleep(time.Second) // twice the master-timeout
			if err := masters[2].Thaw(); err != nil {
				t.Fatal(err)
			}
			awaitVoting(t, p, 3)
			if v := ask(t, masters[2], "GET", "k"); v != "b" {
				t.Errorf("B's lock has become %q", v)
			}
		})
	}
}
