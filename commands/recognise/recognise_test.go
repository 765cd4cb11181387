package recognise

import (
	"crypto/sha1"
	"encoding/hex"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"redlock-proxy/quorum"
)

// lockScript is a line of testdata/scripts/index.txt with its file.
type lockScript struct {
	name, text, sha string
	want            Shape
	known           bool
}

func lockScripts(t testing.TB) []lockScript {
	t.Helper()
	index, err := os.ReadFile("../testdata/scripts/index.txt")
	if err != nil {
		t.Fatal(err)
	}
	var scripts []lockScript
	for line := range strings.Lines(string(index)) {
		line = strings.TrimSuffix(line, "\n")
		if line == "" || line[0] == '#' {
			continue
		}
		columns := strings.Split(line, " | ")
		if len(columns) != 7 {
			t.Fatalf("%d columns: %s", len(columns), line)
		}
		text, err := os.ReadFile(filepath.Join("../testdata/scripts", columns[0]))
		if err != nil {
			t.Fatal(err)
		}
		s := lockScript{name: columns[0], text: string(text), sha: columns[1]}
		if s.known = columns[2] != "refused"; s.known {
			yes, other, absent := indexReply(t, columns[3]), indexReply(t, columns[4]), indexReply(t, columns[5])
			s.want = indexShape(t, columns[2])
			s.want.Yes, s.want.Other, s.want.Absent = yes, other, absent
			if s.want.Greater && s.want.Kept.Kind == 0 {
				s.want.Kept = yes
			}
		}
		scripts = append(scripts, s)
	}
	return scripts
}

// indexShape reads what a script comes to. It asks for no more KEYS and ARGV than it
// names unless that is said.
func indexShape(t testing.TB, column string) (s Shape) {
	defer func() { s.Keys, s.Args = max(s.Keys, s.Key), max(s.Args, s.Token, s.TTL, s.Additive) }()
	for _, word := range strings.Fields(column) {
		name, value, _ := strings.Cut(word, "=")
		n, _ := strconv.Atoi(value)
		switch name {
		case "release":
			s.Class = quorum.Release
		case "extend":
			s.Class = quorum.Extend
		case "acquire":
			s.Class = quorum.Acquire
		case "key":
			s.Key = n
		case "token":
			s.Token = n
		case "ttl":
			s.TTL = n
		case "additive":
			s.Additive = n
		case "ms":
			s.Unit = time.Millisecond
		case "s":
			s.Unit = time.Second
		case "absolute":
			s.Absolute = true
		case "needs-ttl":
			s.NeedsTTL = true
		case "or-persist":
			s.OrPersist = true
		case "greater":
			s.Greater = true
		case "kept":
			s.Kept = indexReply(t, value)
		case "keys":
			s.Keys = n
		case "args":
			s.Args = n
		case "by-set":
			s.BySet = true
		default:
			t.Fatalf("no part of a shape: %s", word)
		}
	}
	return s
}

func indexReply(t testing.TB, column string) quorum.Reply {
	rest := column[1:]
	switch column[0] {
	case ':':
		n, err := strconv.ParseInt(rest, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		return integer(n)
	case '$':
		return bulk(rest)
	case '+':
		return status(rest)
	case '-':
		return failure(rest)
	case '_':
		return null
	}
	t.Fatalf("no reply: %s", column)
	return quorum.Reply{}
}

func TestEveryScriptIsWhatItsLineSays(t *testing.T) {
	for _, s := range lockScripts(t) {
		t.Run(s.name, func(t *testing.T) {
			sum := sha1.Sum([]byte(s.text))
			if sha := hex.EncodeToString(sum[:]); sha != s.sha {
				t.Errorf("SHA-1 %s, want %s", sha, s.sha)
			}
			got, known := Script(s.text)
			if known != s.known {
				t.Fatalf("recognised: %v, want %v", known, s.known)
			}
			if got != s.want {
				t.Errorf("got  %+v\nwant %+v", got, s.want)
			}
		})
	}
}

func TestEveryScriptFileHasItsLine(t *testing.T) {
	files, err := filepath.Glob("../testdata/scripts/*.lua")
	if err != nil {
		t.Fatal(err)
	}
	if n := len(lockScripts(t)); n != len(files) {
		t.Errorf("%d lines, %d files", n, len(files))
	}
}

// TestSpellingsOfOneScriptAreOneShape changes what has no meaning.
func TestSpellingsOfOneScriptAreOneShape(t *testing.T) {
	const plain = `local v = redis.call("get", KEYS[1])
if v == ARGV[1] then
	return redis.call("del", KEYS[1])
end
return 0
`
	want, ok := Script(plain)
	if !ok {
		t.Fatal("the plain script is not recognised")
	}
	for _, change := range [][2]string{
		{"\n", "\r\n"}, {"\n", " "}, {"\t", ""}, {"\n", " -- comment\n"}, {" ", " --[[ comment ]] "},
		{"v", "lockHolder"}, {`"`, "'"}, {`"get"`, "[[GET]]"}, {`"get"`, "[==[\nget]==]"}, {`"del"`, `"\100\101\108"`},
		{`"del"`, "'unlink'"}, {"v == ARGV[1]", "ARGV[1] == v"}, {"v == ARGV[1]", "((v) == ARGV[1])"},
		{"v == ARGV[1]", "not (v ~= ARGV[1])"}, {"v == ARGV[1]", "v and v == ARGV[1]"}, {`call("del"`, `pcall("del"`},
		{"end\nreturn 0", "else return 0; end;"}, {"return 0", "do return 0 end"}, {"[1]", "[ (1) ]"},
	} {
		text := strings.ReplaceAll(plain, change[0], change[1])
		got, ok := Script(text)
		if !ok || got != want {
			t.Errorf("recognised: %v, as %+v:\n%s", ok, got, text)
		}
	}
}

// TestHugeScriptsAreRefused bounds what a script can cost.
func TestHugeScriptsAreRefused(t *testing.T) {
	const end = "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) end return 0"
	nested := func(n int) string {
		return strings.Repeat("if true then ", n) + end + strings.Repeat(" end", n)
	}
	for name, c := range map[string]struct {
		text string
		want bool
	}{
		"as long as may be": {strings.Repeat(" ", maxBytes-len(end)) + end, true},
		"longer":            {strings.Repeat(" ", maxBytes-len(end)+1) + end, false},
		"deep":              {nested(20), true},
		"deeper":            {nested(maxDepth), false},
		"parentheses":       {"return " + strings.Repeat("(", 2000), false},
		"nots":              {"return " + strings.Repeat("not ", 1000) + "nil", false},
		"locals":            {strings.Repeat("local a ", maxLocals+1) + end, false},
		"arguments":         {"redis.call('get', KEYS[1]" + strings.Repeat(", 1", maxArgs) + ")" + end, false},
	} {
		if _, ok := Script(c.text); ok != c.want {
			t.Errorf("%s: recognised: %v, want %v", name, ok, c.want)
		}
	}
}
