package commands

import (
	"fmt"
	"strings"
	"sync"
	"testing"
)

func TestOldestScriptsGoFirst(t *testing.T) {
	table := newScriptTable(3, 1000)
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

func TestScriptsAreBoundedInBytes(t *testing.T) {
	table := newScriptTable(100, 100)
	first := table.enter(strings.Repeat("a", 60)).sha
	second := table.enter(strings.Repeat("b", 40)).sha
	if table.find(first) == nil || table.find(second) == nil || table.bytes != 100 {
		t.Fatalf("%d bytes of two scripts that fit", table.bytes)
	}
	third := table.enter(strings.Repeat("c", 1)).sha
	if table.find(first) != nil || table.find(second) == nil || table.find(third) == nil || table.bytes != 41 {
		t.Errorf("%d bytes once the first had to go", table.bytes)
	}
	if table.enter(strings.Repeat("d", 101)) != nil || table.find(second) == nil {
		t.Error("a script that does not fit alone was entered")
	}
	d := NewDialect(Options{})
	d.scripts = table
	for _, args := range [][]string{{"SCRIPT", "LOAD", strings.Repeat("d", 101)}, {"EVAL", strings.Repeat("d", 101), "0"}} {
		if a := d.Session(1).Do(args); a.Reply.Str != "ERR the script is longer than 100 bytes" {
			t.Errorf("%s: %+v", args[0], a.Reply)
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

func TestRefusalOfAScriptDoesNotReadAsAnotherError(t *testing.T) {
	for _, words := range []string{"unknown command", "syntax error", "CLUSTER", "NOSCRIPT"} {
		if strings.Contains(errScriptUnknown, words) {
			t.Errorf("drivers act on %q", words)
		}
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
