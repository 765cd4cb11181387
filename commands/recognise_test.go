package commands

import (
	"crypto/sha1"
	"encoding/hex"
	"fmt"
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
	want            shape
	known           bool
}

func lockScripts(t testing.TB) []lockScript {
	t.Helper()
	index, err := os.ReadFile("testdata/scripts/index.txt")
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
		text, err := os.ReadFile(filepath.Join("testdata/scripts", columns[0]))
		if err != nil {
			t.Fatal(err)
		}
		s := lockScript{name: columns[0], text: string(text), sha: columns[1]}
		if s.known = columns[2] != "refused"; s.known {
			yes, other, absent := indexReply(t, columns[3]), indexReply(t, columns[4]), indexReply(t, columns[5])
			s.want = indexShape(t, columns[2])
			s.want.yes, s.want.other, s.want.absent = yes, other, absent
			if s.want.greater && s.want.kept.Kind == 0 {
				s.want.kept = yes
			}
		}
		scripts = append(scripts, s)
	}
	return scripts
}

// indexShape reads what a script comes to. It asks for no more KEYS and ARGV than it
// names unless that is said.
func indexShape(t testing.TB, column string) (s shape) {
	defer func() { s.keys, s.args = max(s.keys, s.key), max(s.args, s.token, s.ttl, s.additive) }()
	for _, word := range strings.Fields(column) {
		name, value, _ := strings.Cut(word, "=")
		n, _ := strconv.Atoi(value)
		switch name {
		case "release":
			s.class = quorum.Release
		case "extend":
			s.class = quorum.Extend
		case "key":
			s.key = n
		case "token":
			s.token = n
		case "ttl":
			s.ttl = n
		case "additive":
			s.additive = n
		case "ms":
			s.unit = time.Millisecond
		case "s":
			s.unit = time.Second
		case "absolute":
			s.absolute = true
		case "needs-ttl":
			s.needsTTL = true
		case "or-persist":
			s.orPersist = true
		case "greater":
			s.greater = true
		case "kept":
			s.kept = indexReply(t, value)
		case "keys":
			s.keys = n
		case "args":
			s.args = n
		case "by-set":
			s.bySet = true
		default:
			t.Fatalf("no part of a shape: %s", word)
		}
	}
	return s
}

func indexReply(t testing.TB, column string) Reply {
	rest := column[1:]
	switch column[0] {
	case ':':
		n, err := strconv.ParseInt(rest, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		return Integer(n)
	case '$':
		return Bulk(rest)
	case '+':
		return Simple(rest)
	case '-':
		return Error(rest)
	case '_':
		return Null
	}
	t.Fatalf("no reply: %s", column)
	return Reply{}
}

func TestEveryScriptIsWhatItsLineSays(t *testing.T) {
	for _, s := range lockScripts(t) {
		t.Run(s.name, func(t *testing.T) {
			sum := sha1.Sum([]byte(s.text))
			if sha := hex.EncodeToString(sum[:]); sha != s.sha {
				t.Errorf("SHA-1 %s, want %s", sha, s.sha)
			}
			got, known := recognise(s.text)
			if known != s.known {
				t.Fatalf("recognised: %v, want %v", known, s.known)
			}
			// A Reply has a slice, so shapes are compared as they print.
			if g, w := fmt.Sprintf("%+v", got), fmt.Sprintf("%+v", s.want); g != w {
				t.Errorf("got  %s\nwant %s", g, w)
			}
		})
	}
}

func TestEveryScriptFileHasItsLine(t *testing.T) {
	files, err := filepath.Glob("testdata/scripts/*.lua")
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
	want, ok := recognise(plain)
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
		got, ok := recognise(text)
		if !ok || fmt.Sprint(got) != fmt.Sprint(want) {
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
		"as long as may be": {strings.Repeat(" ", luaMaxBytes-len(end)) + end, true},
		"longer":            {strings.Repeat(" ", luaMaxBytes-len(end)+1) + end, false},
		"deep":              {nested(20), true},
		"deeper":            {nested(luaMaxDepth), false},
		"parentheses":       {"return " + strings.Repeat("(", 2000), false},
		"nots":              {"return " + strings.Repeat("not ", 1000) + "nil", false},
		"locals":            {strings.Repeat("local a ", luaMaxLocals+1) + end, false},
		"arguments":         {"redis.call('get', KEYS[1]" + strings.Repeat(", 1", luaMaxArgs) + ")" + end, false},
	} {
		if _, ok := recognise(c.text); ok != c.want {
			t.Errorf("%s: recognised: %v, want %v", name, ok, c.want)
		}
	}
}
