package quota

import (
	"strings"
	"testing"
)

func TestWordsOfLimits(t *testing.T) {
	for words, want := range map[string]string{
		"max-ttl=30s":                        "max-ttl=30s",
		"max-ttl=90s max-locks=3":            "max-ttl=1m30s max-locks=3",
		"max-ttl=60s":                        "max-ttl=1m",
		"max-ttl=24h":                        "max-ttl=24h",
		"max-ttl=10s":                        "max-ttl=10s",
		"max-rate=1000 max-locks=1":          "max-locks=1 max-rate=1000",
		"max-locks=3 max-locks=0 max-rate=0": "",
		"max-ttl=5s max-ttl=0":               "",
		"max-ttl=1ms":                        "max-ttl=1ms",
	} {
		var l, again Limits
		for _, word := range strings.Fields(words) {
			if err := l.Set(word); err != nil {
				t.Errorf("%s: %v", word, err)
			}
		}
		if got := strings.Join(l.Words(), " "); got != want {
			t.Errorf("%s is %q, want %q", words, got, want)
		}
		for _, word := range l.Words() {
			if err := again.Set(word); err != nil {
				t.Errorf("%s: %v", word, err)
			}
		}
		if again != l {
			t.Errorf("%s is read again as %v, was %v", words, again, l)
		}
	}
}

func TestWordsThatAreNoLimits(t *testing.T) {
	const ttl = "max-ttl takes a duration such as 30s, from 1ms, or 0 for none"
	const locks = "max-locks takes a number from 1 to 10000, or 0 for none"
	for word, want := range map[string]string{
		"max-ttl":         ttl,
		"max-ttl=":        ttl,
		"max-ttl=30":      ttl,
		"max-ttl=-1s":     ttl,
		"max-ttl=1us":     ttl,
		"max-ttl=999999h": ttl,
		"max-locks=x":     locks,
		"max-locks=-1":    locks,
		"max-locks=10001": locks,
		"max-rate=1e3":    "max-rate takes a number from 1 to 1000000, or 0 for none",
		"max-memory=1":    "there are max-ttl=DURATION, max-locks=NUMBER and max-rate=NUMBER",
		"max-":            "there are max-ttl=DURATION, max-locks=NUMBER and max-rate=NUMBER",
	} {
		l := Limits{TTL: 7, Locks: 7, Rate: 7}
		if err := l.Set(word); err == nil || err.Error() != want || l != (Limits{7, 7, 7}) {
			t.Errorf("%s: %v, %v; want %s", word, err, l, want)
		}
	}
}
