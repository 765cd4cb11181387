package commands

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"redlock-proxy/quorum"
	"redlock-proxy/quorum/registry"
)

func TestRefusalIsExplained(t *testing.T) {
	w, d := newWatcher()
	explained := func() Reply { return d.Session(1).Do([]string{"LOCK", "EXPLAIN", "k"}).Reply }
	if got := told(explained(), "summary"); !strings.HasPrefix(got, "nobody was refused it lately") {
		t.Errorf("%s", got)
	}
	w.seen.Note(taken("k", "secret"))
	w.seen.Note(&registry.Act{What: registry.Refused, Key: "k", Signs: registry.SignedBy("mine"), At: 55 * time.Second, Took: 300 * time.Microsecond,
		Votes: quorum.Votes(quorum.Refused) | quorum.Votes(quorum.Refused)<<quorum.VoteBits, By: &registry.Origin{ID: 8, Addr: "b:1"}})
	want := "refused 5s ago to client 8 at b:1, in 300us: somebody else has it (m1 refused, m2 refused, m3 not heard)"
	if got := told(explained(), "summary"); got != want {
		t.Errorf("%s", got)
	}
	if got := told(explained(), "last-known-by"); !strings.HasPrefix(got, "granted: client 7 at ") {
		t.Errorf("%s", got)
	}
	w.seen.Note(&registry.Act{What: registry.Failed, Key: "k", At: 56 * time.Second, Why: "NOQUORUM 1 of 3", By: joe})
	if got := told(explained(), "summary"); !strings.Contains(got, "failed 4s ago") || !strings.Contains(got, "NOQUORUM 1 of 3") {
		t.Errorf("%s", got)
	}
	top := d.Session(1).Do([]string{"LOCK", "TOP"}).Reply
	if len(top.Elems) != 1 || told(top.Elems[0], "key") != "k" || told(top.Elems[0], "refusals-in-a-minute") != "1" || told(top.Elems[0], "waiters") != "1" {
		t.Errorf("%v", top)
	}
	if all := fmt.Sprint(explained(), top); strings.Contains(all, "secret") || strings.Contains(all, "mine") {
		t.Error("a token is told")
	}
}

func TestCountsOfLookingIntoItAreRead(t *testing.T) {
	_, d := newWatcher()
	for words, want := range map[string]string{
		"TOP 0": errSyntax, "TOP x": errNotInteger, "TOP 1 2": errSyntax, "EVENTS -1": errSyntax, "LIST MATCH": errSyntax,
		"LIST COUNT 0": errSyntax, "LIST COUNT x": errNotInteger, "LIST CURSOR x": errCursor, "LIST TYPE string": errSyntax,
	} {
		if a := d.Session(1).Do(strings.Fields("LOCK " + words)); a.Reply.Str != want {
			t.Errorf("%s: %+v", words, a.Reply)
		}
	}
	if a := d.Session(1).Do(strings.Fields("LOCK EVENTS 5000")); a.Reply.Kind != ArrayReply {
		t.Errorf("%+v", a.Reply)
	}
}
