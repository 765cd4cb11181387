package commands

import (
	"testing"
	"time"
)

func TestTimesToWaitAreReadAsByRedis(t *testing.T) {
	for word, want := range map[string]time.Duration{
		"0": 0, "-0": 0, "1": time.Second, ".25": 250 * time.Millisecond, "+.1": 100 * time.Millisecond, "1e-1": 100 * time.Millisecond,
		"0x10": 16 * time.Second, "0X.8": 500 * time.Millisecond, "0x1p-2": 250 * time.Millisecond, "0.0001": time.Millisecond,
	} {
		if got, text := blockTime(word); got != want || text != "" {
			t.Errorf("%q: %v %s, want %v", word, got, text, want)
		}
	}
	for _, word := range []string{"", " 1", "1 ", "1_0", "0x1_0", "0x", "0x0.2p", "nan", "0,1", "1s"} {
		if got, text := blockTime(word); text != errTimeoutNotFloat {
			t.Errorf("%q: %v %q", word, got, text)
		}
	}
}
