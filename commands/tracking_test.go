package commands

import (
	"fmt"
	"strings"
	"testing"
)

// What is read is tracked, by scripts and in transactions, as the client's options and CLIENT CACHING say; what writes is not.
func TestKeysThatAreReadAreTracked(t *testing.T) {
	for _, test := range []struct{ options, before, command, want string }{
		{"", "", "GET k", "[k]"},
		{"", "", "MGET a b", "[a b]"},
		{"", "", "HGETALL h", "[h]"},
		{"", "", "TTL k", "[k]"},
		{"", "", "SET k v", "[]"},
		{"", "", "INCR k", "[]"},
		{"", "", "SCAN 0", "[]"},
		{"", "", "EVAL script 2 a b c", "[a b]"},
		{"OPTIN", "", "GET k", "[]"},
		{"OPTIN", "CLIENT CACHING YES", "GET k", "[k]"},
		{"OPTIN", "CLIENT CACHING YES|PING", "GET k", "[]"},
		{"OPTIN", "CLIENT CACHING YES|CLIENT ID", "GET k", "[k]"},
		{"OPTIN", "CLIENT CACHING YES|MULTI|GET k|SET w v|TTL t", "EXEC", "[k t]"},
		{"OPTIN", "CLIENT CACHING YES|MULTI|GET k|EXEC", "GET k", "[]"},
		{"OPTOUT", "", "GET k", "[k]"},
		{"OPTOUT", "CLIENT CACHING NO", "GET k", "[]"},
		{"OPTOUT", "CLIENT CACHING NO|GET k", "GET k", "[k]"},
		{"BCAST PREFIX a PREFIX b", "", "MGET a1 c b", "[a1 b]"},
		{"BCAST", "", "MGET a1 c b", "[a1 c b]"},
		{"", "CLIENT TRACKING OFF", "GET k", "[]"},
		{"OPTIN", "CLIENT CACHING YES|RESET", "GET k", "[]"},
	} {
		s := NewDialect(Options{}).Session(1)
		a := s.Do(strings.Fields("CLIENT TRACKING ON " + test.options))
		if r := s.Tracks(a.Effect.(TrackingEffect), nil); r.Kind != SimpleReply {
			t.Fatal(r)
		}
		for line := range strings.SplitSeq(test.before, "|") {
			s.Do(strings.Fields(line))
		}
		words := strings.Fields(test.command)
		if words[0] == "EVAL" {
			words[1] = "return redis.call('get', KEYS[1])"
		}
		if got := fmt.Sprint(s.Do(words).Tracks); got != test.want {
			t.Errorf("%q, %q, %q: tracks %s, want %s", test.options, test.before, test.command, got, test.want)
		}
	}
}

// What a client is told of prefixes is what Redis tells: up to a zero byte, and in their order.
func TestPrefixesAreToldAsByRedis(t *testing.T) {
	s := NewDialect(Options{}).Session(1)
	on := []string{"CLIENT", "TRACKING", "ON", "BCAST"}
	want := "ERR Prefix 'a' overlaps with another provided prefix 'a'. Prefixes for a single client must not overlap."
	if a := s.Do(append(on, "PREFIX", "a\x00b", "PREFIX", "a\x00bc")); a.Reply.Str != want {
		t.Errorf("two that overlap: %q", a.Reply.Str)
	}
	a := s.Do(append(on, "PREFIX", "c", "PREFIX", "a", "PREFIX", "b"))
	s.Tracks(a.Effect.(TrackingEffect), nil)
	told := s.Do([]string{"CLIENT", "TRACKINGINFO"}).Reply.Elems
	prefixes := told[len(told)-1].Elems
	if len(prefixes) != 3 || prefixes[0].Str != "a" || prefixes[1].Str != "b" || prefixes[2].Str != "c" {
		t.Errorf("they are told as %v", prefixes)
	}
}
