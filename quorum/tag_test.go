package quorum

import "testing"

func TestTagIsWhatRedisClusterTakesForOne(t *testing.T) {
	for key, want := range map[string]string{
		"":            "",
		"k":           "k",
		"{k}":         "k",
		"a{k}b":       "k",
		"{k}:{other}": "k",
		"{{k}}":       "{k",
		"a}b{k}":      "k",
		"{":           "{",
		"}":           "}",
		"{}":          "{}",
		"a{}b{c}":     "a{}b{c}", // the first pair alone counts, and an empty one is none
		"{k":          "{k",
		"}{":          "}{",
		"k}":          "k}",
		"{ }":         " ",
		"{\x00}\xff":  "\x00",
	} {
		if got := Tag(key); got != want {
			t.Errorf("the tag of %q is %q, want %q", key, got, want)
		}
	}
}
