package recognise

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"redlock-proxy/quorum"
)

// lockState is what a key holds. A ttl of 0 is none.
type lockState struct {
	exists bool
	hash   bool // and not a string
	value  string
	ttl    time.Duration
}

// scriptCase is one call of a script.
type scriptCase struct {
	before lockState
	token  string
	ttl    int64
	adds   string // the additive argument

	// How many KEYS and ARGV are given beyond those that the script must have, or,
	// below 0, are missing. Fewer than none are none.
	keys, args int
}

// scriptCases are the calls that tell what a shape gets wrong, were it wrong.
func scriptCases(s Shape) []scriptCase {
	const left = 50 * time.Second
	ttls := []int64{0}
	if s.TTL > 0 {
		units := func(d time.Duration) int64 { return int64(d / s.Unit) }
		switch {
		case s.Absolute:
			ttls = []int64{time.Now().Add(80*time.Second).UnixMilli() / unitMillis(s.Unit), 0, -5}
		default:
			ttls = []int64{units(80 * time.Second), units(20 * time.Second), 0, units(-70 * time.Second), exact + 1}
		}
	}
	adds := []string{"1"}
	if s.Additive > 0 {
		adds = []string{"0", "1", "", "00"}
	}
	var cases []scriptCase
	for _, token := range []string{"token", "1", ""} {
		states := []lockState{{}, {exists: true, value: token, ttl: left}, {exists: true, value: token},
			{exists: true, hash: true, value: token, ttl: left}, {exists: true, hash: true, value: token}}
		for _, other := range []string{"other", "", "1", "01", token + "x", "Token"} {
			if other != token {
				states = append(states, lockState{exists: true, value: other, ttl: left}, lockState{exists: true, value: other})
			}
		}
		for _, before := range states {
			for _, ttl := range ttls {
				for _, a := range adds {
					for _, given := range [][2]int{{1, 1}, {0, 0}, {-1, 0}, {0, -1}, {-9, -9}} {
						cases = append(cases, scriptCase{before, token, ttl, a, given[0], given[1]})
					}
				}
			}
		}
	}
	return cases
}

func unitMillis(unit time.Duration) int64 { return int64(unit / time.Millisecond) }

// expect is what the shape says of a call: the reply and what is there after.
// An error has only its first word, or none.
func (s Shape) expect(c scriptCase) (quorum.Reply, lockState) {
	switch {
	case s.Class == quorum.Acquire && c.before.exists:
		return s.Other, c.before
	case s.Class == quorum.Acquire:
		return s.Yes, lockState{exists: true, value: c.token, ttl: max(time.Duration(c.ttl)*s.Unit, 0)}
	case !c.before.exists:
		return s.Absent, c.before
	case c.before.hash:
		return failure("WRONGTYPE"), c.before
	case c.before.value != c.token, s.NeedsTTL && c.before.ttl == 0:
		return s.Other, c.before
	case s.Class == quorum.Release:
		return s.Yes, lockState{}
	}
	after := c.before
	if s.OrPersist && c.ttl <= 0 {
		after.ttl = 0
		return s.Yes, after
	}
	ttl := time.Duration(c.ttl) * s.Unit
	if s.Absolute {
		ttl = time.Until(time.UnixMilli(c.ttl * unitMillis(s.Unit)))
	}
	if s.Additive > 0 && c.adds == "0" {
		ttl += c.before.ttl
	}
	switch {
	case s.BySet && ttl <= 0 && !s.Absolute:
		return failure(""), c.before
	case s.Greater && (c.before.ttl == 0 || ttl <= c.before.ttl):
		return s.Kept, c.before
	case ttl <= 0:
		return s.Yes, lockState{}
	}
	after.ttl = ttl
	return s.Yes, after
}

// given are the KEYS and ARGV of a call.
func (c scriptCase) given(sh Shape) (keys, argv []string) {
	keys = make([]string, max(sh.Keys+c.keys, 0))
	for i := range keys {
		keys[i] = "key:" + strconv.Itoa(i+1)
	}
	argv = make([]string, max(sh.Args+c.args, 0))
	for i := range argv {
		switch i + 1 {
		case sh.Token:
			argv[i] = c.token
		case sh.TTL:
			argv[i] = strconv.FormatInt(c.ttl, 10)
		case sh.Additive:
			argv[i] = c.adds
		default:
			argv[i] = c.token + strconv.Itoa(i)
		}
	}
	return keys, argv
}

