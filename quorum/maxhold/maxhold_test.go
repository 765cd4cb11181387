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
	begin := func(count int) time.Duration {
		began := time.Now()
		for range count {
			n++
			h.Begin(&quorum.Request{Key: fmt.Sprint("k", n), Token: "t"}, time.Hour, now)
		}
		return time.Since(began)
	}
	few := begin(1000)
	begin(maxHolds)
	if full := begin(1000); full > 100*few {
		t.Errorf("a thousand locks take %v, and where there is room for no more %v", few, full)
	}
	if len(h.byKey) != maxHolds {
		t.Errorf("%d locks are remembered", len(h.byKey))
	}
}
