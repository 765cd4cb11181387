package commands

import (
	"crypto/sha1"
	"encoding/hex"
	"fmt"
	"strings"
	"sync"
	"testing"

	"redlock-proxy/quorum"
)

func TestOldestScriptsGoFirst(t *testing.T) {
	table := newScriptTable(3, 1<<20, quorum.DefaultBounds)
	var shas []string
	for i := range 5 {
		shas = append(shas, table.enter(fmt.Sprintf("return %d", i)).sha)
		table.enter("return 2")
	}
	for i, there := range []bool{false, false, true, true, true} {
		if (table.find(shas[i]) != nil) != there {
			t.Errorf("script %d: there is %t, want %t", i, !there, there)
		}
	}
}

// However many others load, as long as they do not load all that there may be between two uses.
func TestScriptThatIsInUseStays(t *testing.T) {
	table := newScriptTable(10, 1<<20, quorum.DefaultBounds)
	inUse := table.enter("return 'in use'").sha
	for i := range 1000 {
		table.enter(fmt.Sprintf("return %d", i))
		if i%5 == 0 && table.find(inUse) == nil {
			t.Fatalf("after %d others it is gone", i+1)
		}
	}
	if len(table.order) != 10 || len(table.bySHA) != 10 {
		t.Errorf("%d scripts in order, and %d by SHA-1", len(table.order), len(table.bySHA))
	}
}

func TestScriptsAreBoundedInBytes(t *testing.T) {
	text := func(c string, n int) string { return "return '" + strings.Repeat(c, n) + "'" }
	table := newScriptTable(100, 2*newScript(text("a", 600), quorum.DefaultBounds).size(), quorum.DefaultBounds)
	first := table.enter(text("a", 600)).sha
	second := table.enter(text("b", 600)).sha
	if table.find(first) == nil || table.find(second) == nil || table.bytes != table.maxBytes {
		t.Fatalf("%d bytes of two scripts that fit", table.bytes)
	}
	third := table.enter(text("c", 1)).sha
	if table.find(first) != nil || table.find(second) == nil || table.find(third) == nil {
		t.Errorf("%d bytes once the first had to go", table.bytes)
	}
}

func TestScriptThatIsNotForMastersIsNotKept(t *testing.T) {
	for text, want := range map[string]string{
		"return '" + strings.Repeat("d", 64<<10) + "'": "ERR the script is longer than 65536 bytes",
		"return 1 end":           "ERR Error compiling script (new function): user_script:1: '<eof>' expected near 'end'",
		"local a = 1\nreturn _G": "ERR '_G' is not for lock scripts script: SHA, on @user_script:2.",
		"#!js\nreturn 1":         "ERR Unexpected engine in script shebang: #!js",
	} {
		s := NewDialect(Options{}).Session(1)
		sum := sha1.Sum([]byte(text))
		sha := hex.EncodeToString(sum[:])
		for _, args := range [][]string{{"SCRIPT", "LOAD", text}, {"EVAL", text, "0"}} {
			if a := s.Do(args); a.Reply.Str != strings.Replace(want, "SHA", sha, 1) {
				t.Errorf("%s of %.20q: %q", args[0], text, a.Reply.Str)
			}
		}
		if a := s.Do([]string{"SCRIPT", "EXISTS", sha}); a.Reply.Elems[0].Int != 0 {
			t.Errorf("%.20q is there", text)
		}
	}
}

func TestLoadedScriptsAreKnownToAllSessions(t *testing.T) {
	d := NewDialect(Options{})
	var wait sync.WaitGroup
	for i := range 8 {
		wait.Go(func() {
			s := d.Session(int64(i))
			for n := range 100 {
				text := fmt.Sprintf("return %d", n)
				sha := s.Do([]string{"SCRIPT", "LOAD", text}).Reply.Str
				if a := s.Do([]string{"EVALSHA", sha, "0"}); len(a.Requests) != 1 || a.Requests[0].Script == nil {
					t.Errorf("%+v", a)
				}
			}
		})
	}
	wait.Wait()
	if len(d.scripts.order) != 100 || len(d.scripts.bySHA) != 100 || len(d.scripts.byText) != 100 {
		t.Errorf("%d scripts", len(d.scripts.order))
	}
}

// Clients without a fallback count on these hashes, whatever another client flushes.
func TestScriptsOfClientsWithoutFallbackAreAlwaysThere(t *testing.T) {
	d := NewDialect(Options{})
	s := d.Session(1)
	for range 2 {
		for _, sha := range []string{
			"bfe9502cc2930d7ab50d6d252d1a8a9a10d5964e", // Redis::DistLock, release
			"87608090ac58c99da53c8994553c2d33364ff9e2", // and extend
			"5c252c1a0eaeeb4522fbbb982baba4e74ddfcd0d", // lyokato/redlock, unlock
			"4196d8ada32b6e55d7d1b989bfe626215b911ac7", // and extend
		} {
			if a := s.Do([]string{"EVALSHA", strings.ToUpper(sha), "1", "k", "t", "30000"}); len(a.Requests) != 1 {
				t.Errorf("%s: %+v", sha, a.Reply)
			}
			if a := s.Do([]string{"SCRIPT", "EXISTS", sha}); a.Reply.Elems[0].Int != 1 {
				t.Errorf("%s is not there", sha)
			}
		}
		s.Do([]string{"SCRIPT", "FLUSH"})
	}
}
