package registry

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"
)

// TestEveryLookSeesAllThatWasNoted, in its order: beside a map that is told the same.
func TestEveryLookSeesAllThatWasNoted(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	r := New(DefaultLocks)
	type state struct {
		what       What
		extensions int
	}
	known := make(map[string]state)
	for i := range 50_000 {
		key := fmt.Sprint(rnd.IntN(300))
		a := granted(key, "t", alice, time.Duration(i)*ms)
		a.What = []What{Granted, Extended, Released, Refused, NotHeld, Failed}[rnd.IntN(6)]
		was := known[key]
		switch a.What {
		case Granted:
			known[key] = state{what: Granted}
		case Released:
			if was.what != 0 {
				known[key] = state{Released, was.extensions}
			}
		case Extended:
			switch was.what {
			case Granted, Extended:
				known[key] = state{was.what, was.extensions + 1}
			default:
				known[key] = state{Extended, 1}
			}
		}
		r.Note(a)
		look := fmt.Sprint(rnd.IntN(300))
		h, ok := r.Last(0, look)
		if want := known[look]; ok != (want.what != 0) || h.What != want.what || h.Extensions != want.extensions {
			t.Fatalf("step %d, %s: %+v, want %+v", i, look, h, want)
		}
	}
}

func TestManyMayNoteAndLookAtATime(t *testing.T) {
	r := New(DefaultLocks)
	var all sync.WaitGroup
	for g := range 8 {
		all.Go(func() {
			for i := range 5000 {
				r.Note(granted(fmt.Sprint(g, " ", i), "t", alice, time.Duration(i)*ms))
				r.Note(refused(fmt.Sprint(i%50), "t", bob, time.Duration(i)*ms))
				if _, ok := r.Last(0, fmt.Sprint(g, " ", i)); !ok {
					t.Error("what was noted is not known")
				}
				if i%1000 == 0 {
					r.Hottest(5, time.Duration(i)*ms)
				}
			}
		})
	}
	all.Wait()
	if n := r.Held(6 * second); n < 39_000 { // of 40,000, of which a full bucket may have lost some
		t.Errorf("%d are held", n)
	}
}
