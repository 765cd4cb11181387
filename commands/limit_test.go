package commands

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"redlock-proxy/commands/acl"
	"redlock-proxy/quorum"
	"redlock-proxy/quorum/registry"
)

// bounded is a session of a user with such limits, and a master.
type bounded struct {
	t *testing.T
	m *master
	*Session
}

func newBounded(t *testing.T, limits string) bounded {
	w := &watcher{seen: registry.New(0), now: time.Minute}
	m := newMaster()
	d := NewDialect(Options{Lookout: w, Now: func() (time.Time, bool) { return time.UnixMilli(m.now), true }})
	return bounded{t, m, as(t, d, "~* &* +@all "+limits)}
}

// begin asks, and has the master carry it out: what is to be done with the answer comes later.
func (b bounded) begin(command string) (finish func() Reply) {
	a := b.Do(wordsOf(command))
	asked := a.Requests
	results := b.carryOut(asked)
	return func() Reply {
		for len(a.Requests) > 0 {
			reply, next := a.Render.Render(results)
			if len(next.Requests) == 0 {
				return reply
			}
			a, results = next, b.carryOut(next.Requests)
		}
		return a.Reply
	}
}

func (b bounded) carryOut(asked []quorum.Request) (results []quorum.Result) {
	for _, r := range asked {
		results = append(results, b.m.put(r))
	}
	return results
}

// want has a command be answered so: by the beginning of an error, and else as fmt prints the reply.
func (b bounded) want(command, answer string) {
	b.t.Helper()
	if got := plainly(b.begin(command)()); !strings.HasPrefix(got, answer) {
		b.t.Errorf("%s: %s, want %s", command, got, answer)
	}
}

func plainly(r Reply) string {
	switch r.Kind {
	case IntegerReply:
		return fmt.Sprint(r.Int)
	case NullReply:
		return "nil"
	case ArrayReply:
		var all []string
		for _, e := range r.Elems {
			all = append(all, plainly(e))
		}
		return "[" + strings.Join(all, " ") + "]"
	}
	return r.Str
}

const (
	releaseScript = "if redis.call('get',KEYS[1]) == ARGV[1] then return redis.call('del',KEYS[1]) else return 0 end"
	extendScript  = "if redis.call('get',KEYS[1]) == ARGV[1] then return redis.call('pexpire',KEYS[1],ARGV[2]) else return 0 end"
	freesScript   = "redis.call('publish',KEYS[1],'free') return redis.call('del',KEYS[1])"
	setsScript    = "return redis.call('set',KEYS[1],'x')"
	setsSoScript  = "return redis.call(ARGV[1],KEYS[1],'x')"
	countsScript  = "return redis.call('hincrby',KEYS[1],'f',1)"
	renamesScript = "return redis.call('rename',KEYS[1],KEYS[2])"
	overTTL       = "NOPERM User u may take no lock for longer than 30s, or for ever (max-ttl)"
	overLocks     = "NOPERM User u holds or awaits 2 locks, as many as he may (max-locks)"
	untold        = "NOPERM User u has max-"
	aborted       = "EXECABORT Transaction discarded because of: "
	together      = aborted + "NOPERM User u takes no locks by a transaction"
)

// wordsOf are those of a command, with the scripts above by their names.
func wordsOf(command string) []string {
	scripts := map[string]string{"release": releaseScript, "extend": extendScript, "frees": freesScript, "sets": setsScript, "setsSo": setsSoScript, "counts": countsScript, "renames": renamesScript}
	list := strings.Fields(command)
	for i, word := range list {
		if script := scripts[word]; script != "" && i == 1 {
			list[i] = script
		}
	}
	return list
}

