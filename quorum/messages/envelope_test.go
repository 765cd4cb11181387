package messages

import (
	"math"
	"strings"
	"testing"
)

func TestEnvelopeHoldsWhatWasPutIn(t *testing.T) {
	for _, v := range []envelope{
		{"ab12", 1, "news", "hello"},
		{"0123456789abcdef", math.MaxUint64, "a b 3 c", " 1 2 3 4 "},
		{"x", 7, "", ""},
		{"x", 7, "\x00\r\n", strings.Repeat("\xff", 1<<16)},
	} {
		got, ok := parseEnvelope(v.String())
		if !ok || got != v {
			t.Errorf("%+v came back as %+v, %v", v, got, ok)
		}
	}
}

func TestWhatIsNoEnvelopeIsNotRead(t *testing.T) {
	for _, text := range []string{
		"", " ", "hello", "1", "1 s 1", "1 s 1 0", "2 s 1 0 ", "1  1 0 ", "1 s 0 0 ", "1 s -1 0 ", "1 s x 0 ", "1 s 1 x ",
		"1 s 1 -1 ab", "1 s 1 3 ab", "1 s 18446744073709551616 0 ", "1 s 1 99999999999999999999 ab",
		"1 " + strings.Repeat("s", maxSenderName+1) + " 1 0 ",
	} {
		if v, ok := parseEnvelope(text); ok {
			t.Errorf("%q was read as %+v", text, v)
		}
	}
}

// Whatever comes is an envelope, a letter or nothing, and no two of them.
func FuzzParseEnvelope(f *testing.F) {
	f.Add("1 s 1 1 ab")
	f.Add("question1 s 1 ab")
	f.Add("answer1 s 1 a 1 ab")
	f.Fuzz(func(t *testing.T, text string) {
		v, isEnvelope := parseEnvelope(text)
		if isEnvelope {
			if again, ok := parseEnvelope(v.String()); !ok || again != v {
				t.Fatalf("%q: %+v, then %+v", text, v, again)
			}
		}
		if l, ok := parseLetter(text); ok {
			if again, ok := parseLetter(l.String()); !ok || again != l || isEnvelope {
				t.Fatalf("%q: %+v, then %+v, and %+v", text, l, again, v)
			}
		}
	})
}
