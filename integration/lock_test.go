package integration

import (
	"strconv"
	"strings"
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

// calls is how often a master has carried out a command since it started.
func calls(t *testing.T, m *Redis, command string) int {
	t.Helper()
	c := direct(t, m)
	defer c.Close()
	for line := range strings.Lines(c.text("INFO", "commandstats")) {
		if rest, ok := strings.CutPrefix(line, "cmdstat_"+command+":calls="); ok {
			number, _, _ := strings.Cut(rest, ",")
			n, err := strconv.Atoi(number)
			must(t, err)
			return n
		}
	}
	return 0
}

// pttl is what is left of a key on a master, or -1 or -2 ms as Redis says.
func pttl(t *testing.T, m *Redis, key string) time.Duration {
	t.Helper()
	c := direct(t, m)
	defer c.Close()
	return time.Duration(c.integer("PTTL", key)) * time.Millisecond
}

// took holds that an answer came within a time.
func took(t *testing.T, within time.Duration, what func()) {
	t.Helper()
	start := time.Now()
	what()
	if d := time.Since(start); d > within {
		t.Fatalf("took %v, want at most %v", d, within)
	}
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
