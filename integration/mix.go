package integration

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
)

// Mixer makes Lua scripts of the statements of others: it puts them behind and into each
// other, repeats them, and has other numbers, strings and functions in them. What it makes is
// mostly Lua.
type Mixer struct {
	*rand.Rand
	scripts [][][]string // of each, the words of its statements
}

// NewMixer mixes from texts. Of one seed come the same scripts.
func NewMixer(seed uint64, texts []string) *Mixer {
	m := &Mixer{Rand: rand.New(rand.NewPCG(seed, 0))}
	for _, text := range texts {
		if list := luaStatements(luaWords(text)); len(list) > 0 {
			m.scripts = append(m.scripts, list)
		}
	}
	return m
}

// Script is one more.
func (m *Mixer) Script() string {
	var list [][]string
	for range 1 + m.IntN(3) {
		from := m.scripts[m.IntN(len(m.scripts))]
		if m.IntN(3) == 0 {
			at := m.IntN(len(from))
			from = from[at : at+1+m.IntN(len(from)-at)]
		}
		list = append(list, from...)
	}
	var b strings.Builder
	for i, statement := range list {
		statement = slices.Clone(statement)
		for range m.IntN(3) {
			m.change(statement)
		}
		last := i == len(list)-1
		if statement[0] == "return" && !last {
			statement = append([]string{"local", "r", "="}, statement[1:]...)
			if len(statement) == 3 {
				continue
			}
		}
		text := strings.Join(statement, " ")
		if statement[0] != "local" && statement[0] != "return" {
			text = m.wrapped(text)
		}
		b.WriteString(text + " ")
	}
	return b.String()
}

func (m *Mixer) pick(of ...string) string { return of[m.IntN(len(of))] }

// wrapped puts a statement into others, or beside itself.
func (m *Mixer) wrapped(text string) string {
	switch m.IntN(16) {
	case 0:
		return "while true do " + text + " end"
	case 1:
		return fmt.Sprintf("for i = 1, %s do %s end", m.pick("3", "100", "5000", "1e9"), text)
	case 2:
		return "pcall(function() " + text + " end)"
	case 3:
		return "do local function f(...) " + text + " end f(1, 2) f('x') end"
	case 4:
		return "for k, x in pairs(" + m.pick("t", "KEYS", "{1, 2, a = 3}") + ") do " + text + " end"
	case 5:
		return "repeat " + text + " until " + m.pick("t", "s", "nil", "true")
	case 6, 7, 8:
		return strings.Repeat(text+" ", 2+m.IntN(12))
	case 9:
		return "while true do " + strings.Repeat(text+" ", 1+m.IntN(12)) + "end"
	}
	return text
}

// change gives one word of a statement for another of its kind.
func (m *Mixer) change(words []string) {
	at := m.IntN(len(words))
	switch w := words[at]; {
	case '0' <= w[0] && w[0] <= '9':
		words[at] = m.pick("0", "1", "-1", "2", "7", "64", "255", "990", "4000", "65536", "1e6", "2^31", "2^32", "2^53", "1e300", "1e-308", "0/0", "1/0", "0.1", "nil", "'1'", "{}")
	case w[0] == '\'' || w[0] == '"':
		words[at] = m.pick("''", "'x'", "'\\0'", "'%s'", "'.-'", "'%b()'", "'^(.*)$'", "('x'):rep(1000)", "('ab'):rep(30000)", "KEYS[1]", "ARGV[1]", "'GET'", "'SET'", "'HSET'", "'DEL'", "'PEXPIRE'", "'[[1]]'", "1", "{}")
	case slices.Contains([]string{"string", "table", "math", "cjson", "cmsgpack", "struct", "bit", "redis"}, w) && at+2 < len(words) && words[at+1] == ".":
		words[at], words[at+2] = "string", m.pick("rep", "sub", "format", "find", "gsub", "match", "byte", "char", "reverse", "len", "upper", "gmatch")
		if m.IntN(2) == 0 {
			words[at], words[at+2] = "table", m.pick("insert", "remove", "concat", "sort", "maxn", "getn", "foreach", "foreachi")
		}
		if m.IntN(3) == 0 {
			words[at], words[at+2] = m.pick("cjson", "cmsgpack", "struct"), m.pick("encode", "decode", "pack", "unpack", "size")
		}
	case slices.Contains([]string{"+", "-", "*", "/", "..", "^", "%", "and", "or", "==", "<"}, w):
		words[at] = m.pick("+", "-", "*", "..", "^", "%", "and", "or", "==", "<")
	case slices.Contains([]string{"t", "s", "x", "f", "n", "i", "k", "v"}, w):
		words[at] = m.pick("t", "s", "x", "f", "n", "i", "k", "v", "KEYS", "ARGV")
	}
}