func TestLongestTTLOfAUser(t *testing.T) {
	b := newBounded(t, "max-ttl=30s")
	for _, c := range []struct{ command, want string }{
		{"SET a t NX PX 30000", "OK"},
		{"SET b t NX EX 31", overTTL},
		{"SET b t NX", overTTL},
		{"SETNX b t", overTTL},
		{"SET b t EX 31", overTTL},
		{"SETEX b 30 t", "OK"},
		{"PSETEX b 30001 t", overTTL},
		{"SET b t KEEPTTL", overTTL},
		{"SET b t XX KEEPTTL", overTTL}, // that of somebody else's key may be any
		{fmt.Sprintf("SET c t NX PXAT %d", b.m.now+30000), "OK"},
		{fmt.Sprintf("SET d t NX PXAT %d", b.m.now+30001), overTTL},
		{"EVAL extend 1 a t 30000", "1"},
		{"EVAL extend 1 a t 30001", overTTL},
		{"SET a t IFEQ t PX 30001", overTTL},
		{"SET a t IFEQ t PX 30000", "OK"},
		{"SET a u IFEQ t PX 30000", untold},
		{"EXPIRE a 30", "1"},
		{"EXPIRE a 31", overTTL},
		{fmt.Sprintf("PEXPIREAT a %d", b.m.now+30001), overTTL},
		{"PERSIST a", overTTL},
		{"EXPIRE a 0", "1"},
		{"GETEX b PX 10", untold},
		{"GETEX b", "t"},
		{"GETSET b t", untold},
		{"APPEND b t", untold},
		{"HMSET h f v", untold},
		{"ZINCRBY z 1 m", untold},
		{"COPY a b", untold},
		{"RENAME a b", untold},
		{"RENAMENX a b", untold},
		{"EVAL renames 2 a b", untold},
		{"INCR n", untold},
		{"HSET h f v", untold},
		{"SADD s m", untold},
		{"RPUSH l e", untold},
		{"LMOVE l m LEFT LEFT", untold},
		{"ZADD z 1 m", untold},
		{"MSET b t", untold},
		{"EVAL sets 1 b", untold},
		{"EVAL setsSo 1 b SET", untold},
		{"EVAL counts 1 h", untold},
		{"EVAL release 1 b t", "1"},
		{"GET b", "nil"},
		{"DEL c", "1"},
		// In a transaction each command is judged by itself, and if one is refused nothing is carried out.
		{"MULTI", "OK"}, {"SET a t NX PX 30001", "QUEUED"}, {"EXEC", aborted + overTTL},
		{"MULTI", "OK"}, {"INCR n", "QUEUED"}, {"EXEC", aborted + untold},
		{"MULTI", "OK"}, {"GETSET n x", "QUEUED"}, {"GETEX n PERSIST", "QUEUED"}, {"EXEC", aborted + untold},
		{"MULTI", "OK"}, {"EVAL sets 1 b", "QUEUED"}, {"GET b", "QUEUED"}, {"EXEC", aborted + untold},
		{"MULTI", "OK"}, {"GET b", "QUEUED"}, {"EVAL extend 1 b t 30001", "QUEUED"}, {"EXEC", aborted + overTTL},
		{"MULTI", "OK"}, {"SET a t NX PX 30000", "QUEUED"}, {"EXEC", "[OK]"},
	} {
		b.want(c.command, c.want)
	}
	// What only frees needs no ttl: whether masters are asked is what matters here, they carry out no scripts.
	for _, command := range []string{"HDEL h f", "SREM s m", "GETDEL a", "SPOP s", "LMPOP 2 l m LEFT", "ZPOPMAX z", "ZMPOP 1 z MIN", "ZREMRANGEBYRANK z 0 1", "EVAL frees 1 a", "EVAL_RO counts 1 h", "WATCH a"} {
		if a := b.Do(wordsOf(command)); len(a.Requests) == 0 {
			t.Errorf("%s: %s", command, a.Reply.Str)
		}
	}
}

func TestMostLocksOfAUser(t *testing.T) {
	b := newBounded(t, "max-locks=2")
	for _, c := range []struct{ command, want string }{
		{"SET a t NX PX 30000", "OK"},
		{"SET b t NX", "OK"},
		{"SET a t NX PX 30000", "nil"},
		{"SET c t NX PX 30000", overLocks},
		{"EXISTS c", "0"},
		{"SETNX c t", overLocks},
		{"SET c t", overLocks},
		{"SET a u PX 20000", "OK"},
		{"EVAL extend 1 a u 30000", "1"},
		{"EVAL extend 1 c u 30000", overLocks},
		{"EXPIRE a 40", "1"},
		{"PERSIST a", "1"},
		{"EVAL release 1 a other", "0"},
		{"SET c t NX PX 30000", overLocks},
		{"EVAL release 1 a u", "1"},
		{"SET c t NX PX 30000", "OK"},
		{"SET d t NX PX 30000", overLocks},
		{"DEL b nothing", "1"},
		{"SET d t NX PX 30000", "OK"},
		{"EVAL sets 1 e", untold},
		{"MULTI", "OK"}, {"SET a t NX PX 30000", "QUEUED"}, {"DEL c", "QUEUED"}, {"EXEC", together},
		{"MULTI", "OK"}, {"EVAL extend 1 c t 30000", "QUEUED"}, {"GET c", "QUEUED"}, {"EXEC", together},
		{"MULTI", "OK"}, {"EVAL sets 1 e", "QUEUED"}, {"GET c", "QUEUED"}, {"EXEC", aborted + untold},
		{"MULTI", "OK"}, {"SET a t NX PX 30000", "QUEUED"}, {"EXEC", aborted + overLocks},
		{"MULTI", "OK"}, {"SET c t NX PX 30000", "QUEUED"}, {"EXEC", "[nil]"},
		{"WATCH c", "OK"}, {"GET c", "t"}, {"MULTI", "OK"}, {"PEXPIRE c 30000", "QUEUED"}, {"EXEC", "[1]"},
		{"WATCH c", "OK"}, {"GET c", "t"}, {"MULTI", "OK"}, {"DEL c", "QUEUED"}, {"EXEC", "[1]"},
		{"SET a t NX PX 30000", "OK"},
		{"SET e t NX PX 30000", overLocks},
		{"DEL a c", "1"},
		{"SET " + strings.Repeat("n", 1024) + " t NX PX 30000", "OK"},
		{"SETNX " + strings.Repeat("n", 1025) + " t", "NOPERM User u may take no lock whose name has more than 1024 bytes (max-locks)"},
		{"GET " + strings.Repeat("n", 1025), "nil"},
	} {
		b.want(c.command, c.want)
	}
}

