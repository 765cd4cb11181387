package decide

import (
	"strings"
	"testing"
)

// What a master tells of a trail is one, or none.
func TestTrailIsReadOrLeft(t *testing.T) {
	whole := strings.Repeat("01ab45ef+", 8)
	for told, want := range map[string][2]string{
		"":                      {},
		"01234567-":             {"01234567-", ""},
		"/89abcdef":             {"", "89abcdef"},
		whole + "/89abcdef":     {whole, "89abcdef"},
		whole + "01234567-":     {},
		"01234567-/89abcde":     {},
		"01234567-/89abcdef01":  {},
		"01234567-/89abcdeg":    {},
		"01234567":              {},
		"0123456x-":             {},
		"01234567*":             {},
		"0123 567+":             {},
		"01234567+/0/23456":     {},
		"+01234567":             {},
		"0123456\x00-/89abcdef": {},
	} {
		if trail, mark := readTrail(told); trail != want[0] || mark != want[1] {
			t.Errorf("%q is read as %q and %q", told, trail, mark)
		}
	}
}
