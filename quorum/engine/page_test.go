package engine

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"redlock-proxy/quorum"
	"redlock-proxy/quorum/catchup"
	"redlock-proxy/quorum/master"
)

// longNames has all masters hold keys with names so long.
func (w *world) longNames(n, long int) {
	name := strings.Repeat("k", long)
	for i := range n {
		w.sets(fmt.Sprint(name, i), "v", time.Hour, 1, 2, 3)
	}
}

// Two masters forget, one after the other, and the lock that both had voted for outlives
// max-ttl: whatever else is held, each of them is given it.
func TestKeysWithLongNamesEndNoCatchUp(t *testing.T) {
	notInstrumented(t)
	for _, long := range []int{64 << 10, 1 << 20} {
		t.Run(fmt.Sprint(long), func(t *testing.T) {
			inWorld(t, 3, func(w *world) {
				w.longNames(12<<20/long, long)
				w.want(w.acquire("lock", "a", time.Hour), quorum.Won)
				w.settle()
				for _, number := range []int{1, 2} {
					w.lose(number)
					w.votesWithin(number, 3*time.Second)
					w.wantValues("lock", "a", "a", "a")
				}
				w.want(w.acquire("lock", "b", time.Second), quorum.Contended)
				w.laid()
				for i, m := range w.masters {
					if strings.Contains(m.value(quorum.MarkerKey), `"ghosts":true`) {
						t.Errorf("master %d has not been looked at", i+1)
					}
				}
			}, func(c *Config) { c.Memory = 1 })
		})
	}
}

// A page is as long as there is room for, whatever is asked for.
func TestAPageOfLongNamesEndsSooner(t *testing.T) {
	inWorld(t, 3, func(w *world) {
		const n = 150
		w.longNames(n, 64<<10)
		named := make(map[string]bool)
		for cursor, more := "0", true; more; more = cursor != "0" {
			r := w.survey(2, "SCAN", cursor, "COUNT", "1000")
			if w.want(r, quorum.Won); len(r.Answers[1].Reply.Elems) != 2 {
				t.Fatalf("%.200v", r.Answers[1].Reply)
			}
			page := r.Answers[1].Reply.Elems
			if n := len(page[1].Elems); n > 30 {
				t.Errorf("a page has %d keys", n)
			}
			for _, key := range page[1].Elems {
				named[key.Str] = true
			}
			cursor = page[0].Str
		}
		if len(named) != n+1 {
			t.Errorf("%d keys were named of %d and the marker", len(named), n)
		}
	}, func(c *Config) { c.Memory = 1 })
}

// A key that there is no room for is not given back; all others are. The master that lost it
// votes again when it can be nobody's any more that was asked for within max-ttl.
func TestAValueThatThereIsNoRoomForKeepsNoOtherFromBeingCopied(t *testing.T) {
	inWorld(t, 3, func(w *world) {
		w.sets("huge", strings.Repeat("v", 2*master.LeastRoom+1), time.Hour, 1, 2, 3)
		for i := range 2 {
			w.sets(fmt.Sprint("long", i), strings.Repeat("v", master.LeastRoom/4), time.Hour, 1, 2, 3)
		}
		w.fill(10)
		w.want(w.acquire("lock", "a", time.Hour), quorum.Won)
		w.settle()
		w.lose(1)
		w.votesNotWithin(1, w.cfg.MaxTTL-2*time.Second)
		w.wantValues("lock", "a", "a", "a")
		w.wantValues("fill7", "7", "7", "7")
		w.votesWithin(1, 5*time.Second)
		for i := range 2 {
			if key := fmt.Sprint("long", i); len(w.masters[0].value(key)) != master.LeastRoom/4 {
				t.Errorf("%s is missing", key)
			}
		}
	}, func(c *Config) { c.Memory, c.MaxTTL = 1, 5*time.Second })
}

// What clients have read and not taken yet is no reason why a master cannot be read.
func TestClientsThatReadLeaveRoomForACatchUp(t *testing.T) {
	inWorld(t, 3, func(w *world) {
		w.fill(catchup.PageKeys)
		w.want(w.acquire("lock", "a", time.Hour), quorum.Won)
		for i := range w.engine.zero.Masters {
			r := &w.engine.zero.Masters[i].Rooms.Replies
			r.Add(int(r.Most))
			defer r.Add(-int(r.Most))
		}
		w.lose(1)
		w.votesWithin(1, 3*time.Second)
		w.wantValues("lock", "a", "a", "a")
	}, func(c *Config) { c.Memory = 1 })
}
