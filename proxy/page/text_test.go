package page

import (
	"bytes"
	"encoding/json"
	"path"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"
)

func TestNothingInATextIsInvisible(t *testing.T) {
	for text, want := range map[string]string{
		"stock:17":          "stock:17",
		"":                  "",
		"a b":               "a b",
		"  a   b ":          `\x20\x20a \x20\x20b\x20`,
		" ":                 `\x20`,
		"naïve 锁 🔒":         "naïve 锁 🔒",
		"\x00\x1b[31m\r\n":  `\x00\x1b[31m\x0d\x0a`,
		`C:\n`:              `C:\\n`,
		`\x41`:              `\\x41`,
		"\xff\xfe":          `\xff\xfe`,
		"\xe2\x82":          `\xe2\x82`,
		"\u202egnp":         `\xe2\x80\xaegnp`, // the direction is not turned
		"a\u200bb\ufeff":    `a\xe2\x80\x8bb\xef\xbb\xbf`,
		"a\u00a0b\u2028":    `a\xc2\xa0b\xe2\x80\xa8`,
		"<script>&\"'`${1}": "<script>&\"'`${1}",
	} {
		if got := escaped(text); got != want {
			t.Errorf("%q: got %s, want %s", text, got, want)
		}
	}
}

func FuzzTextsBytesCanBeHadAgain(f *testing.F) {
	for _, seed := range []string{"", "a", `\`, `\\x41`, "\xff\x00", "\u202e", `\x4`, "*[a-z]?"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		shown := escaped(text)
		for _, r := range shown {
			if !unicode.IsPrint(r) {
				t.Fatalf("%q is shown with %U", text, r)
			}
		}
		if !utf8.ValidString(shown) {
			t.Fatalf("%q is shown as no UTF-8", text)
		}
		if again, err := unescaped(shown); err != nil || again != text {
			t.Fatalf("%q is shown as %s, which is %q: %v", text, shown, again, err)
		}
		var decoded string
		if body, err := json.Marshal(Text(text)); err != nil || json.Unmarshal(body, &decoded) != nil || decoded != shown {
			t.Fatalf("%q is %s in JSON: %v", text, body, err)
		}
		unescaped(text) // whatever it is
		if bytes.Count([]byte(pattern(text)), nil) > 2*len(text)+1 {
			t.Fatalf("the pattern of %q grows", text)
		}
	})
}

// What a pattern's shown bytes match is what they are bytes of.
func TestAPatternMatchesTheBytesThatAreShown(t *testing.T) {
	for _, c := range []struct {
		shown, key string
		matches    bool
	}{
		{`\xff*`, "\xffabc", true},
		{`\xff*`, `\xffabc`, false},
		{`a\x2a`, "a*", true},
		{`a\x2a`, "ab", false}, // a byte stands for itself
		{`a\\b`, `a\b`, true},
		{`a\\x41`, `a\x41`, true},
		{`a\*`, "a*", true},
		{`a\*`, "ab", false},
		{`a?c`, "abc", true},
	} {
		// Paths have these patterns as Redis has them, as far as there is no slash.
		if got, err := path.Match(pattern(c.shown), c.key); err != nil || got != c.matches {
			t.Errorf("%s on %q: got %v, %v", c.shown, c.key, got, err)
		}
	}
}

func TestTimesAreWrittenAsTheyAre(t *testing.T) {
	for value, want := range map[any]string{
		Time{}: "null",
		Time(time.Date(2026, 12, 31, 23, 59, 59, 999_999_999, time.FixedZone("", -3600))): `"2027-01-01T00:59:59.999Z"`,
		Millis(0):                         "0",
		Millis(1234567 * time.Nanosecond): "1.234",
		Millis(-2 * time.Second):          "-2000",
		Millis(300 * time.Hour):           "1080000000",
		Micros(1234567 * time.Nanosecond): "1234",
		Micros(-1500 * time.Microsecond):  "-1500",
		Millis(1500*time.Microsecond + 1): "1.5",
	} {
		if got, err := json.Marshal(value); err != nil || string(got) != want {
			t.Errorf("%v: got %s, %v, want %s", value, got, err, want)
		}
	}
}
