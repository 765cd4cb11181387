package dump

import (
	_ "embed"
	"encoding/base64"
	"strings"
	"testing"
)

//go:embed testdata/dumps.txt
var realDumps string

// dumpsOf are the real dumps of each of what was dumped.
func dumpsOf(t testing.TB) map[string][]string {
	of := make(map[string][]string)
	for line := range strings.Lines(realDumps) {
		words := strings.Fields(line)
		if words[0] == "#" {
			continue
		}
		dump, err := base64.StdEncoding.DecodeString(words[3])
		if err != nil {
			t.Fatal(err)
		}
		of[words[0]] = append(of[words[0]], string(dump))
	}
	return of
}

func TestWhatDumpsAreOfIsTheSameHoweverMastersKeepIt(t *testing.T) {
	of := dumpsOf(t)
	for what, dumps := range of {
		for _, a := range dumps {
			if Contents(a) == "" {
				t.Errorf("%s: %q cannot be told", what, a)
			}
			for _, b := range dumps {
				if !Same(a, b) || !SameContents(a, b) {
					t.Errorf("%s: %q is %q, and %q is %q", what, a, Contents(a), b, Contents(b))
				}
			}
			for other, dumps := range of {
				for _, b := range dumps {
					if what != other && (Same(a, b) || SameContents(a, b)) {
						t.Errorf("%s %q and %s %q are the same", what, a, other, b)
					}
				}
			}
		}
	}
	for what, want := range map[string]string{
		"number":  "$5:-1234",
		"lock":    "h43:39:5f2b1c9e-3a3e-4b1c-8f8e-1c2d3e4f5a6b:122",
		"numbers": "s2:-211:-50000000001:13:3005:70000",
	} {
		if got := Contents(of[what][0]); got != want {
			t.Errorf("%s is %q, want %q", what, got, want)
		}
	}
}

func FuzzContents(f *testing.F) {
	for _, dumps := range dumpsOf(f) {
		for _, dump := range dumps {
			f.Add(dump)
		}
	}
	f.Fuzz(func(t *testing.T, dump string) {
		if told := Contents(dump); len(told) > 16*maxContents {
			t.Errorf("%d bytes are made of %d", len(told), len(dump))
		}
	})
}
