package glob

import (
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"unsafe"
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
		if got := New(test.pattern).Match(test.s); got != test.want {
			t.Errorf("%q matches %q: %t", test.pattern, test.s, got)
		}
	}
}

// What is matched in all ways at once is the same as what is matched byte by byte.
func TestGlobMatchesAlikeInBothWays(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	pieces := []string{"*", "*", "?", "a", "b", "c", "[ab]", "[^a]", "[a-b]", `\a`, `\*`, "[", "^", "]", "-", `\`, "\xff", "[\xf0-\xff]"}
	matched := 0
	for range 20_000 {
		pattern := []string{"*", ""}[r.IntN(2)]
		for range r.IntN(12) {
			pattern += pieces[r.IntN(len(pieces))]
		}
		if r.IntN(8) == 0 { // beyond a word of 64 bits
			pattern = strings.Repeat(pattern, 1+r.IntN(20))
		}
		s := make([]byte, r.IntN(20))
		for i := range s {
			s[i] = "aaabc*\xff"[r.IntN(7)]
		}
		g := New(pattern)
		want := matchSimply(pattern, string(s))
		if a := g.compile(); int(unsafe.Sizeof(*g)+unsafe.Sizeof(*a))+8*(len(a.accepts)+len(a.stars)) > Size(pattern) {
			t.Fatalf("%q takes %d words, and was to take %d bytes", pattern, len(a.accepts), Size(pattern))
		}
		if got := g.compile().match(string(s), g.least); got != want {
			t.Fatalf("%q matches %q: %t at once, and %t byte by byte", pattern, s, got, want)
		}
		if got := g.Match(string(s)); got != want {
			t.Fatalf("%q matches %q: %t, and %t byte by byte", pattern, s, got, want)
		}
		if want {
			matched++
		}
	}
	if matched < 100 {
		t.Errorf("only %d have matched", matched)
	}
}

// A pattern of many stars would take a matcher that goes back to each of them
// longer than anybody waits.
func TestGlobEndsSoon(t *testing.T) {
	if New(strings.Repeat("a*", 1000) + "b").Match(strings.Repeat("a", 10000)) {
		t.Error("a matches b")
	}
	if New("*" + strings.Repeat("a?", 500) + "b").Match(strings.Repeat("a", 1<<20)) {
		t.Error("a matches b")
	}
}

// A pattern that no name is long enough for costs nothing but to be read.
func TestPatternThatIsLongerThanANameIsNotCompiled(t *testing.T) {
	name := strings.Repeat("z", 300)
	for pattern, want := range map[string]bool{
		"*" + strings.Repeat("z?", 500):           false,
		strings.Repeat(`\z[ab]`, 151):             false,
		strings.Repeat("*z", 301):                 false,
		strings.Repeat("*z", 300):                 true,
		"*" + strings.Repeat("[a-z]", 200) + "**": true,
	} {
		g := New(pattern)
		if matched := g.Match(name); matched != want || (g.atOnce.Load() != nil) != want {
			t.Errorf("%.20q… is compiled: %t, and matches: %t", pattern, g.atOnce.Load() != nil, matched)
		}
	}
}

func TestPatternIsCompiledOnceForAllWhoMatch(t *testing.T) {
	g := New("*" + strings.Repeat("?b", 100))
	g.Match(strings.Repeat("ab", 100))
	first := g.atOnce.Load()
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for n := range 200 {
				if got := g.Match(strings.Repeat("ab", n)); got != (n >= 100) {
					t.Errorf("%d times: %t", n, got)
				}
			}
		})
	}
	all.Wait()
	if g.atOnce.Load() != first || first == nil {
		t.Error("it is compiled anew")
	}
}
