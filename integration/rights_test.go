package integration

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"
)

// rightsThatAreTold is the command that limits a user to what conf/README.md names, and to what
// clients use themselves.
func rightsThatAreTold(t *testing.T) []string {
	t.Helper()
	_, rest, _ := strings.Cut(documents(t)["../conf/README.md"], "\nA master whose users are limited (ACL)")
	passage, _, _ := strings.Cut(rest, "\n\n")
	rights := []string{"ACL", "SETUSER", "px", "on", ">pw", "nocommands", "~lock:*", "~redlock-proxy:{*", "&redlock-proxy:{messages}"}
	for _, list := range regexp.MustCompile("`([A-Z| \n]+)`").FindAllStringSubmatch(passage, -1) {
		for command := range strings.FieldsSeq(list[1]) {
			rights = append(rights, "+"+strings.ToLower(command))
		}
	}
	if len(rights) < 50 {
		t.Fatalf("only these are named: %q", rights)
	}
	for command := range strings.FieldsSeq("hset hdel hincrby lpush lpop sadd srem zadd zrem zpopmin incr") { // which clients use themselves
		rights = append(rights, "+"+command)
	}
	return rights
}

// useAllRights has a client do what the rights are for, and another one listen at first.
func useAllRights(c talk, first *Proxy) {
	cycle(c, "lock:k")
	c.want(1, "HSET", "lock:h", "f", "v")
	c.want(0, "HSET", "lock:h", "f", "w")
	c.want(2, "SADD", "lock:s", "a", "b")
	c.want(2, "ZADD", "lock:z", "1", "a", "2", "b")
	c.want(1, "ZREM", "lock:z", "a")
	c.want(2, "LPUSH", "lock:l", "a", "b")
	c.want([]any{"b"}, "LPOP", "lock:l", "1")
	c.want([]any{"lock:l", []any{"a"}}, "LMPOP", "1", "lock:l", "LEFT")
	c.want(1, "LPUSH", "lock:l", "a")
	c.want(1, "ZADD", "lock:popped", "1", "a")
	c.want([]any{"lock:popped", []any{[]any{"a", "1"}}}, "ZMPOP", "1", "lock:popped", "MIN")
	c.want("OK", "WATCH", "lock:l")
	c.want(1, "EVAL", "redis.call('hincrby',KEYS[1],ARGV[1],'1') redis.call('pexpire',KEYS[1],ARGV[2]) return redis.call('hlen',KEYS[1])", "1", "lock:m", "me", "60000")
	c.want(1, "INCR", "lock:n")
	c.want("OK", "SET", "lock:for ever", "t", "NX")
	c.want("OK", "MULTI")
	c.want("QUEUED", "SADD", "lock:s", "c")
	c.want([]any{int64(1)}, "EXEC")
	heard := hears(c.t, first, "lock:c")
	c.do("PUBLISH", "lock:c", "m")
	heard.receive([]any{"message", "lock:c", "m"})
	c.do("SCAN", "0")
	c.do("DBSIZE")
}

// wantNoComplaint wants neither proxies nor masters to tell of anything that was not allowed.
func wantNoComplaint(t *testing.T, masters []*Redis, proxies ...*Proxy) {
	t.Helper()
	for _, p := range proxies {
		log := p.Log()
		for _, complaint := range []string{"NOPERM", "right", "does not let"} {
			if strings.Contains(log, complaint) {
				t.Errorf("the log complains:\n%s", log)
			}
		}
	}
	for i, m := range masters {
		if log := fmt.Sprint(ask(t, m, "ACL", "LOG")); log != "[]" {
			t.Errorf("master %d has refused: %s", i, log)
		}
	}
}

// TestRightsThatAreToldAreEnough: to its masters the proxy is a user who may do what
// conf/README.md names and nothing else, from a first start on.
func TestRightsThatAreToldAreEnough(t *testing.T) {
	t.Parallel()
	rights := rightsThatAreTold(t)
	masters := startMasters(t, 3)
	for _, m := range masters {
		ask(t, m, rights...)
	}
	args := append(flags(masters), "--master-user", "px", "--master-password-file", writeFile(t, "pw\n"), "--user", "default on nopass ~* &* +@all", "--max-ttl", "10s", "--acquire-timeout", "1s")
	first, err := StartProxy(ProxyOptions{Path: program(t), Args: args, Unmarked: true})
	must(t, err)
	t.Cleanup(func() { must(t, first.Kill()) })
	awaitVoting(t, first, 3)
	p := startProxy(t, args...)
	awaitVoting(t, p, 3)
	c := dial(t, p.Addr)
	useAllRights(c, first)
	code, err := first.Terminate(patience)
	if must(t, err); code != 0 {
		t.Errorf("exit code %d", code)
	}
	awaitCatchUp(t, p, masters[0])
	must(t, masters[1].Kill())
	eventually(t, func() error { return stateIs(c, 1, "down", "") })
	must(t, masters[1].Restart())
	ask(t, masters[1], rights...)             // it has forgotten its users, too
	ask(t, masters[1], "ACL", "LOG", "RESET") // and may have been asked before it was told
	awaitVoting(t, p, 3)
	c.want([]any{"f", "w"}, "HGETALL", "lock:h")
	ask(t, masters[0], "SET", "lock:ghost", "1")
	eventually(t, func() error { // it goes within max-ttl or so
		if ask(t, masters[0], "EXISTS", "lock:ghost") != int64(0) {
			return fmt.Errorf("what nobody holds is there")
		}
		return nil
	})
	c.want("OK", "FLUSHALL")
	time.Sleep(2 * time.Second) // a look at each database
	wantNoComplaint(t, masters, first, p)
}
