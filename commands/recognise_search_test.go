package commands

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// The tests here look for a script that recognise has wrong, among scripts that
// nobody wrote. -script-server gives them a real Redis instead of miniredis.
var (
	searchSize = flag.Int("script-search", 30_000, "how many scripts each search for a wrongly recognised one makes")
	searchSeed = flag.Uint64("script-seed", 1, "what the searches begin with")
)

// searchScripts makes scripts and carries out those that are recognised, in some of
// their cases. At least wanted of them must be recognised, or the search says
// little.
func searchScripts(t *testing.T, wanted int, next func(*rand.Rand) string) {
	server := newLuaServer(t)
	random := rand.New(rand.NewPCG(*searchSeed, 0))
	seen := map[string]bool{}
	kinds := map[string]int{}
	for range *searchSize {
		text := next(random)
		if seen[text] {
			continue
		}
		seen[text] = true
		sh, ok := recognise(text)
		if !ok {
			continue
		}
		kinds[fmt.Sprintf("%+v", sh)]++
		wanted--
		cases := scriptCases(sh)
		random.Shuffle(len(cases), func(i, j int) { cases[i], cases[j] = cases[j], cases[i] })
		for _, c := range cases[:min(len(cases), 12)] {
			if difference := server.check(t, text, sh, c); difference != "" {
				t.Fatalf("with -script-seed=%d: %+v: %s\n%+v\n%s", *searchSeed, c, difference, sh, text)
			}
		}
	}
	if wanted > 0 {
		t.Errorf("%d recognised scripts too few", wanted)
	}
	t.Logf("%d shapes", len(kinds))
}

