package commands

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
func scriptCases(s shape) []scriptCase {
	const left = 50 * time.Second
	ttls := []int64{0}
	if s.ttl > 0 {
		units := func(d time.Duration) int64 { return int64(d / s.unit) }
		switch {
		case s.absolute:
			ttls = []int64{time.Now().Add(80*time.Second).UnixMilli() / unitMillis(s.unit), 0, -5}
		default:
			ttls = []int64{units(80 * time.Second), units(20 * time.Second), 0, units(-70 * time.Second), exact + 1}
		}
	}
	adds := []string{"1"}
	if s.additive > 0 {
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
func (s shape) expect(c scriptCase) (Reply, lockState) {
	switch {
	case !c.before.exists:
		return s.absent, c.before
	case c.before.hash:
		return Error("WRONGTYPE"), c.before
	case c.before.value != c.token, s.needsTTL && c.before.ttl == 0:
		return s.other, c.before
	case s.class == quorum.Release:
		return s.yes, lockState{}
	}
	after := c.before
	if s.orPersist && c.ttl <= 0 {
		after.ttl = 0
		return s.yes, after
	}
	ttl := time.Duration(c.ttl) * s.unit
	if s.absolute {
		ttl = time.Until(time.UnixMilli(c.ttl * unitMillis(s.unit)))
	}
	if s.additive > 0 && c.adds == "0" {
		ttl += c.before.ttl
	}
	switch {
	case s.bySet && ttl <= 0 && !s.absolute:
		return Error(""), c.before
	case s.greater && (c.before.ttl == 0 || ttl <= c.before.ttl):
		return s.kept, c.before
	case ttl <= 0:
		return s.yes, lockState{}
	}
	after.ttl = ttl
	return s.yes, after
}

// given are the KEYS and ARGV of a call.
func (c scriptCase) given(sh shape) (keys, argv []string) {
	keys = make([]string, max(sh.keys+c.keys, 0))
	for i := range keys {
		keys[i] = "key:" + strconv.Itoa(i+1)
	}
	argv = make([]string, max(sh.args+c.args, 0))
	for i := range argv {
		switch i + 1 {
		case sh.token:
			argv[i] = c.token
		case sh.ttl:
			argv[i] = strconv.FormatInt(c.ttl, 10)
		case sh.additive:
			argv[i] = c.adds
		default:
			argv[i] = c.token + strconv.Itoa(i)
		}
	}
	return keys, argv
}

// check carries out calls on the server, those that would not run journaled, and tells
// the first that differs from what the shape says, "" if none does.
func (s *luaServer) check(t testing.TB, text string, sh shape, cases []scriptCase) string {
	t.Helper()
	var made []scriptCase
	for _, c := range cases {
		keys, argv := c.given(sh)
		if _, ok := newCall(&script{shape: sh}, keys, argv); !ok {
			continue
		}
		made = append(made, c)
		s.ask("FLUSHDB")
		for i, key := range keys {
			if i != sh.key-1 {
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
func (s *luaServer) put(key string, state lockState) {
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
func (sh shape) differs(c scriptCase, keys []string, seen []Reply) string {
	reply, size, seen := seen[0], seen[1], seen[2:]
	wantReply, want := sh.expect(c)
	if wantReply.Kind == ErrorReply && (wantReply.Str == "" || wantReply.Str == "WRONGTYPE") {
		if reply.Kind != ErrorReply || !strings.HasPrefix(reply.Str, wantReply.Str) {
			return fmt.Sprintf("answered %+v, want an error %s", reply, wantReply.Str)
		}
	} else if fmt.Sprint(reply) != fmt.Sprint(wantReply) {
		return fmt.Sprintf("answered %+v, want %+v", reply, wantReply)
	}
	n := int64(0)
	for i, key := range keys {
		expected := lockState{exists: true, value: c.token}
		if i == sh.key-1 {
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

func stateSeen(kind, value, left Reply) lockState {
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
