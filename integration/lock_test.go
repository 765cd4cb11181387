package integration

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// The scripts by which lock clients release and extend.
const (
	releaseScript = `if redis.call("get",KEYS[1]) == ARGV[1] then return redis.call("del",KEYS[1]) else return 0 end`
	extendScript  = `if redis.call("get",KEYS[1]) == ARGV[1] then return redis.call("pexpire",KEYS[1],ARGV[2]) else return 0 end`
)

func milliseconds(d time.Duration) string { return strconv.FormatInt(d.Milliseconds(), 10) }

func acquireArgs(key, token string, ttl time.Duration) []string {
	return []string{"SET", key, token, "NX", "PX", milliseconds(ttl)}
}

func releaseArgs(key, token string) []string {
	return []string{"EVAL", releaseScript, "1", key, token}
}

func extendArgs(key, token string, ttl time.Duration) []string {
	return []string{"EVAL", extendScript, "1", key, token, milliseconds(ttl)}
}

// lock takes a lock that must be free.
func (k talk) lock(key, token string, ttl time.Duration) {
	k.t.Helper()
	k.want("OK", acquireArgs(key, token, ttl)...)
}

// asOne is how far three masters may be in taking a lock that is told from a later one of the same
// token: a bit less than the rule has, see what is promised.
const asOne = 15 * time.Millisecond

// lockTogether is lock by three masters that have taken it together: one that was later than that
// does not carry out a release that it is owed, and keeps the lock until its ttl is over.
func (k talk) lockTogether(masters []*Redis, key, token string) {
	k.t.Helper()
	eventually(k.t, func() error {
		k.lock(key, token, ttl)
		wantHolding(k.t, masters, key, token, 0, 1, 2)
		ends := make([]time.Time, len(masters))
		for i, m := range masters {
			ends[i] = endOf(k.t, m, key)
		}
		apart := slices.MaxFunc(ends, time.Time.Compare).Sub(slices.MinFunc(ends, time.Time.Compare))
		if apart <= asOne {
			return nil
		}
		k.unlock(key, token)
		wantGone(k.t, masters, key)
		return fmt.Errorf("it ends %v later on one master than on another", apart)
	})
}

// refused asks for a lock that somebody else has.
func (k talk) refused(key, token string, ttl time.Duration) {
	k.t.Helper()
	k.want(nil, acquireArgs(key, token, ttl)...)
}

// unlock gives back a lock that is held.
func (k talk) unlock(key, token string) {
	k.t.Helper()
	k.want(1, releaseArgs(key, token)...)
}

// echoed tells one count from the next.
var echoed atomic.Int64

// callsOn counts how often a master has carried out a command since on keys that begin with
// a prefix, as its MONITOR tells: the proxy has keys of its own.
func callsOn(t *testing.T, m *Redis, command, prefix string) (count func() int) {
	t.Helper()
	heard, asking := direct(t, m), direct(t, m)
	heard.want("OK", "MONITOR")
	called := fmt.Sprintf(`"%s" "%s`, command, prefix)
	n := 0
	return func() int {
		t.Helper()
		// What was carried out before is heard before.
		now := fmt.Sprint("now ", echoed.Add(1))
		asking.want(now, "ECHO", now)
		for {
			reply, err := heard.Receive()
			must(t, err)
			switch line, _ := reply.(string); {
			case strings.HasSuffix(line, fmt.Sprintf(`"ECHO" %q`, now)):
				return n
			case strings.Contains(line, called):
				n++
			}
		}
	}
}

// pttl is what is left of a key on a master, or -1 or -2 ms as Redis says.
func pttl(t *testing.T, m *Redis, key string) time.Duration {
	t.Helper()
	c := direct(t, m)
	defer c.Close()
	return time.Duration(c.integer("PTTL", key)) * time.Millisecond
}

// logged is an error unless the proxy's log holds a text.
func logged(p *Proxy, text string) error {
	if log := p.Log(); !strings.Contains(log, text) {
		return fmt.Errorf("the log does not say %q:\n%s", text, log)
	}
	return nil
}

// linesAbout counts the lines of a log that name something.
func linesAbout(log, what string) int {
	n := 0
	for line := range strings.Lines(log) {
		if strings.Contains(line, what) {
			n++
		}
	}
	return n
}
