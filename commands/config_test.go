package commands

import (
	"reflect"
	"strings"
	"testing"
)

func TestConfigOrdersAreForOperators(t *testing.T) {
	for _, words := range [][]string{{"CONFIG", "SET", "loglevel", "debug"}, {"CONFIG", "SET", "loglevel", "debug", "x"}, {"CONFIG", "REWRITE"}, {"CONFIG", "RESETSTAT"}} {
		a := NewDialect(Options{}).Session(1).Do(words)
		want := "NOPERM User default has no permissions to run the 'config|" + lower(words[1]) + "' command"
		if a.Effect != nil || a.Reply.Str != want {
			t.Errorf("%q: %+v", words, a)
		}
	}
}

func TestConfigSetTakesPairs(t *testing.T) {
	s := NewDialect(Options{Users: everybodyOperates}).Session(1)
	for line, want := range map[string]Effect{
		"CONFIG SET a b":         ConfigSetEffect{Settings: []Setting{{"a", "b"}}},
		"config set A b c d a b": ConfigSetEffect{Settings: []Setting{{"A", "b"}, {"c", "d"}, {"a", "b"}}},
		"CONFIG REWRITE":         ConfigRewriteEffect{},
		"CONFIG RESETSTAT":       ConfigResetStatEffect{},
	} {
		if a := s.Do(strings.Fields(line)); !reflect.DeepEqual(a.Effect, want) {
			t.Errorf("%s: %+v", line, a)
		}
	}
	if a := s.Do(strings.Fields("CONFIG SET a b c")); a.Reply.Str != errSyntax {
		t.Errorf("of a pair and a half: %+v", a)
	}
	for _, r := range []Reply{UnknownOption("a\nb"), OptionRefused("a\r\nb", "c\nd"), NotRewritten("c\nd")} {
		if strings.ContainsAny(r.Str, "\r\n") {
			t.Errorf("an error of several lines: %q", r.Str)
		}
	}
}
