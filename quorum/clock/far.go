package clock

import "time"

// A ttl of more than 200 years is far: a Duration cannot count what would be added to it. It is none to
// whatever is worked out here, and what is to be taken back is taken for one that never ends. The masters
// are given it as it is, without an allowance for clocks, and what they tell of it is told.

const (
	// FarFrom is from where masters' milliseconds are of a far ttl: no other one comes to that with
	// its allowance.
	FarFrom int64 = 6_400_000_000_000

	leastFar int64 = 6_500_000_000_000     // 206 years, so that it is not soon near
	Farthest int64 = 9_999_999_999_999_998 // three hundred thousand years: what Lua can count, and fits any clock
)

// Far is a ttl in milliseconds as the masters get it, 0 if it is not far.
func Far(ms int64) int64 {
	if ms <= int64(LongestTTL/time.Millisecond) {
		return 0
	}
	return min(max(ms, leastFar), Farthest)
}
