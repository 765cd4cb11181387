package main

import (
	"math/rand/v2"
	"testing"
	"time"

	"redlock-proxy/integration/nemesis/lease"
)

// holder is a client that believes to hold k for the time given.
func holder(dir string, id int, d time.Duration, seen *history) *hold {
	w := &worker{caller: caller{id: id, random: rand.New(rand.NewPCG(1, uint64(id))), seen: seen}, dir: dir}
	return &hold{worker: w, key: "k", token: "t", ttl: d, until: now().After(d)}
}

func TestUpdatesOfOneHolderAfterTheOtherDoNotClash(t *testing.T) {
	dir, seen := t.TempDir(), &history{}
	for id := range 20 {
		must(t, holder(dir, id, time.Hour, seen).update(time.Millisecond))
	}
	if len(seen.Updates) != 20 || lease.Late(seen.Updates) != 0 {
		t.Fatalf("%d updates, %d late", len(seen.Updates), lease.Late(seen.Updates))
	}
	if c := lease.Clashes(seen.Updates); len(c) > 0 {
		t.Error(c)
	}
	for i, u := range seen.Updates[1:] {
		if u.Found != seen.Updates[i].Wrote {
			t.Fatalf("update %d found %x and not what the one before it wrote", i+1, u.Found)
		}
	}
}

func TestUpdatesOfTwoHoldersClash(t *testing.T) {
	dir := t.TempDir()
	var one, other history
	done := make(chan error)
	go func() {
		h := holder(dir, 1, time.Hour, &one)
		for range 50 {
			if err := h.update(time.Millisecond); err != nil {
				done <- err
				return
			}
		}
		done <- nil
	}()
	h := holder(dir, 2, time.Hour, &other)
	for range 50 {
		must(t, h.update(time.Millisecond))
	}
	must(t, <-done)
	one.add(other)
	if len(lease.Clashes(one.Updates)) == 0 {
		t.Error("two at once updated 100 times, and none was lost")
	}
}

func TestClientWhoseTimeIsUpWritesNothing(t *testing.T) {
	seen := &history{}
	must(t, holder(t.TempDir(), 1, slack, seen).update(time.Millisecond))
	if len(seen.Updates) > 0 {
		t.Error(seen.Updates)
	}
}
