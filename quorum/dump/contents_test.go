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
		"queue":   "l39:5f2b1c9e-3a3e-4b1c-8f8e-1c2d3e4f5a6b:121:c0:2:-73:3005:700001:c",
		"numbers": "s2:-211:-50000000001:13:3005:70000",
	} {
		if got := Contents(of[what][0]); got != want {
			t.Errorf("%s is %q, want %q", what, got, want)
		}
	}
}

// What is made readable for masters of any version holds the same, and what is read of what is longer
// is bounded.
func TestElementsAreReadByMastersOfAnyVersion(t *testing.T) {
	for what, dumps := range dumpsOf(t) {
		for _, dump := range dumps {
			got := Readable(dump)
			if version(dump) <= oldestVersion {
				if got != dump {
					t.Errorf("%s %q is made %q", what, dump, got)
				}
				continue
			}
			told := map[byte]byte{'$': dumpedString, 'l': dumpedList, 's': dumpedSet, 'h': dumpedHash, 'z': dumpedZset}[Contents(dump)[0]]
			if !Same(got, dump) || Readable(got) != got || version(got) != oldestVersion || got[0] != told {
				t.Errorf("%s %q is made %q", what, dump, got)
			}
		}
	}
	none := "\x12\x01\x02\x07\x07\x00\x00\x00\x00\x00\xff\x0a\x00checksum"
	long := "\x12\x01\x02\x80\x00\x02\x00\x07\x00\x00\x00\x00\xff\xff" + strings.Repeat("\x01\x01", maxElements) + "\xff\x0a\x00checksum"
	for _, dump := range []string{none, long, none[:5] + none[6:], "\x12\x01\x03\x01a\x0a\x00checksum"} {
		if got := Readable(dump); got != dump {
			t.Errorf("%.50q is made %.50q", dump, got)
		}
	}
	if Same(long, long+"x") {
		t.Error("a list that is too long is told")
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
		if told := Contents(Readable(dump)); told != "" && told != Contents(dump) {
			t.Errorf("%q is made %q", dump, Readable(dump))
		}
	})
}