// TestNoMutantIsRecognisedWrongly changes the lock scripts and the traps a
// little, token by token.
func TestNoMutantIsRecognisedWrongly(t *testing.T) {
	var scripts [][]luaToken
	var pool []luaToken
	for _, s := range lockScripts(t) {
		if tokens, ok := luaTokens(s.text); ok {
			tokens = tokens[:len(tokens)-1]
			scripts = append(scripts, tokens)
			pool = append(pool, tokens...)
		}
	}
	searchScripts(t, 40, func(random *rand.Rand) string {
		tokens := append([]luaToken(nil), scripts[random.IntN(len(scripts))]...)
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

func mutateScript(random *rand.Rand, tokens, donor []luaToken) []luaToken {
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
			if t := tokens[random.IntN(len(tokens))]; t.kind == tail[0].kind && t.text != tail[0].text {
				return append(append(head, t), tail[1:]...)
			}
		}
	}
	// with a token that turns the meaning
	turned := map[string]string{"==": "~=", "~=": "==", "and": "or", "or": "and", "<": ">", "<=": "<", "1": "2", "2": "1", "0": "1",
		"KEYS": "ARGV", "true": "false", "false": "nil", "del": "pexpire", "pexpire": "expire", "get": "exists", "pttl": "ttl"}
	for j := range tail {
		if text, ok := turned[tail[j].text]; ok {
			return append(append(append(head, tail[:j]...), luaToken{tail[j].kind, text}), tail[j+1:]...)
		}
	}
	return tokens
}

func spellScript(tokens []luaToken) string {
	var b strings.Builder
	for _, t := range tokens {
		b.WriteByte(' ')
		if t.kind != luaString {
			b.WriteString(t.text)
			continue
		}
		b.WriteByte('"')
		for i := range len(t.text) {
			fmt.Fprintf(&b, `\%03d`, t.text[i])
		}
		b.WriteByte('"')
	}
	return b.String()
}

// TestNoInventedScriptIsRecognisedWrongly writes scripts at random out of what
// lock scripts are made of.
func TestNoInventedScriptIsRecognisedWrongly(t *testing.T) {
	searchScripts(t, 40, func(random *rand.Rand) string {
		w := scriptWriter{random: random}
		w.block(0)
		return w.text.String()
	})
}

// scriptWriter writes a script that Lua compiles. Its locals are a, b and c.
type scriptWriter struct {
	random *rand.Rand
	text   strings.Builder
}

func (w *scriptWriter) pick(of ...string) string { return of[w.random.IntN(len(of))] }

func (w *scriptWriter) block(depth int) {
	if depth == 0 {
		w.text.WriteString("local a, b, c = redis.call('get', KEYS[1]), 0, ARGV[2] ")
	}
	for range w.random.IntN(3) {
		switch w.random.IntN(5) {
		case 0:
			w.text.WriteString(w.pick("a", "b", "c", "local a", "local b") + " = " + w.expr(1) + " ")
		case 1:
			w.text.WriteString(w.command() + " ")
		default:
			w.branch(depth)
		}
	}
	if w.random.IntN(4) > 0 {
		w.text.WriteString("return " + w.expr(1) + " ")
	}
}

func (w *scriptWriter) branch(depth int) {
	if depth > 2 {
		return
	}
	w.text.WriteString("if " + w.cond(0) + " then ")
	w.block(depth + 1)
	for w.random.IntN(4) == 0 {
		w.text.WriteString("elseif " + w.cond(0) + " then ")
		w.block(depth + 1)
	}
	if w.random.IntN(2) == 0 {
		w.text.WriteString("else ")
		w.block(depth + 1)
	}
	w.text.WriteString("end ")
}

func (w *scriptWriter) cond(depth int) string {
	if depth < 2 && w.random.IntN(4) == 0 {
		return w.pick("not ", "") + "(" + w.cond(depth+1) + ")" + w.pick(" and ", " or ", " == ") + w.cond(depth+1)
	}
	return w.pick("a == ARGV[1]", "a == ARGV[1]", "a ~= ARGV[1]", "redis.call('GET', KEYS[1]) == ARGV[1]", "not a", "a == false",
		"a", "a == nil", "redis.call('exists', KEYS[1]) == 1", "redis.call('pttl', KEYS[1]) < 0", "redis.call('ttl', KEYS[1]) >= 0",
		"redis.call('pttl', KEYS[1]) == -1", "ARGV[3] == '0'", "tonumber(ARGV[2]) > 0", "b == 1", "b ~= c", "a == b", w.expr(1))
}

func (w *scriptWriter) command() string {
	return "redis." + w.pick("call", "call", "pcall") + "(" + w.pick("'del', KEYS[1]", "'unlink', KEYS[1]", "'pexpire', KEYS[1], ARGV[2]",
		"'expire', KEYS[1], ARGV[2]", "'pexpire', KEYS[1], c", "'pexpire', KEYS[1], ARGV[2] + redis.call('pttl', KEYS[1])",
		"'set', KEYS[1], ARGV[1], 'PX', ARGV[2]", "'set', KEYS[1], a, 'XX', 'EX', ARGV[2]", "'get', KEYS[1]", "'pexpireat', KEYS[1], ARGV[2]",
		"'pexpire', KEYS[1], ARGV[2], 'GT'", "'persist', KEYS[1]", "'pttl', KEYS[1]", "'del', KEYS[2]") + ")"
}

func (w *scriptWriter) expr(depth int) string {
	if depth < 3 && w.random.IntN(5) == 0 {
		return "(" + w.expr(depth+1) + w.pick(" and ", " or ", " == ", " + ", " < ") + w.expr(depth+1) + ")"
	}
	if w.random.IntN(3) == 0 {
		return w.command()
	}
	return w.pick("0", "1", "-1", "nil", "true", "false", "'OK'", "b", "c", "ARGV[2]", "a == ARGV[1]", "tonumber(ARGV[2])",
		"tostring(a == ARGV[1])", "{ok = 'OK'}", "redis.error_reply('NO LOCK')", "not b")
}

// FuzzRecognise looks for texts that take recognise down, or in.
func FuzzRecognise(f *testing.F) {
	for _, s := range lockScripts(f) {
		f.Add(s.text)
	}
	server := newLuaServer(f)
	f.Fuzz(func(t *testing.T, text string) {
		sh, ok := recognise(text)
		if !ok {
			return
		}
		if sh.key > 20 || max(sh.token, sh.ttl, sh.additive) > 20 {
			return // Not more keys and arguments than the check cares to make.
		}
		for i, c := range scriptCases(sh) {
			if i%7 != 0 {
				continue
			}
			if difference := server.check(t, text, sh, c); difference != "" {
				t.Errorf("%+v: %s\n%+v", c, difference, sh)
			}
		}
	})
}