// exact is how far Lua's numbers are whole numbers.
const exact = 1 << 53

// served tells whether a call is the one that was recognised. Package commands decides that
// by the same rule, in newCall, and has any other run on the masters.
func (c scriptCase) served(sh Shape, keys, argv []string) bool {
	if len(keys) < sh.Keys || len(argv) < sh.Args {
		return false
	}
	return sh.TTL == 0 || c.ttl <= exact && c.ttl >= -exact && (c.ttl > 0 || !sh.BySet && sh.Class != quorum.Acquire || sh.OrPersist)
}

// check carries out calls on the server, those that would not run journaled, and tells
// the first that differs from what the shape says, "" if none does.
func (s *redisServer) check(t testing.TB, text string, sh Shape, cases []scriptCase) string {
	t.Helper()
	var made []scriptCase
	for _, c := range cases {
		keys, argv := c.given(sh)
		if !c.served(sh, keys, argv) {
			continue
		}
		made = append(made, c)
		s.ask("FLUSHDB")
		for i, key := range keys {
			if i != sh.Key-1 {
				s.ask("SET", key, c.token)
			} else {
				s.put(key, c.before)
			}
		}
		s.ask(slices.Concat([]string{"EVAL", text, strconv.Itoa(len(keys))}, keys, argv)...)
		s.ask("DBSIZE")
		for _, key := range keys {
			s.ask("TYPE", key)
			s.ask("GET", key)
			s.ask("PTTL", key)
		}
	}
	replies := s.replies(t)
	for _, c := range made {
		keys, argv := c.given(sh)
		n := 1 + len(keys)
		if !c.before.exists {
			n--
		}
		if c.before.exists && c.before.ttl > 0 {
			n++
		}
		seen := replies[n : n+2+3*len(keys)]
		replies = replies[n+len(seen):]
		if difference := sh.differs(c, keys, seen); difference != "" {
			return fmt.Sprintf("%+v, called with %q %q: %s", c, keys, argv, difference)
		}
	}
	return ""
}

// put makes a key what it is before a call, in two commands if it has a ttl.
func (s *redisServer) put(key string, state lockState) {
	switch {
	case !state.exists:
		return
	case state.hash:
		s.ask("HSET", key, "field", state.value)
	default:
		s.ask("SET", key, state.value)
	}
	if state.ttl > 0 {
		s.ask("PEXPIRE", key, strconv.FormatInt(state.ttl.Milliseconds(), 10))
	}
}

// differs compares what was answered to a call, and then seen of the keys, with what
// the shape says.
func (sh Shape) differs(c scriptCase, keys []string, seen []quorum.Reply) string {
	reply, size, seen := seen[0], seen[1], seen[2:]
	wantReply, want := sh.expect(c)
	if wantReply.Kind == quorum.FailureReply && (wantReply.Str == "" || wantReply.Str == "WRONGTYPE") {
		if reply.Kind != quorum.FailureReply || !strings.HasPrefix(reply.Str, wantReply.Str) {
			return fmt.Sprintf("answered %+v, want an error %s", reply, wantReply.Str)
		}
	} else if reply != wantReply {
		return fmt.Sprintf("answered %+v, want %+v", reply, wantReply)
	}
	n := int64(0)
	for i, key := range keys {
		expected := lockState{exists: true, value: c.token}
		if i == sh.Key-1 {
			expected = want
		}
		if expected.exists {
			n++
		}
		if got := stateSeen(seen[3*i], seen[3*i+1], seen[3*i+2]); !got.like(expected) {
			return fmt.Sprintf("left %s as %+v, want %+v", key, got, expected)
		}
	}
	if size.Int != n {
		return fmt.Sprintf("left %d keys, want %d", size.Int, n)
	}
	return ""
}

func stateSeen(kind, value, left quorum.Reply) lockState {
	return lockState{
		exists: kind.Str != "none",
		hash:   kind.Str == "hash",
		value:  value.Str,
		ttl:    max(0, time.Duration(left.Int)*time.Millisecond),
	}
}

// like allows for the time that a check takes, and for clocks in seconds.
func (s lockState) like(o lockState) bool {
	return s.exists == o.exists && s.hash == o.hash && (s.hash || s.value == o.value) && (s.ttl == 0) == (o.ttl == 0) &&
		(s.ttl-o.ttl).Abs() < 3*time.Second
}
