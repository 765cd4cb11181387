package clock

import (
	"testing"
	"time"
)

const ms = time.Millisecond

func TestExpiryIsPaddedByTheDrift(t *testing.T) {
	for _, c := range []struct{ ttl, padded, told time.Duration }{
		{1 * ms, 3010 * time.Microsecond, 1 * ms},
		{100 * ms, 103 * ms, 97 * ms},
		{30 * time.Second, 30302 * ms, 29698 * ms},
		{time.Hour, time.Hour + 36*time.Second + 2*ms, time.Hour - 36*time.Second - 2*ms},
	} {
		if got := Pad(c.ttl); got != c.padded {
			t.Errorf("pad(%v) is %v, want %v", c.ttl, got, c.padded)
		}
		if got := Unpad(c.ttl); got != c.told {
			t.Errorf("unpad(%v) is %v, want %v", c.ttl, got, c.told)
		}
	}
}

// A master's clock may run fast by the drift while a client counts its ttl.
func TestPaddedLockOutlivesItsTTLOnAFastClock(t *testing.T) {
	for ttl := ms; ttl < 24*time.Hour; ttl = ttl*3/2 + ms {
		lives := time.Duration(float64(Milliseconds(Pad(ttl))) / 1.0099 * float64(ms))
		if lives < ttl {
			t.Errorf("a lock of %v lives %v on a fast clock", ttl, lives)
		}
	}
}

func TestReaderIsNeverToldMoreThanIsLeft(t *testing.T) {
	for left := time.Duration(0); left < time.Hour; left = left*3/2 + ms {
		if told := Unpad(left); told > max(left, ms) || told < ms {
			t.Errorf("of %v left, %v is told", left, told)
		}
		// What was asked for is what can be read back at once, or less.
		if told := Unpad(Pad(left)); told > max(left, ms) {
			t.Errorf("of a ttl of %v, %v is told", left, told)
		}
	}
}

func TestDecisionTakesNoMoreThanHalfOfTheTTL(t *testing.T) {
	for _, c := range []struct{ timeout, ttl, want time.Duration }{
		{250 * ms, 0, 250 * ms},
		{250 * ms, time.Minute, 250 * ms},
		{250 * ms, 500 * ms, 250 * ms},
		{250 * ms, 499 * ms, 249500 * time.Microsecond},
		{250 * ms, 10 * ms, 5 * ms},
		{250 * ms, 1 * ms, 500 * time.Microsecond},
	} {
		if got := Patience(c.timeout, c.ttl); got != c.want {
			t.Errorf("patience(%v, %v) is %v, want %v", c.timeout, c.ttl, got, c.want)
		}
	}
}

func TestMillisecondsAreRoundedUp(t *testing.T) {
	for d, want := range map[time.Duration]int64{
		0: 1, 1: 1, ms: 1, ms + 1: 2, 1500 * time.Microsecond: 2, time.Second: 1000,
	} {
		if got := Milliseconds(d); got != want {
			t.Errorf("%v is %d ms, want %d", d, got, want)
		}
	}
}
