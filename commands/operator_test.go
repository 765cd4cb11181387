package commands

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

func TestOrdersAboutMastersAreForOperators(t *testing.T) {
	for words, want := range map[string]Effect{
		"admit m1": AdmitEffect{Master: "m1"}, "drain m1": DrainEffect{Master: "m1"}, "resume m1": ResumeEffect{Master: "m1"},
		"admit m1 reason it is new": AdmitEffect{"m1", "it is new"}, "drain m1 FORCE": DrainEffect{Master: "m1", Force: true},
		"drain m1 FORCE REASON new disk": DrainEffect{"m1", true, "new disk"}, "drain m1 REASON new": DrainEffect{"m1", false, "new"},
		"resume m1 REASON force": ResumeEffect{"m1", "force"},
	} {
		word := append([]string{"LOCK"}, strings.Fields(words)...)
		a := NewDialect(Options{}).Session(1).Do(slices.Clone(word))
		if a.Effect != nil || !strings.HasPrefix(a.Reply.Str, "NOPERM ") {
			t.Errorf("%s: %+v", word, a)
		}
		a = NewDialect(Options{Users: everybodyOperates}).Session(1).Do(word)
		if a.Effect != want || a.Rejected {
			t.Errorf("%s: %+v, want %+v", word, a, want)
		}
	}
}

func TestOrdersAreOfTheRightForm(t *testing.T) {
	for _, words := range []string{"admit m1 new", "admit m1 REASON", "drain m1 now", "drain m1 FORCE REASON", "drain m1 REASON", "resume m1 FORCE", "resume m1 REASON"} {
		a := NewDialect(Options{Users: everybodyOperates}).Session(1).Do(append([]string{"LOCK"}, strings.Fields(words)...))
		if a.Reply.Str != errSyntax {
			t.Errorf("%s: %+v", words, a)
		}
	}
}

func TestHowMastersStandMayAlwaysBeAsked(t *testing.T) {
	a := NewDialect(Options{}).Session(1).Do([]string{"lock", "MASTERS"})
	if (a.Effect != MastersEffect{}) {
		t.Errorf("%+v", a)
	}
	a = NewDialect(Options{Password: func() string { return "secret" }}).Session(1).Do([]string{"LOCK", "MASTERS"})
	if a.Reply.Str != errNoAuth {
		t.Errorf("without a password: %+v", a)
	}
	a = NewDialect(Options{}).Session(1).Do([]string{"LOCK", "HELP"})
	if text := fmt.Sprint(a.Reply.Elems); !strings.Contains(text, "ADMIT master") || !strings.Contains(text, "MASTERS") {
		t.Errorf("%s", text)
	}
}
