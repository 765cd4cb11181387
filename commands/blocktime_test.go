package commands

import (
	"strings"
	"testing"
	"time"
)

func TestTimesToWaitAreReadAsByRedis(t *testing.T) {
	for word, want := range map[string]time.Duration{
		"0": 0, "-0": 0, "1": time.Second, ".25": 250 * time.Millisecond, "+.1": 100 * time.Millisecond, "1e-1": 100 * time.Millisecond,
		"0x10": 16 * time.Second, "0X.8": 500 * time.Millisecond, "0x1p-2": 250 * time.Millisecond, "0.0001": time.Millisecond,
		"1e-400": time.Millisecond, "0x1p-1080": time.Millisecond, "1.9e-4951": time.Millisecond, "0x1.8p-16446": time.Millisecond, // some, to Redis
		"-1e-400": 0, "-.0009": 0, "-.001": 0, "0e99999999999999999999": 0, "0x.0p-99999": 0, "-0x00": 0,
		"1e9": 1e9 * time.Second, "9223372036854775": 0, "9223372036854775.807": 0, "0x20c49ba5e353f7": 0,
		strings.Repeat("0", 5119): 0, strings.Repeat("0", 5100) + ".001": time.Millisecond,
	} {
		if got, text := blockTime(word); got != want || text != "" {
			t.Errorf("%q: %v %s, want %v", word, got, text, want)
		}
	}
	for text, words := range map[string][]string{
		errTimeoutNotFloat: {
			"", " 1", "1 ", "1_0", "0x1_0", "0x", "0x0.2p", "nan", "nan(1)", "0,1", "1s", "0b1", "0o1", ".", "0x.p1", "1e", "1\x00", "infinit",
			"1e-5000", "-1e-5000", "1.8e-4951", "0x1p-16446", "1e-99999999999999999999",
			"1e5000", "-1e5000", "1.19e4932", "0x1p16384", "0x1.ffffffffffffffffp16383", "1e99999999999999999999", strings.Repeat("0", 5120),
		},
		errTimeoutRange:    {"inf", "+Infinity", "1e300", "1e400", "1.18e4932", "0x1.fffffffffffffffep16383", "9223372036854775.8075", "9223372036854776"},
		errTimeoutNegative: {"-.0010001", "-1", "-1e400", "-inf", "-9223372036854776"},
	} {
		for _, word := range words {
			if got, is := blockTime(word); is != text {
				t.Errorf("%q: %v %q, want %q", word, got, is, text)
			}
		}
	}
}
