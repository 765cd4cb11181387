package commands

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"redlock-proxy/quorum"
)

// subscribed is a session that has done what the words say.
func subscribed(t *testing.T, s *Session, line string) Reply {
	t.Helper()
	e, ok := do(t, s, line).Effect.(SubscribeEffect)
	if !ok {
		t.Fatalf("%q has no SubscribeEffect", line)
	}
	return s.Subscribed(e, quorum.Result{Decision: quorum.Won})
}

func TestPatternsAreFewBytesInAll(t *testing.T) {
	s := NewDialect(Options{}).Session(1)
	words := []string{"PSUBSCRIBE"}
	for i := range 64 {
		words = append(words, fmt.Sprintf("%1024d", i))
	}
	for _, more := range []struct {
		word    string
		refused bool
	}{{"", false}, {words[1], false}, {"a", true}} {
		a := s.Do(append(slices.Clone(words[:1]), more.word))
		if more.word == "" {
			a = s.Do(words)
		}
		if got := a.Reply.Kind == ErrorReply; got != more.refused {
			t.Errorf("%.10q beside 64 KiB: %+v", more.word, a.Reply)
		}
		if e, ok := a.Effect.(SubscribeEffect); ok {
			s.Subscribed(e, quorum.Result{Decision: quorum.Won})
		}
	}
}

func TestSubscribingBeginsWhenMessagesCanBeHeard(t *testing.T) {
	s := NewDialect(Options{}).Session(1)
	e := do(t, s, "SUBSCRIBE a").Effect.(SubscribeEffect)
	if s.Snapshot().Subscribed() {
		t.Error("subscribed before anything can be heard")
	}
	reply := s.Subscribed(e, quorum.Result{Decision: quorum.Unavailable, Voted: 1, Needed: 2, Masters: 3})
	if reply.Str != "NOQUORUM 1 of 3 masters can be heard, 2 are needed" || s.Snapshot().Subscribed() {
		t.Errorf("%+v, %+v", reply, s.Snapshot())
	}
	if reply = s.Subscribed(e, quorum.Result{Decision: quorum.Won}); reply.Kind != PushReply || s.Snapshot().Channels != 1 {
		t.Errorf("%+v, %+v", reply, s.Snapshot())
	}
}

func TestSubscriptionsAreBounded(t *testing.T) {
	s := NewDialect(Options{}).Session(1)
	for _, test := range []struct {
		command, refusal string
		most             int
	}{
		{"SUBSCRIBE", "ERR a client may subscribe to no more than 10000 channels", maxChannels},
		{"PSUBSCRIBE", "ERR a client may subscribe to no more than 1000 patterns", maxPatterns},
	} {
		for i := range test.most {
			subscribed(t, s, fmt.Sprint(test.command, " ", i))
		}
		if a := s.Do([]string{test.command, "1", "2"}); a.Effect == nil {
			t.Errorf("%s of what it has: %q", test.command, a.Reply.Str)
		}
		if a := s.Do([]string{test.command, "one more"}); a.Reply.Str != test.refusal {
			t.Errorf("%s: %q", test.command, a.Reply.Str)
		}
	}
	for _, args := range [][]string{{"SUBSCRIBE"}, {"PSUBSCRIBE"}, {"PUBLISH"}, {"PUBSUB", "CHANNELS"}} {
		for n, want := range map[int]bool{maxChannelName: true, maxChannelName + 1: false} {
			args := append(slices.Clone(args), strings.Repeat("x", n))
			if args[0] == "PUBLISH" {
				args = append(args, "m")
			}
			s := NewDialect(Options{}).Session(1)
			if a := s.Do(args); (a.Effect != nil) != want || !want && a.Reply.Str != "ERR the name of a channel or a pattern is longer than 1024 bytes" {
				t.Errorf("%s of %d bytes: %q", args[0], n, a.Reply.Str)
			}
		}
	}
}

// What the server notes of a session must be what the session knows.
func TestEndedSubscriptionsAreNamed(t *testing.T) {
	s := NewDialect(Options{}).Session(1)
	subscribed(t, s, "SUBSCRIBE b a c")
	subscribed(t, s, "PSUBSCRIBE p*")
	for _, test := range []struct {
		args               string
		channels, patterns string
		kind               ReplyKind
	}{
		{"UNSUBSCRIBE a x a", "a", "", SeveralReplies},
		{"UNSUBSCRIBE x", "", "", PushReply},
		{"UNSUBSCRIBE", "b c", "", SeveralReplies},
		{"UNSUBSCRIBE", "", "", PushReply},
		{"PUNSUBSCRIBE", "", "p*", PushReply},
	} {
		e := do(t, s, test.args).Effect.(UnsubscribeEffect)
		if got := strings.Join(e.Channels, " "); got != test.channels || strings.Join(e.Patterns, " ") != test.patterns || e.Reply.Kind != test.kind {
			t.Errorf("%s: %+v", test.args, e)
		}
	}
	if s.Snapshot().Subscribed() {
		t.Errorf("%+v", s.Snapshot())
	}
	subscribed(t, s, "SUBSCRIBE a")
	subscribed(t, s, "PSUBSCRIBE p*")
	e := do(t, s, "RESET").Effect.(UnsubscribeEffect)
	if len(e.Channels) != 1 || len(e.Patterns) != 1 || e.Reply.Str != "RESET" || s.Snapshot().Subscribed() {
		t.Errorf("RESET: %+v, %+v", e, s.Snapshot())
	}
}
