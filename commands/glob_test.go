package commands

import (
	"strings"
	"testing"
)

func TestGlobMatchesAsRedisDoes(t *testing.T) {
	for _, test := range []struct {
		pattern, s string
		want       bool
	}{
		{"", "", true}, {"", "a", false}, {"a", "", false}, {"*", "", true}, {"*", "abc", true},
		{"a*c", "abbbc", true}, {"a*c", "abbb", false}, {"*a*b*", "xxaxxbxx", true}, {"*ab", "aab", true},
		{"a?c", "abc", true}, {"a?c", "ac", false}, {"?", "", false},
		{"[abc]", "b", true}, {"[abc]", "d", false}, {"[^abc]", "d", true}, {"[^abc]", "a", false},
		{"[a-c]x", "bx", true}, {"[c-a]x", "bx", true}, {"[a-c]x", "dx", false}, {`[\]]`, "]", true},
		{"[abc", "c", true}, {"[", "a", false}, {`\*`, "*", true}, {`\*`, "a", false}, {`a\`, `a\`, true},
		{"maxmemory-*", "maxmemory-policy", true}, {"**", "a", true}, {"[a-]", "-", false}, {"[a-]", "]", true},
	} {
		if got := GlobMatch(test.pattern, test.s); got != test.want {
			t.Errorf("%q matches %q: %t", test.pattern, test.s, got)
		}
	}
}

// A pattern of many stars would take a matcher that goes back to each of them
// longer than anybody waits.
func TestGlobEndsSoon(t *testing.T) {
	if GlobMatch(strings.Repeat("a*", 1000)+"b", strings.Repeat("a", 10000)) {
		t.Error("a matches b")
	}
}
