package dump

import (
	"fmt"
	"strings"
	"testing"
)

func TestWhatAQuorumHasIsMerged(t *testing.T) {
	for _, c := range []struct {
		kind  byte
		lists [3]string
		want  string
	}{
		{ofList, [3]string{"a b", "a b", "b"}, "a b"},
		{ofList, [3]string{"a b c", "b c d", "a c d"}, "a b c d"},
		{ofList, [3]string{"e1", "", "e0"}, ""},
		{ofList, [3]string{"a a b", "a b", "a a"}, "a a b"},
		{ofList, [3]string{"x b", "y a b", "a b"}, "a b"},
		{ofList, [3]string{"b", "c a", "c a b"}, "c a b"},
		{ofList, [3]string{"p q r", "a s", "t a"}, "a"},
		{ofList, [3]string{"c b", "a", "c b a"}, "c b a"},
		{ofList, [3]string{"a", "c b", "c b a"}, "c b a"},
		{ofList, [3]string{"c b a", "c b", "a"}, "c b a"},
		{ofList, [3]string{"a b c", "b c a", "b c a y"}, "b c a"},
		{ofList, [3]string{"b c a", "a b c", "b c a y"}, "b c a"},
		{ofSet, [3]string{"a b", "b c", "c d"}, "b c"},
		{ofHash, [3]string{"f 1 g 2", "f 1 g 3", "g 3 h 4"}, "f 1 g 3"},
		{ofHash, [3]string{"f 1", "g 2", "h 3"}, ""},
		{ofZset, [3]string{"a 1 b 2.5", "b 2.5 a 2", "a 1"}, "a 1 b 2.5"},
		{ofZset, [3]string{"a +Inf", "a +Inf", ""}, "a +Inf"},
	} {
		var dumps []string
		for _, list := range c.lists {
			dumps = append(dumps, plain(c.kind, strings.Fields(list)))
		}
		merged, ok := Merged(dumps, 2)
		if want := plain(c.kind, strings.Fields(c.want)); !ok || Contents(merged) != Contents(want) {
			t.Errorf("%c, %q: %v, %q, want %q", c.kind, c.lists, ok, Contents(merged), Contents(want))
		}
	}
}

func TestWhatHasNoElementsIsNotMerged(t *testing.T) {
	field, member := func(v string) string { return plain(ofHash, []string{"f", v, "g", "1"}) }, func(v string) string { return plain(ofZset, []string{"m", v}) }
	element := func(v string) string { return plain(ofList, []string{"x", v}) }
	list, set := plain(ofList, []string{"a"}), plain(ofSet, []string{"a"})
	text := ended([]byte("\x00\x01a"))
	for _, dumps := range [][]string{{"", "", ""}, {list, set, ""}, {text, text, text}, {text, list, text}, {list, text, ""}, {list, "?", list}, {list, list[:5], list},
		{field("1"), field("2"), field("3")}, {member("1"), member("2"), ""}, {element("1"), element("2"), element("3")}} {
		if merged, ok := Merged(dumps, 2); ok {
			t.Errorf("%q: %q", dumps, merged)
		}
	}
}

func TestWhatIsOfAnotherTypeThanAQuorumHasIsNone(t *testing.T) {
	one, two, set := plain(ofList, []string{"a", "b"}), plain(ofList, []string{"a"}), plain(ofSet, []string{"a", "x"})
	for _, dumps := range [][]string{{one, set, two}, {set, one, two}, {one, two, ended([]byte("\x00\x01a"))}} {
		if merged, ok := Merged(dumps, 2); !ok || Contents(merged) != Contents(two) {
			t.Errorf("%q: %v, %q", dumps, ok, Contents(merged))
		}
	}
}

// Masters of any version read what is merged of theirs.
func TestMergedIsReadByMasters(t *testing.T) {
	for what, dumps := range dumpsOf(t) {
		merged, ok := Merged([]string{dumps[0], dumps[0], ""}, 2)
		kind, _ := elements(dumps[0])
		if is := kind != unknown && kind != ofString; ok != is || is && Contents(merged) != Contents(dumps[0]) {
			t.Errorf("%s: %v, %s, of %s", what, ok, fmt.Sprintf("%.60q", Contents(merged)), fmt.Sprintf("%.60q", Contents(dumps[0])))
		}
	}
}
