package recognise

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"redlock-proxy/commands/lua"
)

// The tests here look for a script that is recognised wrongly, among scripts that
// nobody wrote. A real Redis says what they do.
var (
	searchSize = flag.Int("script-search", 30_000, "how many scripts each search for a wrongly recognised one makes")
	searchSeed = flag.Uint64("script-seed", 1, "what the searches begin with")
)

// searchScripts makes scripts and carries out those that are recognised, in some of
// their cases. At least wanted of them must be recognised, or the search says
// little.
func searchScripts(t *testing.T, wanted int, next func(*rand.Rand) string) {
	server := newRedisServer(t)
	random := rand.New(rand.NewPCG(*searchSeed, 0))
	seen := map[string]bool{}
	kinds := map[string]int{}
	for range *searchSize {
		text := next(random)
		if seen[text] {
			continue
		}
		sh, ok := Script(text)
		if !ok {
			continue
		}
		seen[text] = true
		kinds[fmt.Sprintf("%+v", sh)]++
		cases := scriptCases(sh)
		random.Shuffle(len(cases), func(i, j int) { cases[i], cases[j] = cases[j], cases[i] })
		if difference := server.check(t, text, sh, cases[:min(len(cases), 30)]); difference != "" {
			t.Fatalf("%s\n%+v\n%s\nagain: go test ./commands/recognise -run '^%s$' -script-seed %d -script-search %d",
				difference, sh, text, t.Name(), *searchSeed, *searchSize)
		}
		if len(seen)%1000 == 0 {
			server.ask("SCRIPT", "FLUSH") // it keeps every script that it was ever sent
			server.replies(t)
		}
	}
	if len(seen) < wanted {
		t.Errorf("%d recognised scripts, want at least %d", len(seen), wanted)
	}
	t.Logf("%d recognised scripts, %d shapes", len(seen), len(kinds))
}

// TestNoMutantIsRecognisedWrongly changes the lock scripts and the traps a
// little, token by token.
func TestNoMutantIsRecognisedWrongly(t *testing.T) {
	var scripts [][]lua.Token
	var pool []lua.Token
	for _, s := range lockScripts(t) {
		if tokens, ok := tokensOf(s.text); ok {
			tokens = tokens[:len(tokens)-1]
			scripts = append(scripts, tokens)
			pool = append(pool, tokens...)
		}
	}
	searchScripts(t, 40, func(random *rand.Rand) string {
		tokens := append([]lua.Token(nil), scripts[random.IntN(len(scripts))]...)
		for range 1 + random.IntN(2)*random.IntN(3) {
			donor := pool
			if random.IntN(2) == 0 {
				donor = scripts[random.IntN(len(scripts))]
			}
			tokens = mutateScript(random, tokens, donor)
		}
		return spellScript(tokens)
	})
}

func mutateScript(random *rand.Rand, tokens, donor []lua.Token) []lua.Token {
	if len(tokens) == 0 || len(donor) == 0 {
		return tokens
	}
	i := random.IntN(len(tokens))
	n := 1 + random.IntN(min(4, len(tokens)-i))
	from := random.IntN(len(donor))
	length := 1 + random.IntN(min(4, len(donor)-from))
	head, tail := tokens[:i:i], tokens[i:]
	switch random.IntN(10) {
	case 0: // without some
		return append(head, tail[n:]...)
	case 1: // with some twice
		return append(append(head, tail[:n]...), tail...)
	case 2: // with one of another script's
		return append(append(head, donor[from]), tail[1:]...)
	case 3: // with some of another script's
		return append(append(head, donor[from:from+length]...), tail...)
	case 4: // with one that is its like elsewhere in the script
		for range 50 {
			if t := tokens[random.IntN(len(tokens))]; t.Kind == tail[0].Kind && t.Text != tail[0].Text {
				return append(append(head, t), tail[1:]...)
			}
		}
	}
	// with a token that turns the meaning
	turned := map[string]string{"==": "~=", "~=": "==", "and": "or", "or": "and", "<": ">", "<=": "<", "1": "2", "2": "1", "0": "1",
		"KEYS": "ARGV", "true": "false", "false": "nil", "del": "pexpire", "pexpire": "expire", "get": "exists", "pttl": "ttl"}
	for j := range tail {
		if text, ok := turned[tail[j].Text]; ok {
			return append(append(append(head, tail[:j]...), lua.Token{Kind: tail[j].Kind, Text: text}), tail[j+1:]...)
		}
	}
	return tokens
}

func spellScript(tokens []lua.Token) string {
	var b strings.Builder
	for _, t := range tokens {
		b.WriteByte(' ')
		if t.Kind != lua.String {
			b.WriteString(t.Text)
			continue
		}
		b.WriteByte('"')
		for i := range len(t.Text) {
			fmt.Fprintf(&b, `\%03d`, t.Text[i])
		}
		b.WriteByte('"')
	}
	return b.String()
}

// FuzzRecognise looks for texts that take Script down, or in.
func FuzzRecognise(f *testing.F) {
	for _, s := range lockScripts(f) {
		f.Add(s.text)
	}
	server := newRedisServer(f)
	f.Fuzz(func(t *testing.T, text string) {
		sh, ok := Script(text)
		if !ok {
			return
		}
		if max(sh.Keys, sh.Args) > 20 {
			return // Not more keys and arguments than the check cares to make.
		}
		if difference := server.check(t, text, sh, scriptCases(sh)); difference != "" {
			t.Errorf("%s\n%+v", difference, sh)
		}
	})
}
