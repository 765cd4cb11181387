package commands

import (
	"fmt"
	"strings"
	"testing"
)

func TestOrdersAboutMastersAreForOperators(t *testing.T) {
	for word, want := range map[string]Effect{
		"admit": AdmitEffect{"m1"}, "drain": DrainEffect{Master: "m1"}, "resume": ResumeEffect{"m1"},
	} {
		a := NewDialect(Options{}).Session(1).Do([]string{"LOCK", word, "m1"})
		if a.Effect != nil || !strings.HasPrefix(a.Reply.Str, "NOPERM ") {
			t.Errorf("%s: %+v", word, a)
		}
		a = NewDialect(Options{Users: everybodyOperates}).Session(1).Do([]string{"LOCK", word, "m1"})
		if a.Effect != want || a.Rejected {
			t.Errorf("%s: %+v, want %+v", word, a, want)
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
