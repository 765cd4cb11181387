package marker

import (
	"strings"
	"testing"
)

// sightsOf reads what is seen of masters: "-" is one that is away, "." one without a
// marker; else the installation's letter: small if it is a first marker, with "?" if it
// is provisional otherwise, with "!" if it votes.
func sightsOf(text string) (sights []Sight) {
	for _, word := range strings.Fields(text) {
		s := Sight{Reached: word != "-"}
		if s.Reached && word != "." {
			s.Nonce = Nonce("of " + word)
			s.Installation = strings.ToUpper(word[:1])
			s.First = word == strings.ToLower(word) && len(word) == 1
			s.Votes = strings.HasSuffix(word, "!")
		}
		sights = append(sights, s)
	}
	return sights
}

func TestWhenAMasterIsMarkedFirst(t *testing.T) {
	for _, c := range []struct {
		sights       string
		of           int
		installation string
		waits        string // for whom; "" if it is marked
	}{
		{". . .", 0, "", ""},
		{". . .", 1, "", "a"},
		{". . .", 2, "", "a b"},
		{". - .", 0, "", "b"},
		{". - -", 0, "", "b c"},
		{"i . .", 1, "I", ""},
		{"i . .", 2, "I", "b"},
		{"i i .", 2, "I", ""},
		{"i . -", 1, "I", ""}, // who meets a part completes it
		{"- . i", 1, "I", "a"},
		{"j . .", 1, "I", "a"},
		{". i .", 0, "I", ""},
	} {
		may, waits := MayMark(sightsOf(c.sights), []string{"a", "b", "c"}, c.of, c.installation)
		if got := strings.Join(waits, " "); got != c.waits || may != (c.waits == "") {
			t.Errorf("%s, %d: %t, waits for %q, want %q", c.sights, c.of, may, got, c.waits)
		}
	}
	// The order is that of the names, however they are written in a configuration.
	if may, _ := MayMark(sightsOf(". . ."), []string{"c", "a", "b"}, 1, ""); !may {
		t.Error("the first by name may not")
	}
}

func TestWhichInstallationStands(t *testing.T) {
	for _, c := range []struct {
		sights, installation string
		votes                bool
	}{
		{"i i i", "I", false},
		{"i j j", "I", false},
		{". j i", "J", false},
		{"i j? j", "J", false},
		{"i? j? j", "I", false},
		{"i i? j!", "J", true},
		{"i - j!", "J", true},
		{"i - j", "", false},
		{"i! j j!", "I", true},
		{"i! j! j!", "J", true},
		{"i! j! -", "", false},
		{"i! - i!", "I", true},
		{". . .", "", false},
	} {
		got, votes := Stands(sightsOf(c.sights), []string{"a", "b", "c"})
		if got != c.installation || votes != c.votes {
			t.Errorf("%s: %q, %t; want %q, %t", c.sights, got, votes, c.installation, c.votes)
		}
	}
}

func TestWhenAFirstMasterIsAdmitted(t *testing.T) {
	for _, c := range []struct {
		one, two string
		admitted bool
	}{
		{"i i i", "i i i", true},
		{"i i? i", "i i? i", true},
		{"i i .", "i i .", false},
		{"i i -", "i i -", false},
		{"i i j", "i i j", false},
		{"i i .", "i i i", false}, // not at one time
		{"i i i", "i i -", false},
		{"i i i", "i i i?", false}, // it is another marker
		{"i - -", "i i! -", true},
		{"i - -", "i j! -", false},
		{"i! . .", "i! . .", false}, // by itself it is not another
	} {
		if got := Completes(sightsOf(c.one), sightsOf(c.two), 0, "I"); got != c.admitted {
			t.Errorf("%s, then %s: %t", c.one, c.two, got)
		}
	}
}
