package clock

import "time"

// What a ttl becomes on the masters, and how long a decision about it may take.

// Drift is the allowance for clocks that do not run alike, over a span of time:
// one per cent of it and 2 ms for the masters' coarse expiry. It is Redlock's
// own figure.
func Drift(d time.Duration) time.Duration {
	return d/100 + 2*time.Millisecond
}

// Pad is the expiry that the masters get for a client's ttl. The allowance for
// the clocks is the proxy's to pay: a client that counts its ttl from when it
// sent the command, as every client of a single Redis does, is then right.
func Pad(ttl time.Duration) time.Duration {
	return ttl + Drift(ttl)
}

// Unpad is what a client is told of a remaining ttl: never more than it may
// rely on, and at least 1 ms, since the key is still there.
func Unpad(remaining time.Duration) time.Duration {
	return max(remaining-Drift(remaining), time.Millisecond)
}

// LongestTTL is the longest that is told of a ttl. A master may hold a key for longer than a
// Duration can be, which a command that did not pass here has set; what is added to this
// one, drift and time of day, still fits.
const LongestTTL = 200 * 365 * 24 * time.Hour

// OfMilliseconds is a ttl as a master tells it, or LongestTTL if that is less.
func OfMilliseconds(n int64) time.Duration {
	return time.Duration(min(n, int64(LongestTTL/time.Millisecond))) * time.Millisecond
}

// Patience is how long a decision on a request with this ttl may take: the
// acquire-timeout, and never more than half of the ttl, so that a lock that is
// won is worth having. ttl 0 is none.
func Patience(acquireTimeout, ttl time.Duration) time.Duration {
	if ttl > 0 && ttl/2 < acquireTimeout {
		return ttl / 2
	}
	return acquireTimeout
}

// Milliseconds is a duration as the masters get it: rounded up, so that no
// lock lives shorter than was asked, and at least 1.
func Milliseconds(d time.Duration) int64 {
	return max(int64((d+time.Millisecond-1)/time.Millisecond), 1)
}
