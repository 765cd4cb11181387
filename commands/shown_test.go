package commands

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

func TestOfACommandItsNameKeysAndOptionsAreShown(t *testing.T) {
	for _, row := range [][2]string{
		{"set k t NX PX 1000", "set k _ NX PX _"},
		{"SET k NX px 1000 nx", "SET k _ px _ nx"}, // NX is the token
		{"SET k t IFEQ NX", "SET k _ IFEQ _"},
		{"SET k t GT NX", "SET k _ _ _"}, // no option of it: what follows may be anything
		{"SETNX k t", "SETNX k _"},
		{"MSET a t b t", "MSET a _ b _"},
		{"DEL a b", "DEL a b"},
		{"DELEX k IFEQ t", "DELEX k IFEQ _"},
		{"GETEX k PX 10", "GETEX k PX _"},
		{"PEXPIRE k 10 GT", "PEXPIRE k _ GT"},
		{"EVAL text 2 a b t", "EVAL _ 2 a b _"},
		{"EVAL text 3 a b", "EVAL _ _ _ _"}, // which is refused
		{"EVAL text 0 t", "EVAL _ _ _"},
		{"HSET h f v", "HSET h _ _"},
		{"LPUSH l t", "LPUSH l _"},
		{"LPOP l 2", "LPOP l _"},
		{"LMPOP 2 l m LEFT COUNT 3", "LMPOP 2 l m LEFT COUNT _"},
		{"ZMPOP 1 z min t t", "ZMPOP 1 z min _ _"},
		{"ZMPOP 5 z MIN", "ZMPOP _ _ _"}, // which is refused
		{"BZMPOP 0.5 1 z max COUNT 2", "BZMPOP _ 1 z max COUNT _"},
		{"BLMOVE l m LEFT right 0", "BLMOVE l m LEFT right _"},
		{"ZPOPMIN z 2", "ZPOPMIN z _"},
		{"LPOS l t RANK 1 MAXLEN 0", "LPOS l _ RANK _ MAXLEN _"},
		{"LINSERT l BEFORE t u", "LINSERT l BEFORE _ _"},
		{"LMOVE l m LEFT RIGHT", "LMOVE l m LEFT RIGHT"},
		{"LREM l 1 t", "LREM l _ _"},
		{"ZADD z NX CH 1 NX", "ZADD z NX CH _ _"},
		{"ZRANGE z 0 -1 BYSCORE LIMIT 0 1 WITHSCORES", "ZRANGE z _ _ BYSCORE LIMIT _ _ WITHSCORES"},
		{"SCAN 0 MATCH p COUNT 10", "SCAN _ MATCH _ COUNT _"},
		{"PUBLISH c m", "PUBLISH c _"},
		{"SPUBLISH c m", "SPUBLISH c _"},
		{"SSUBSCRIBE c d", "SSUBSCRIBE c d"},
		{"ZREVRANGEBYSCORE z 5 0 WITHSCORES LIMIT 0 1", "ZREVRANGEBYSCORE z _ _ WITHSCORES LIMIT _ _"},
		{"HSCAN h 0 MATCH t* COUNT 10", "HSCAN h _ MATCH _ COUNT _"},
		{"ZRANK z t WITHSCORE", "ZRANK z _ WITHSCORE"},
		{"COPY a b DB 0 REPLACE", "COPY a b DB _ REPLACE"},
		{"RENAME a b", "RENAME a b"},
		{"OBJECT ENCODING a", "OBJECT ENCODING a"},
		{"MEMORY USAGE a SAMPLES 5", "MEMORY USAGE a SAMPLES _"},
		{"SPOP s 5", "SPOP s _"},
		{"SUBSCRIBE c d", "SUBSCRIBE c d"},
		{"AUTH p", "AUTH _"},
		{"AUTH u p", "AUTH _ _"},
		{"HELLO 3 AUTH u p SETNAME n", "HELLO _ AUTH _ _ SETNAME _"},
		{"HELLO 3 SETNAME n AUTH u p", "HELLO _ SETNAME _ AUTH _ _"},
		{"ECHO t", "ECHO _"},
		{"PING t", "PING _"},
		{"SELECT 3", "SELECT 3"},
		{"CONFIG SET requirepass p", "CONFIG SET _ _"},
		{"CONFIG GET save", "CONFIG GET save"},
		{"CLIENT SETNAME n", "CLIENT SETNAME _"},
		{"CLIENT NOSUCH t", "CLIENT _ _"},
		{"SLOWLOG GET 3", "SLOWLOG GET 3"},
		{"nosuch t", "nosuch _"},
		{"GET", "GET"},
		{"GET a t", "GET _ _"}, // as many words as GET does not take
		{"MULTI", "MULTI"},
	} {
		got := strings.ReplaceAll(strings.Join(Shown(strings.Fields(row[0])), " "), "(redacted)", "_")
		if got != row[1] {
			t.Errorf("of %q is shown %q, want %q", row[0], got, row[1])
		}
	}
}

func TestWhatIsShownIsCutAsInRedis(t *testing.T) {
	long := strings.Repeat("k", 200)
	args := []string{"DEL", long, long[:128]}
	for i := range 40 {
		args = append(args, fmt.Sprint(i))
	}
	got := Shown(args)
	want := append([]string{"DEL", long[:128] + "... (72 more bytes)", long[:128]}, args[3:31]...)
	want = append(want, "... (12 more arguments)")
	if !slices.Equal(got, want) {
		t.Errorf("shown is %q", got)
	}
	if got := Shown(args[:32]); !slices.Equal(got[2:], args[2:32]) {
		t.Errorf("of 32 words is shown %q", got)
	}
}

// Whatever a command is, and however its words are ordered, a word that is neither a key nor an
// option is not shown.
func TestNoCommandShowsAToken(t *testing.T) {
	const token = "the-token"
	for _, c := range Table() {
		if shownWhole[c.Name] || len(c.Subcommands) > 0 {
			continue
		}
		for n := 1; n < 9; n++ {
			words := strings.Split(c.Name, "|")
			for range n {
				words = append(words, token)
			}
			for i, word := range Shown(words) {
				isKey := c.arityFits(len(words)) && c.hasKeyAt(i, words)
				if word == token && !isKey {
					t.Errorf("%q: word %d is shown", words, i)
				}
			}
		}
	}
}
