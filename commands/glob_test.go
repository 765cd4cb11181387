package commands

import (
	"slices"
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
		if got := NewGlob(test.pattern).Match(test.s); got != test.want {
			t.Errorf("%q matches %q: %t", test.pattern, test.s, got)
		}
	}
}

// What is matched in all ways at once is the same as what is matched byte by byte.
func TestGlobMatchesAlikeInBothWays(t *testing.T) {
	r := seeded(t)
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
		g := NewGlob(pattern)
		want := matchSimply(pattern, string(s))
		if a := g.compile(); int(unsafe.Sizeof(*g)+unsafe.Sizeof(*a))+8*(len(a.accepts)+len(a.stars)) > globSize(pattern) {
			t.Fatalf("%q takes %d words, and was to take %d bytes", pattern, len(a.accepts), globSize(pattern))
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

func TestMastersMatchOnlyWhatCostsThemLittle(t *testing.T) {
	for pattern, want := range map[string]bool{
		"*": true, "lock:*": true, "lock": true, "l?ck:[ab]*": true, "": true,
		"*:a": false, "**": false, "a*b*": false, `\*a`: false, strings.Repeat("a", 1025): false,
	} {
		argv := keyFilter{pattern: pattern, count: 1}.argv(0)
		if got := pattern == "*" || slices.Contains(argv, pattern); got != want {
			t.Errorf("%.30q: masters are asked %.60q", pattern, argv)
		}
	}
}

func TestLongPatternsAreRefused(t *testing.T) {
	h := newHouse(Options{AllowDangerous: true})
	client, _ := h.dial(1)
	g := client.(*guest)
	for _, command := range []string{"SCAN 0 MATCH %s", "KEYS %s", "CONFIG GET %s", "COMMAND LIST FILTERBY PATTERN %s", "PUBSUB CHANNELS %s", "PSUBSCRIBE %s"} {
		for n, refused := range map[int]bool{1024: false, 1025: true} {
			a := g.session.Do(strings.Fields(strings.ReplaceAll(command, "%s", strings.Repeat("a", n))))
			if got := a.Reply.Kind == ErrorReply; got != refused {
				t.Errorf("%s of %d bytes: %.100q", command, n, a.Reply.Str)
			}
		}
	}
}

// A pattern of many stars would take a matcher that goes back to each of them
// longer than anybody waits.
func TestGlobEndsSoon(t *testing.T) {
	if NewGlob(strings.Repeat("a*", 1000) + "b").Match(strings.Repeat("a", 10000)) {
		t.Error("a matches b")
	}
	if NewGlob("*" + strings.Repeat("a?", 500) + "b").Match(strings.Repeat("a", 1<<20)) {
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
		g := NewGlob(pattern)
		if matched := g.Match(name); matched != want || (g.atOnce.Load() != nil) != want {
			t.Errorf("%.20q… is compiled: %t, and matches: %t", pattern, g.atOnce.Load() != nil, matched)
		}
	}
}

func TestPatternIsCompiledOnceForAllWhoMatch(t *testing.T) {
	g := NewGlob("*" + strings.Repeat("?b", 100))
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

// Whoever asks for many settings by long patterns has each of them read once, and none compiled
// for every setting.
func TestConfigGetReadsEachPatternOnce(t *testing.T) {
	settings := make(map[string]string)
	for i := range 100 {
		settings[strings.Repeat("z", 20)+strings.Repeat("y", i)] = "1"
	}
	s := NewDialect(Options{Settings: func() map[string]string { return settings }}).Session(1)
	args := []string{"CONFIG", "GET"}
	for range 100 {
		args = append(args, strings.Repeat("*z?", 50)+"x")
	}
	if n := testing.AllocsPerRun(3, func() { s.Do(slices.Clone(args)) }); n > 2000 {
		t.Errorf("%v allocations for 100 patterns and 100 settings", n)
	}
}