// luaWords are those of a text, without comments.
func luaWords(text string) []string {
	var words []string
	for {
		text = strings.TrimLeft(text, " \t\r\n")
		if text == "" {
			return words
		}
		n := wordLength(text)
		if !strings.HasPrefix(text, "--") {
			words = append(words, text[:n])
		}
		text = text[n:]
	}
}

// wordLength is how long the word, string or comment is that a text begins with.
func wordLength(text string) int {
	letter := func(c byte) bool {
		return c == '_' || 'a' <= c|0x20 && c|0x20 <= 'z' || '0' <= c && c <= '9'
	}
	long := strings.TrimPrefix(text, "--")
	if end := strings.TrimLeft(strings.TrimPrefix(long, "["), "="); strings.HasPrefix(long, "[") && strings.HasPrefix(end, "[") {
		closing := "]" + strings.Repeat("=", len(long)-len(end)-1) + "]"
		if at := strings.Index(end, closing); at >= 0 {
			return len(text) - len(end) + at + len(closing)
		}
		return len(text)
	}
	switch c := text[0]; {
	case strings.HasPrefix(text, "--"):
		return min(strings.IndexByte(text+"\n", '\n'), len(text))
	case c == '\'' || c == '"':
		for i := 1; i < len(text); i++ {
			if text[i] == '\\' {
				i++
			} else if text[i] == c {
				return i + 1
			}
		}
		return len(text)
	case letter(c):
		n := 1
		for n < len(text) && (letter(text[n]) || '0' <= c && c <= '9' && text[n] == '.') {
			n++
		}
		return n
	}
	for _, symbol := range []string{"...", "..", "==", "~=", "<=", ">="} {
		if strings.HasPrefix(text, symbol) {
			return len(symbol)
		}
	}
	return 1
}

// luaStatements parts words where, outside of all blocks, a statement begins.
func luaStatements(words []string) [][]string {
	var list [][]string
	blocks, brackets, heads, start := 0, 0, 0, 0
	for i, w := range words {
		if outside := blocks == 0 && brackets == 0; i > start && outside && (w == ";" || begins(words[i-1], w)) {
			list = append(list, words[start:i])
			start = i
		}
		if w == ";" && start == i {
			start++
		}
		switch w {
		case "for", "while":
			blocks, heads = blocks+1, heads+1
		case "do":
			if heads > 0 {
				heads--
			} else {
				blocks++
			}
		case "if", "function", "repeat":
			blocks++
		case "end", "until":
			blocks--
		case "(", "[", "{":
			brackets++
		case ")", "]", "}":
			brackets--
		}
	}
	if start < len(words) {
		list = append(list, words[start:])
	}
	return list
}

// begins tells whether a word begins a statement behind another, as far as these two show it.
func begins(behind, w string) bool {
	ended := slices.Contains([]string{")", "]", "}", "end", "nil", "true", "false", "...", "break"}, behind) ||
		isWord(behind) && !slices.Contains(luaKeywords, behind) || behind[0] == '\'' || behind[0] == '"'
	switch w {
	case "local", "if", "for", "while", "repeat", "return", "break", "do":
		return true
	case "function":
		return ended
	}
	return ended && isWord(w) && !slices.Contains(luaKeywords, w) && (w[0] < '0' || w[0] > '9')
}

func isWord(w string) bool {
	return wordLength(w) == len(w) && (w[0] == '_' || w[0] >= '0' && w[0] <= '9' || w[0]|0x20 >= 'a' && w[0]|0x20 <= 'z')
}

var luaKeywords = strings.Fields("and break do else elseif end false for function if in local nil not or repeat return then true until while")
