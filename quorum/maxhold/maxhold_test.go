package maxhold

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"redlock-proxy/quorum"
)

// What is remembered by name does not grow with the names.
func TestLocksOfLongNamesAreNotAllRemembered(t *testing.T) {
	now, long := time.Now(), strings.Repeat("k", 1<<20)
	h := New(time.Hour, 0)
	for i := range 100 {
		h.Begin(&quorum.Request{Key: fmt.Sprint(long, i), Token: "t"}, time.Minute, now)
	}
	if h.bytes > maxHoldBytes || len(h.byKey) < 10 {
		t.Errorf("%d locks of %d bytes are remembered", len(h.byKey), h.bytes)
	}
	for key := range h.byKey {
		h.End(&quorum.Request{Kind: quorum.Remove, Key: key})
	}
	if h.bytes != 0 {
		t.Errorf("%d bytes are counted of nothing", h.bytes)
	}
}

// Where there is room for no more, and none has run out, one more costs about as much as any.
func TestOneMoreLockThanCanBeRememberedIsNotLookedForAmongAll(t *testing.T) {
	now := time.Now()
	h := New(time.Hour, 0)
	n := 0
	begin := func(count int) {
		for range count {
			n++
			h.Begin(&quorum.Request{Key: fmt.Sprint("k", n), Token: "t"}, time.Hour, now)
		}
	}
	quickest := func() time.Duration { // of some hundreds: what else the machine does falls on a few
		least := time.Hour
		for range 10 {
			began := time.Now()
			begin(100)
			least = min(least, time.Since(began))
		}
		return least
	}
	few := quickest()
	begin(maxHolds)
	if full := quickest(); full > 100*few {
		t.Errorf("a hundred locks take %v, and where there is room for no more %v", few, full)
	}
	if len(h.byKey) != maxHolds {
		t.Errorf("%d locks are remembered", len(h.byKey))
	}
}
