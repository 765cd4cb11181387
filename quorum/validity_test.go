package quorum

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
		if got := pad(c.ttl); got != c.padded {
			t.Errorf("pad(%v) is %v, want %v", c.ttl, got, c.padded)
		}
		if got := unpad(c.ttl); got != c.told {
			t.Errorf("unpad(%v) is %v, want %v", c.ttl, got, c.told)
		}
	}
}

// A key that somebody has given a ttl of 300 years at the masters is there, and stays.
func TestTTLThatNoDurationHoldsIsALongOne(t *testing.T) {
	const years = int64(365 * 24 * time.Hour / ms)
	inWorld(t, 3, func(w *world) {
		now := time.Now()
		for _, n := range []int64{300 * years, 1e15, 9e18} {
			r := undoRecord{expires: n, left: n}
			if lives := r.lives(); lives != longestTTL || !now.Add(lives+drift(lives)).After(now) {
				t.Errorf("what lives for %d ms lives for %v", n, lives)
			}
			var l lefts
			for range 3 {
				l.add(n)
			}
			o := op{said: []said{{typ: "string", left: n}, {typ: "string", left: n}}}
			c := counted(0).voted(0, Granted, false).voted(1, Granted, false)
			if left := o.remaining(c, o.said[0]); left < longestTTL/10*9 {
				t.Errorf("of %d ms, %v is told", n, left)
			}
			if l.open(2, 0) {
				t.Error("it is open how long they live")
			}
		}
		lives := func(args []string) string {
			if args[0] != "EVALSHA" || args[1] != releaseScript.sha {
				return ""
			}
			return integer(300 * years)
		}
		w.each(func(m *fakeMaster) { m.set(func(m *fakeMaster) { m.respond = lives }) }, 1, 2)
		w.down(3)
		w.want(w.release("k", "t"), Won)
		if d := w.engine.lanes[2].status().Debts; d != 1 {
			t.Errorf("%d debts are owed to the one that is down", d)
		}
	})
}

// A master's clock may run fast by the drift while a client counts its ttl.
func TestPaddedLockOutlivesItsTTLOnAFastClock(t *testing.T) {
	for ttl := ms; ttl < 24*time.Hour; ttl = ttl*3/2 + ms {
		lives := time.Duration(float64(milliseconds(pad(ttl))) / 1.0099 * float64(ms))
		if lives < ttl {
			t.Errorf("a lock of %v lives %v on a fast clock", ttl, lives)
		}
	}
}

func TestReaderIsNeverToldMoreThanIsLeft(t *testing.T) {
	for left := time.Duration(0); left < time.Hour; left = left*3/2 + ms {
		if told := unpad(left); told > max(left, ms) || told < ms {
			t.Errorf("of %v left, %v is told", left, told)
		}
		// What was asked for is what can be read back at once, or less.
		if told := unpad(pad(left)); told > max(left, ms) {
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
		if got := patience(c.timeout, c.ttl); got != c.want {
			t.Errorf("patience(%v, %v) is %v, want %v", c.timeout, c.ttl, got, c.want)
		}
	}
}

func TestMillisecondsAreRoundedUp(t *testing.T) {
	for d, want := range map[time.Duration]int64{
		0: 1, 1: 1, ms: 1, ms + 1: 2, 1500 * time.Microsecond: 2, time.Second: 1000,
	} {
		if got := milliseconds(d); got != want {
			t.Errorf("%v is %d ms, want %d", d, got, want)
		}
	}
}
