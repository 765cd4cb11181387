package integration

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// fieldOf is a field of a map that a client of RESP2 is given, as text.
func fieldOf(reply any, name string) string {
	words, _ := reply.([]any)
	for i := 0; i+1 < len(words); i += 2 {
		if words[i] == name {
			return fmt.Sprint(words[i+1])
		}
	}
	return fmt.Sprintf("no field %s in %v", name, reply)
}

// fieldIs waits until a command tells this in a field.
func fieldIs(t *testing.T, c talk, name, want string, args ...string) {
	t.Helper()
	eventually(t, func() error {
		if got := fieldOf(c.do(args...), name); !strings.Contains(got, want) {
			return fmt.Errorf("%v: %s is %q, want %q", args, name, got, want)
		}
		return nil
	})
}

// The questions of an operator at night, with a master that dies, one that is flushed, and none.
func TestOperatorSeesWhoHoldsWhatAndWhyOthersAreRefused(t *testing.T) {
	t.Parallel()
	masters, p := startQuorum(t, 3, "--user", "default on nopass ~* &* +@all")
	holder, other, c := dial(t, p.Addr), dial(t, p.Addr), dial(t, p.Addr)
	holder.want("OK", "CLIENT", "SETNAME", "nightly-job")
	holder.want("OK", "SET", "job", "the-token", "NX", "PX", "300000")
	for range 3 {
		other.want(nil, "SET", "job", "my-token", "NX", "PX", "300000")
	}

	told := c.do("LOCK", "INFO", "job")
	for name, want := range map[string]string{"state": "held", "client-name": "nightly-job", "waiters": "1", "refusals": "3"} {
		if got := fieldOf(told, name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	if got := fieldOf(told, "masters"); strings.Count(got, "holds it") != 3 {
		t.Errorf("on the masters: %s", got)
	}
	fieldIs(t, c, "summary", "somebody else has it", "LOCK", "EXPLAIN", "job")
	if top := c.do("LOCK", "TOP").([]any); len(top) != 1 || fieldOf(top[0], "refusals-in-a-minute") != "3" {
		t.Errorf("most contended: %v", top)
	}
	page := c.do("LOCK", "LIST").([]any)
	if locks := page[1].([]any); len(locks) != 1 || fieldOf(locks[0], "client-name") != "nightly-job" {
		t.Errorf("all locks: %v", page)
	}
	if got := c.text("LOCK", "STATUS"); !strings.HasPrefix(got, "locks are granted, 3 of 3 masters vote") || !strings.Contains(got, "may be restarted") {
		t.Errorf("%s", got)
	}

	must(t, masters[0].Kill())
	eventually(t, func() error {
		if got := c.text("LOCK", "STATUS"); !strings.Contains(got, masters[0].Addr+" down") {
			return fmt.Errorf("%s", got)
		}
		return nil
	})
	if got := fieldOf(c.do("LOCK", "INFO", "job"), "masters"); strings.Count(got, "holds it") != 2 || !strings.Contains(got, "no answer") {
		t.Errorf("with one master dead: %s", got)
	}
	if got := ask(t, masters[1], "FLUSHALL"); got != "OK" {
		t.Fatal(got)
	}
	eventually(t, func() error {
		events := fmt.Sprint(c.do("LOCK", "EVENTS"))
		for _, want := range []string{masters[0].Addr + " text down", masters[1].Addr + " text quarantined"} {
			if !strings.Contains(events, want) {
				return fmt.Errorf("%q is not in %s", want, events)
			}
		}
		return nil
	})
	if got := fieldOf(c.do("LOCK", "INFO", "job"), "state"); got != "unknown" {
		t.Errorf("with one master left that knows: %s", got)
	}
	other.wantNoQuorum("SET", "job", "my-token", "NX", "PX", "300000")
	fieldIs(t, c, "summary", "NOQUORUM", "LOCK", "EXPLAIN", "job")

	all := fmt.Sprint(told, c.do("LOCK", "EXPLAIN", "job"), c.do("LOCK", "TOP"), c.do("LOCK", "EVENTS"), page, p.Log())
	if strings.Contains(all, "the-token") || strings.Contains(all, "my-token") {
		t.Error("a token is told")
	}
}

func TestOperatorFreesALockFromWhoStillHoldsIt(t *testing.T) {
	t.Parallel()
	masters, p := startQuorum(t, 3, "--user", "default on nopass ~* &* +@all")
	c := dial(t, p.Addr)
	c.want("OK", "SET", "k", "old", "NX", "PX", milliseconds(ttl))
	old := fieldOf(c.do("LOCK", "INFO", "k"), "holder")
	c.want(1, "DEL", "k")
	c.want("OK", "SET", "k", "new", "NX", "PX", milliseconds(ttl))
	if got := fmt.Sprint(c.do("LOCK", "FORCE", "k", "HOLDER", old)); !strings.HasPrefix(got, "ERR it is held by another one") {
		t.Errorf("%s", got)
	}
	wantHolding(t, masters, "k", "new", 0, 1, 2)
	now := fieldOf(c.do("LOCK", "INFO", "k"), "holder")
	if got := c.text("LOCK", "FORCE", "k", "HOLDER", now, "REASON", "its", "host", "burnt"); !strings.HasPrefix(got, "OK, ") {
		t.Errorf("%s", got)
	}
	wantHolding(t, masters, "k", "new")
	fieldIs(t, c, "state", "free", "LOCK", "INFO", "k")
	if got := fmt.Sprint(c.do("LOCK", "EVENTS")); !strings.Contains(got, "its host burnt") || !strings.Contains(got, "about k") {
		t.Errorf("%s", got)
	}
	must(t, logged(p, `an order was given: order="LOCK FORCE" about=k reason="its host burnt"`))
}

// TestHolderOfALockThatAScriptMadeIsKnown: a hash, as lock libraries make it.
func TestHolderOfALockThatAScriptMadeIsKnown(t *testing.T) {
	t.Parallel()
	_, p := startQuorum(t, 3)
	c, other := dial(t, p.Addr), dial(t, p.Addr)
	c.want("OK", "CLIENT", "SETNAME", "reentrant")
	script := "if redis.call('exists', KEYS[1]) == 0 then redis.call('hincrby', KEYS[1], ARGV[2], 1) redis.call('pexpire', KEYS[1], ARGV[1]) return nil end return redis.call('pttl', KEYS[1])"
	c.want(nil, "EVAL", script, "1", "h", milliseconds(ttl), "8743c9c0:1")
	other.do("EVAL", script, "1", "h", milliseconds(ttl), "99999999:7")
	told := other.do("LOCK", "INFO", "h")
	if fieldOf(told, "client-name") != "reentrant" || fieldOf(told, "type") != "hash" {
		t.Errorf("%v", told)
	}
	c.want(1, "EVAL", "return redis.call('rpush', KEYS[1], ARGV[1])", "1", "l", "8743c9c0:1")
	if told := other.do("LOCK", "INFO", "l"); fieldOf(told, "client-name") != "reentrant" || fieldOf(told, "type") != "list" {
		t.Errorf("%v", told)
	}
}

// TestWhatAnotherProxyGaveIsTold: who holds it is asked for there.
func TestWhatAnotherProxyGaveIsTold(t *testing.T) {
	t.Parallel()
	masters, p := startQuorum(t, 3)
	q := startProxy(t, flags(masters)...)
	holder, c := dial(t, p.Addr), dial(t, q.Addr)
	holder.want("OK", "CLIENT", "SETNAME", "over-there")
	holder.want("OK", "SET", "k", "the-token", "NX", "PX", milliseconds(ttl))
	fieldIs(t, c, "client-name", "over-there", "LOCK", "INFO", "k")
	eventually(t, func() error {
		page := c.do("LOCK", "LIST").([]any)
		if locks := page[1].([]any); len(locks) != 1 || fieldOf(locks[0], "client-name") != "over-there" {
			return fmt.Errorf("%v", page)
		}
		return nil
	})
	eventually(t, func() error {
		if list, _ := c.do("LOCK", "PROXIES").([]any); len(list) != 2 || fieldOf(list[1], "address") != p.Addr {
			return fmt.Errorf("%v", list)
		}
		return nil
	})
	if got := ask(t, masters[0], "SET", "stray", "x"); got != "OK" {
		t.Fatal(got)
	}
	if got := ask(t, masters[1], "SET", "stray", "x"); got != "OK" {
		t.Fatal(got)
	}
	if got := fieldOf(c.do("LOCK", "INFO", "stray"), "held-by"); got != "held, by whom is not known here" {
		t.Errorf("%s", got)
	}
}

// TestLockThatIsReleasedTooLateIsItsNewHolders, and who has none to release is not taken for him.
func TestLockThatIsReleasedTooLateIsItsNewHolders(t *testing.T) {
	t.Parallel()
	_, p := startQuorum(t, 3)
	alice, bob := dial(t, p.Addr), dial(t, p.Addr)
	alice.want("OK", "CLIENT", "SETNAME", "alice")
	bob.want("OK", "CLIENT", "SETNAME", "bob")
	alice.want("OK", "SET", "k", "of-alice", "NX", "PX", "1000")
	eventually(t, func() error {
		if got := bob.do("SET", "k", "of-bob", "NX", "PX", milliseconds(ttl)); got != "OK" {
			return fmt.Errorf("bob gets %v", got)
		}
		return nil
	})
	alice.want(0, releaseArgs("k", "of-alice")...)
	if got := fieldOf(bob.do("LOCK", "INFO", "k"), "client-name"); got != "bob" {
		t.Errorf("it is held by %s", got)
	}
}

// TestValuesOfWhichNoneIsAQuorumsAreNoFreeLock: nobody gets it.
func TestValuesOfWhichNoneIsAQuorumsAreNoFreeLock(t *testing.T) {
	t.Parallel()
	masters, p := startQuorum(t, 3)
	for i, m := range masters {
		direct(t, m).want("OK", "SET", "k", fmt.Sprint(i))
	}
	if got := fieldOf(dial(t, p.Addr).do("LOCK", "INFO", "k"), "state"); got != "unknown" {
		t.Errorf("it is %s", got)
	}
}

// TestListOfLocksReadsNothingThatIsWide: each master tells how large a hash is, and no more of it.
func TestListOfLocksReadsNothingThatIsWide(t *testing.T) {
	t.Parallel()
	masters, p := startQuorum(t, 3)
	c := dial(t, p.Addr)
	for i := range 20 {
		args := []string{"HSET", fmt.Sprint("wide:", i)}
		for f := range 50 {
			args = append(args, fmt.Sprint("f", f), strings.Repeat("x", 2000))
		}
		c.want(50, args...)
	}
	c.want(1, "HSET", "small", "f", "v")
	reads := func() (n int) {
		for _, m := range masters {
			stats := fmt.Sprint(ask(t, m, "INFO", "commandstats"))
			if found := regexp.MustCompile(`cmdstat_hgetall:calls=(\d+)`).FindStringSubmatch(stats); found != nil {
				calls, err := strconv.Atoi(found[1])
				must(t, err)
				n += calls
			}
		}
		return n
	}
	before := reads()
	listed := 0
	for cursor := "0"; ; {
		page := c.do("LOCK", "LIST", "COUNT", "128", "CURSOR", cursor).([]any)
		listed += len(page[1].([]any))
		if cursor = page[0].(string); cursor == "0" {
			break
		}
	}
	if listed != 21 {
		t.Errorf("%d are listed", listed)
	}
	if n := reads() - before; n < 2 || n > 3 { // the small one, by a quorum at least
		t.Errorf("masters have read %d hashes", n)
	}
}

// TestWhatIsLongIsNotReadToTellWhoseItIs: a list of locks costs as little, whatever is in them.
func TestWhatIsLongIsNotReadToTellWhoseItIs(t *testing.T) {
	t.Parallel()
	_, p := startQuorum(t, 3)
	c := dial(t, p.Addr)
	c.want("OK", "SET", "short", strings.Repeat("x", 4096), "PX", milliseconds(ttl))
	c.want("OK", "SET", "long", strings.Repeat("x", 4097), "PX", milliseconds(ttl))
	c.want("OK", "SET", "longest", strings.Repeat("x", 65537), "PX", milliseconds(ttl))
	c.want(1, "HSET", "hash", "f", strings.Repeat("x", 4096))
	known := make(map[string]bool)
	for _, l := range c.do("LOCK", "LIST", "COUNT", "100").([]any)[1].([]any) {
		known[fieldOf(l, "key")] = fieldOf(l, "holder") != ""
	}
	if fmt.Sprint(known) != "map[hash:false long:false longest:false short:true]" {
		t.Errorf("listed: %v", known)
	}
	for key, want := range map[string]bool{"short": true, "long": true, "longest": false, "hash": true} {
		if got := fieldOf(c.do("LOCK", "INFO", key), "holder") != ""; got != want {
			t.Errorf("%s: %v", key, got)
		}
	}
}
