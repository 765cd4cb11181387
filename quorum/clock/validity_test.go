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

// What a key was padded by is taken off where it is known, as long as the key ends when it should.
func TestPaddingIsTakenOffWhereTheTTLIsKnown(t *testing.T) {
	const ttl = 30 * time.Second // and 302 ms
	for name, c := range map[string]struct{ remaining, ttl, counted, want time.Duration }{
		"at once":                                   {30302 * ms, ttl, ttl, ttl},
		"in the middle":                             {15302 * ms, ttl, 15 * time.Second, 15 * time.Second},
		"at the end":                                {303 * ms, ttl, ms, ms},
		"over by a millisecond":                     {301 * ms, ttl, -ms, -ms},
		"over by almost all":                        {ms, ttl, -301 * ms, -301 * ms},
		"asked a moment later than counted":         {301 * ms, ttl, 99 * ms, -ms},
		"extended by what is rounded":               {403 * ms, ttl, 0, 101 * ms},
		"extended by a second elsewhere":            {1302 * ms, ttl, 0, Unpad(1302 * ms)},
		"made to end sooner elsewhere":              {5052 * ms, ttl, 20 * time.Second, Unpad(5052 * ms)},
		"taken for less elsewhere when it was over": {50 * ms, ttl, -20 * ms, Unpad(50 * ms)},
		"not known":                                 {301 * ms, 0, 0, Unpad(301 * ms)},
	} {
		if got := Left(c.remaining, c.ttl, c.counted); got != c.want {
			t.Errorf("%s: of %v there is %v left, want %v", name, c.remaining, got, c.want)
		}
	}
}

func TestExpiryTellsWhatWasAsked(t *testing.T) {
	for ttl := ms; ttl < 24*time.Hour; ttl = ttl*3/2 + ms {
		told := Asked(time.Duration(Milliseconds(Pad(ttl))) * ms)
		if told < ttl || told > ttl+ms {
			t.Errorf("of %v, %v is said to have been asked", ttl, told)
		}
	}
	if Asked(ms) != 0 {
		t.Error("what is no padded ttl is some other")
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
