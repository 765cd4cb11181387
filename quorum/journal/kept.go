package journal

import (
	"crypto/sha1"
	"sync"
	"time"
)

// A master keeps every script that it has ever run, and a client may think of as many as it
// likes. So what is asked for seldom is given to one constant script as an argument, which
// takes a master somewhat longer and leaves nothing there. What is asked for often becomes a
// script of its own, as long as there are not too many of these.

const (
	// oftenCalls within oftenSpan are often.
	oftenCalls = 4
	oftenSpan  = time.Minute

	// maxOften and maxOftenBytes bound what one proxy has the masters keep. On a master a
	// script takes some three times as much as its text.
	maxOften      = 400
	maxOftenBytes = 8 << 20
)

// keeping is what the masters were made to keep.
var keeping struct {
	mu    sync.Mutex
	sums  map[[sha1.Size]byte]struct{}
	bytes int
}

// mayKeep tells that the masters may keep one more script, or have it already. Once its
// length is known it counts as one that they keep.
func mayKeep(sum [sha1.Size]byte, length int) bool {
	keeping.mu.Lock()
	defer keeping.mu.Unlock()
	if _, there := keeping.sums[sum]; there {
		return true
	}
	if len(keeping.sums) >= maxOften || keeping.bytes+max(length, 1) > maxOftenBytes {
		return false
	}
	if length == 0 {
		return true
	}
	if keeping.sums == nil {
		keeping.sums = make(map[[sha1.Size]byte]struct{})
	}
	keeping.sums[sum] = struct{}{}
	keeping.bytes += length
	return true
}
