package commands

import (
	"fmt"
	"slices"
	"strconv"
	"testing"
	"time"

	"redlock-proxy/quorum"
)

// lockState is what a key holds. A ttl of 0 is none.
type lockState struct {
	exists bool
	value  string
	ttl    time.Duration
}

// scriptCase is one call of a script.
type scriptCase struct {
	before lockState
	token  string
	ttl    int64
	adds   string // the additive argument
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
			ttls = []int64{units(80 * time.Second), units(20 * time.Second), 0, units(-70 * time.Second)}
		}
	}
	adds := []string{"1"}
	if s.additive > 0 {
		adds = []string{"0", "1", "", "00"}
	}
	var cases []scriptCase
	for _, token := range []string{"token", "1", ""} {
		states := []lockState{{}, {true, token, left}, {true, token, 0}}
		for _, other := range []string{"other", "", "1", "01", token + "x", "Token"} {
			if other != token {
				states = append(states, lockState{true, other, left}, lockState{true, other, 0})
			}
		}
		for _, before := range states {
			for _, ttl := range ttls {
				for _, a := range adds {
					cases = append(cases, scriptCase{before, token, ttl, a})
				}
			}
		}
	}
	return cases
}

func unitMillis(unit time.Duration) int64 { return int64(unit / time.Millisecond) }

// expect is what the shape says of a call: the reply and what is there after.
// A reply without kind is an error, of whatever text.
func (s shape) expect(c scriptCase) (Reply, lockState) {
	switch {
	case !c.before.exists:
		return s.absent, c.before
	case c.before.value != c.token, s.needsTTL && c.before.ttl == 0:
		return s.other, c.before
	case s.class == quorum.Release:
		return s.yes, lockState{}
	}
	after := c.before
	switch {
	case s.orPersist && c.ttl <= 0:
		after.ttl = 0
		return s.yes, after
	case s.bySet && c.ttl <= 0:
		return Reply{}, c.before
	}
	ttl := time.Duration(c.ttl) * s.unit
	if s.absolute {
		ttl = time.Until(time.UnixMilli(c.ttl * unitMillis(s.unit)))
	}
	if s.additive > 0 && c.adds == "0" {
		ttl += c.before.ttl
	}
	if s.greater && (c.before.ttl == 0 || ttl <= c.before.ttl) {
		return s.yes, c.before
	}
	if ttl <= 0 {
		return s.yes, lockState{}
	}
	after.ttl = ttl
	return s.yes, after
}

// check carries out one call on the server and tells how it differs from what
// the shape says, "" if it does not.
func (s *luaServer) check(t testing.TB, text string, sh shape, c scriptCase) string {
	t.Helper()
	s.do(t, "FLUSHALL")
	keys := make([]string, sh.key+1) // one more than the script should look at
	for i := range keys {
		keys[i] = "key:" + strconv.Itoa(i+1)
		if i != sh.key-1 {
			s.do(t, "SET", keys[i], c.token)
		} else if c.before.exists && c.before.ttl == 0 {
			s.do(t, "SET", keys[i], c.before.value)
		} else if c.before.exists {
			s.do(t, "SET", keys[i], c.before.value, "PX", strconv.FormatInt(c.before.ttl.Milliseconds(), 10))
		}
	}
	argv := make([]string, max(sh.token, sh.ttl, sh.additive)+1)
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
	reply := s.do(t, slices.Concat([]string{"EVAL", text, strconv.Itoa(len(keys))}, keys, argv)...)
	wantReply, want := sh.expect(c)
	// With GT a 0 says that nothing needed to be done, which is a yes to us.
	tolerated := sh.greater && want == c.before && wantReply.Kind == IntegerReply && reply.Kind == IntegerReply && reply.Int == 0
	if wantReply.Kind == 0 {
		tolerated = reply.Kind == ErrorReply
	}
	if !tolerated && fmt.Sprint(reply) != fmt.Sprint(wantReply) {
		return fmt.Sprintf("answered %+v, want %+v", reply, wantReply)
	}
	for i, key := range keys {
		expected := lockState{true, c.token, 0}
		if i == sh.key-1 {
			expected = want
		}
		if got := s.state(t, key); !got.like(expected) {
			return fmt.Sprintf("left %s as %+v, want %+v", key, got, expected)
		}
	}
	n := int64(len(keys))
	if !want.exists {
		n--
	}
	if size := s.do(t, "DBSIZE"); size.Int != n {
		return fmt.Sprintf("left %d keys, want %d", size.Int, n)
	}
	return ""
}

func (s *luaServer) state(t testing.TB, key string) lockState {
	t.Helper()
	value := s.do(t, "GET", key)
	if value.Kind != BulkReply {
		return lockState{}
	}
	return lockState{true, value.Str, max(0, time.Duration(s.do(t, "PTTL", key).Int)*time.Millisecond)}
}

// like allows for the time that a check takes, and for clocks in seconds.
func (s lockState) like(o lockState) bool {
	return s.exists == o.exists && s.value == o.value && (s.ttl == 0) == (o.ttl == 0) &&
		(s.ttl-o.ttl).Abs() < 3*time.Second
}

// checkAll runs a script in every case and tells the first difference.
func (s *luaServer) checkAll(t testing.TB, text string, sh shape) string {
	t.Helper()
	for _, c := range scriptCases(sh) {
		if difference := s.check(t, text, sh, c); difference != "" {
			return fmt.Sprintf("%+v: %s", c, difference)
		}
	}
	return ""
}

func TestRecognisedScriptsDoWhatTheirShapeSays(t *testing.T) {
	server := newLuaServer(t)
	for _, s := range lockScripts(t) {
		if !s.known {
			continue
		}
		t.Run(s.name, func(t *testing.T) {
			sh, ok := recognise(s.text)
			if !ok {
				t.Fatal("not recognised")
			}
			if difference := server.checkAll(t, s.text, sh); difference != "" {
				t.Error(difference)
			}
		})
	}
}

// TestTheCheckFindsWrongShapes: a check that finds nothing proves nothing.
func TestTheCheckFindsWrongShapes(t *testing.T) {
	server := newLuaServer(t)
	const extend = "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('pexpire', KEYS[1], ARGV[2]) end return 0"
	right, ok := recognise(extend)
	if !ok || server.checkAll(t, extend, right) != "" {
		t.Fatal("the right shape is not right")
	}
	for name, wrong := range map[string]func(*shape){
		"class": func(s *shape) {
			*s = shape{class: quorum.Release, key: 1, token: 1, yes: s.yes, other: s.other, absent: s.absent}
		},
		"key":       func(s *shape) { s.key = 2 },
		"token":     func(s *shape) { s.token = 3 },
		"unit":      func(s *shape) { s.unit = time.Second },
		"absolute":  func(s *shape) { s.absolute = true },
		"needsTTL":  func(s *shape) { s.needsTTL = true },
		"orPersist": func(s *shape) { s.orPersist = true },
		"greater":   func(s *shape) { s.greater = true },
		"bySet":     func(s *shape) { s.bySet = true },
		"additive":  func(s *shape) { s.additive = 3 },
		"yes":       func(s *shape) { s.yes = OK },
		"other":     func(s *shape) { s.other = Null },
		"absent":    func(s *shape) { s.absent = Integer(-1) },
	} {
		sh := right
		wrong(&sh)
		if server.checkAll(t, extend, sh) == "" {
			t.Errorf("a wrong %s is not found", name)
		}
	}
}