// What he holds no more counts no more, however it was freed: before he is refused the masters are asked.
func TestLocksThatOthersHaveFreedDoNotCount(t *testing.T) {
	b := newBounded(t, "max-locks=2")
	w := b.d.lookout.(*watcher)
	b.want("SET a t NX PX 30000", "OK")
	b.want("SET b t NX PX 30000", "OK")
	delete(b.m.keys, "a")
	b.want("SET c t NX PX 30000", "OK")
	b.m.keys["b"] = entry{kind: "string", value: "somebody else's"}
	b.want("SET d t NX PX 30000", overLocks) // it was looked just now
	w.now += 100 * time.Millisecond
	b.want("SET d t NX PX 30000", "OK")
	b.m.keys["c"] = entry{kind: "hash"}
	w.now += 100 * time.Millisecond
	b.want("SET e t NX PX 30000", "OK")
	w.now += 100 * time.Millisecond
	b.want("SET f t NX PX 30000", overLocks)
	b.want("EXISTS f", "0")

	// Of his own doing as well: what has ended, and what came to nothing.
	b.m.wait(31 * time.Second)
	w.now += 33 * time.Second
	b.want("SET f t NX PX 30000", "OK")
	late := b.begin("SET g t NX PX 30000")
	b.want("SET h t NX PX 30000", overLocks)
	b.want("DEL g", "1")
	late()
	w.now += 100 * time.Millisecond
	b.want("SET h t NX PX 30000", "OK")
	told := b.begin("ACL GETUSER u")().Elems
	if got := plainly(Array(told[len(told)-4:]...)); got != "[limits max-locks=2 locks 2]" {
		t.Errorf("ACL GETUSER ends with %s", got)
	}
}

// What masters are asked for they may grant at any time until they have answered, or it was not put to them.
func TestLocksThatMayBeGrantedCount(t *testing.T) {
	b := newBounded(t, "max-locks=1")
	a := b.Do(wordsOf("SET a t PX 100"))
	b.d.lookout.(*watcher).now += 10 * time.Second
	b.want("SET b t NX PX 100", "NOPERM User u holds or awaits 1 locks")
	a.Render.(Forgoer).Forgo()
	b.want("SET b t NX PX 100", "OK")
}

// An attempt of which no quorum has told leaves it open which of two values is there, and for how long.
func TestWhatIsNotDecidedCounts(t *testing.T) {
	b := newBounded(t, "max-locks=1")
	w := b.d.lookout.(*watcher)
	b.want("SET a t NX PX 30000", "OK")
	for _, command := range []string{"EVAL extend 1 a stale 10", "SET a other PX 10"} {
		a := b.Do(wordsOf(command))
		a.Render.Render([]quorum.Result{{Decision: quorum.Unavailable}})
		w.now += 10 * time.Second
		b.want("SET b t NX PX 10", "NOPERM User u holds or awaits 1 locks")
	}
	b.m.keys["a"] = entry{kind: "string", value: "somebody else's"}
	w.now += time.Second
	b.want("SET b t NX PX 10", "OK")
}

// The books are the user's, whatever becomes of his rights.
func TestLimitsChange(t *testing.T) {
	b := newBounded(t, "max-locks=2")
	b.want("SET a t NX PX 30000", "OK")
	b.want("SET b t NX PX 30000", "OK")
	set := func(rules ...string) {
		t.Helper()
		if err := b.d.users.Set("u", rules); err != nil {
			t.Fatal(err)
		}
	}
	set("max-locks=3")
	b.want("SET c t NX PX 30000", "OK")
	b.want("SET d t NX PX 30000", "NOPERM User u holds or awaits 3 locks")
	set("max-locks=1")
	b.want("DEL c", "1")
	b.want("SET d t NX PX 30000", "NOPERM User u holds or awaits 1 locks")
	b.want("EVAL extend 1 a t 30000", "1")
	set("max-locks=0")
	b.want("SET d t NX PX 30000", "OK")
	b.want("EVAL counts 1 h", "nil")
	set("max-ttl=1s")
	b.want("EVAL extend 1 a t 1001", "NOPERM User u may take no lock for longer than 1s")
	if a := b.Do(wordsOf("SET e t NX")); a.Forbidden != (acl.Denial{Reason: acl.ByLimit, Object: "e"}) || !a.Rejected || a.DeniedUser != "u" {
		t.Errorf("%+v", a)
	}
}
