package resp

import (
	"fmt"
	"testing"
)

func TestInlineArguments(t *testing.T) {
	for _, row := range []struct {
		line string
		want string // "" for refused
	}{
		{"", `[]`},
		{" \t\r ", `[]`},
		{"PING\r", `["PING"]`},
		{"set  k\tv ", `["set" "k" "v"]`},
		{`set k "a b"`, `["set" "k" "a b"]`},
		{`set k ""`, `["set" "k" ""]`},
		{`set k "\x41\x4g\n\r\t\b\a\"\\\q"`, `["set" "k" "Ax4g\n\r\t\b\a\"\\q"]`},
		{`set k 'a "b" \n \' c'`, `["set" "k" "a \"b\" \\n ' c"]`},
		{`set k pre"fix"`, `["set" "k" "prefix"]`},
		{`$4`, `["$4"]`},
		{`set k "open`, ""},
		{`set k 'open`, ""},
		{`set k "a"b`, ""},
		{`set k 'a'b`, ""},
		{`set k "a\`, ""},
		{"set k\x00 v", `["set" "k"]`},
	} {
		args, ok := splitInline([]byte(row.line))
		got := fmt.Sprintf("%q", args)
		if !ok {
			got = ""
		}
		if got != row.want {
			t.Errorf("%q: %s, want %s", row.line, got, row.want)
		}
	}
}
