package commands

import (
	"math"
	"strconv"
	"strings"
	"time"
)

// parseInt reads an integer as strictly as Redis does: no plus sign, no blanks,
// no leading zeros, no minus zero.
func parseInt(s string) (int64, bool) {
	digits := strings.TrimPrefix(s, "-")
	if digits == "" || digits[0] < '0' || digits[0] > '9' || digits[0] == '0' && s != "0" {
		return 0, false
	}
	n, err := strconv.ParseInt(s, 10, 64)
	return n, err == nil
}

// leadingInt is the integer that s begins with, as atoi reads it: 0 if there is none.
func leadingInt(s string) int64 {
	s = strings.TrimLeft(s, " \t\n\v\f\r")
	end := 0
	for end < len(s) && (s[end] >= '0' && s[end] <= '9' || end == 0 && (s[0] == '-' || s[0] == '+')) {
		end++
	}
	n, _ := strconv.ParseInt(s[:end], 10, 64)
	return n
}

const (
	// Where Redis adds the present time to a ttl it looks for an overflow. While that is not
	// known it is taken for this.
	presentMillis = 1767225600000 // 2026-01-01

	// A longer ttl than that is told by its milliseconds, as Request.Far: a time.Duration cannot count
	// it. Some clients mean "for ever" by a thousand years.
	longestTTL = 200 * 365 * 24 * time.Hour
)

// expiry is a client's word on when a key is to end, in milliseconds: a ttl, or a
// Unix time if absolute.
type expiry struct {
	millis   int64
	absolute bool
}

// newExpiry makes an expiry of n units. It is false where Redis would overflow.
func (d *Dialect) newExpiry(n int64, unit time.Duration, absolute bool) (expiry, bool) {
	perUnit := int64(unit / time.Millisecond)
	if n > math.MaxInt64/perUnit || n < math.MinInt64/perUnit {
		return expiry{}, false
	}
	n *= perUnit
	if !absolute && n > math.MaxInt64/2 && n > math.MaxInt64-d.present() {
		return expiry{}, false
	}
	return expiry{millis: n, absolute: absolute}, true
}

// present is the time in milliseconds, as far as it is known.
func (d *Dialect) present() int64 {
	if d.options.Now != nil {
		if now, known := d.options.Now(); known {
			return now.UnixMilli()
		}
	}
	return presentMillis
}

// past tells whether the end is certainly over: an absolute time later than the
// epoch takes the masters' clocks to judge.
func (e expiry) past() bool { return e.millis <= 0 }

// ttl is the expiry as Request.TTL, zero if it is absolute or far; far as Request.Far, and at as
// Request.At.
func (e expiry) ttl() time.Duration {
	if e.absolute || e.far() > 0 {
		return 0
	}
	return time.Duration(e.millis) * time.Millisecond
}

func (e expiry) far() int64 {
	if e.absolute || e.millis <= int64(longestTTL/time.Millisecond) {
		return 0
	}
	return e.millis
}

func (e expiry) at() int64 {
	if !e.absolute {
		return 0
	}
	return e.millis
}

// allowTTL is the error that the option over-max-ttl has for this expiry, or "".
func (d *Dialect) allowTTL(e expiry) string {
	if !d.options.RefuseOverMaxTTL {
		return ""
	}
	left := e.ttl()
	if e.absolute {
		if d.options.Now == nil {
			return ""
		}
		now, known := d.options.Now()
		if !known {
			return errNoTime
		}
		left = time.UnixMilli(e.at()).Sub(now)
	}
	if left > d.options.MaxTTL || e.far() > 0 {
		return tooLong(d.options.MaxTTL)
	}
	return ""
}

// allowNoTTL is the error that the option over-max-ttl has for a key without a
// ttl, or "".
func (d *Dialect) allowNoTTL() string {
	if d.options.RefuseOverMaxTTL {
		return noTTL(d.options.MaxTTL)
	}
	return ""
}
