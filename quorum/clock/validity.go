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

// Asked is the ttl of which an expiry is the padded one.
func Asked(padded time.Duration) time.Duration {
	return max(padded-2*time.Millisecond, 0) * 100 / 101
}

// Unpad is what a client is told of a remaining ttl: never more than it may
// rely on, and at least 1 ms, since the key is still there.
func Unpad(remaining time.Duration) time.Duration {
	return max(remaining-Drift(remaining), time.Millisecond)
}

// vague is how far a key's end may be from where it was put: a command is on its way for a while, and
// an extension may move it by 101 ms more or less than was asked for.
const vague = 200 * time.Millisecond

// Left is what is left of a ttl as its client counts it, where masters say that remaining is: less than
// zero when it is over. By what a key was padded only the ttl tells that was asked for, and masters do not
// know that. If it is known, and that so much was left of it by its client's count, the padding is taken
// off. Else, as where that does not fit since the key was given another ttl through another proxy, it is
// Unpad: which hides nothing that its client counts on, and at the end of a ttl tells one per cent of it
// too much.
func Left(remaining, ttl, counted time.Duration) time.Duration {
	padding := Drift(ttl)
	if ttl == 0 || (remaining-counted-padding).Abs() > vague {
		return Unpad(remaining)
	}
	return remaining - padding
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
