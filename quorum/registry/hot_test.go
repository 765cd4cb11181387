package registry

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"redlock-proxy/quorum"
)

func TestKeysThatAreFoughtForMostAreKnown(t *testing.T) {
	r := New(64)
	now := time.Duration(0)
	for i := range 20_000 {
		now += ms
		r.Note(refused("hot", "t", bob, now))
		r.Note(refused(fmt.Sprint("cold", i), "t", alice, now))
	}
	list, waiters := r.Hottest(10, now)
	if len(list) != 10 || list[0].Key != "hot" || list[0].Refusals != 20_000 || list[0].Lately() != 20_000 {
		t.Fatalf("%d, %+v", len(list), list[0])
	}
	if waiters != shards*topKeys { // alice and bob each want one that nobody gets
		t.Errorf("%d wait", waiters)
	}
	if n := list[0].PerSecond[Seconds-2]; n != 1000 {
		t.Errorf("%d in a second", n)
	}
	w := list[0].Wanting
	if len(w) != 1 || w[0].By.ID != bob.ID || w[0].Times != 20_000 || w[0].Every() != ms {
		t.Errorf("%+v", w)
	}
	if list, _ := r.Hottest(10, now+2*time.Minute); len(list) != 0 {
		t.Errorf("%d are fought for when nobody asks any more", len(list))
	}
}

func TestWhoGetsItWantsItNoMore(t *testing.T) {
	r := New(64)
	r.Note(granted("k", "t", alice, 0))
	r.Note(refused("k", "u", bob, second))
	r.Note(&Act{What: Released, Key: "k", Signs: SignedBy("t"), At: 2 * second, By: alice})
	r.Note(granted("k", "u", bob, 3*second))
	h, ok := r.Hot(0, "k", 3*second)
	if !ok || len(h.Wanting) != 0 {
		t.Fatalf("%v, %+v", ok, h.Wanting)
	}
	var list []What
	for _, a := range h.Attempts {
		list = append(list, a.What)
	}
	if fmt.Sprint(list) != "[granted released refused]" {
		t.Errorf("%v", list)
	}
	if last, _ := r.Last(0, "k"); last.Refusals != 0 {
		t.Errorf("a new holder has had %d refused", last.Refusals)
	}
}

func TestAttemptsAreTheLatestAndAlikeOnesAreOne(t *testing.T) {
	r := New(64)
	for i := range 100 {
		r.Note(refused("k", "u", bob, time.Duration(i)*second))
	}
	for i := range 100 {
		by := &Origin{ID: int64(10 + i%2)}
		a := refused("k", "u", by, time.Duration(100+i)*second)
		a.Votes = quorum.Votes(quorum.Refused)
		r.Note(a)
	}
	h, _ := r.Hot(0, "k", 200*second)
	if len(h.Attempts) != maxAttempts || h.Attempts[0].At != 199*second || h.Attempts[0].Votes.Of(0) != quorum.Refused || h.Attempts[0].Votes.Of(1) != 0 {
		t.Errorf("%d, %+v", len(h.Attempts), h.Attempts[0])
	}
	r.Note(&Act{What: Failed, Key: "n", Why: "NOQUORUM", At: second, By: bob})
	if h, ok := r.Hot(0, "n", second); !ok || h.Attempts[0].Why != "NOQUORUM" || h.Refusals != 0 {
		t.Errorf("%+v", h)
	}
}

// TestWhoPollsIsToldOfHowOften, also where more do than there is room for.
func TestWhoPollsIsToldOfHowOften(t *testing.T) {
	r := New(64)
	at := time.Duration(0)
	poll := func(from, to int) {
		for i := range 2000 {
			at += ms
			r.Note(refused("k", "t", &Origin{ID: int64(from + i%(to-from))}, at))
		}
	}
	known := func(times uint64) (n int) {
		h, _ := r.Hot(0, "k", at)
		for _, w := range h.Wanting {
			if w.Times == times && w.Every() > 0 {
				n++
			}
		}
		return n
	}
	poll(0, 20)
	if n := known(100); n != maxWanting-1 {
		t.Errorf("of %d it is known how often they come", n)
	}
	at += Seconds * second
	poll(100, 120) // others, when these come no more
	if n := known(100); n != maxWanting-1 {
		t.Errorf("later, of %d it is known how often they come", n)
	}
}

func TestAttemptsOfDifferentReasonsAreNotOne(t *testing.T) {
	r := New(64)
	for _, why := range []string{"", "NOQUORUM", "NOQUORUM 1 of 3", strings.Repeat("x", 2*maxWhy), strings.Repeat("x", 3*maxWhy)} {
		r.Note(&Act{What: Failed, Key: "k", Why: why, At: second, By: bob})
	}
	if h, _ := r.Hot(0, "k", second); len(h.Attempts) != 4 || h.Attempts[1].Why != "NOQUORUM 1 of 3" || h.Attempts[0].Times != 2 {
		t.Errorf("%+v", h.Attempts)
	}
}

// TestKeyThatFailsOftenIsKnown, in a flood of others, as when too few masters answer.
func TestKeyThatFailsOftenIsKnown(t *testing.T) {
	r := New(64)
	failed := func(key string, at time.Duration) {
		r.Note(&Act{What: Failed, Key: key, At: at, Why: "NOQUORUM", By: bob})
	}
	now, known := time.Duration(0), 0
	for i := range 60_000 {
		now += ms
		failed(fmt.Sprint("cold", i%20_000), now)
		if i%10 == 0 {
			failed("hot", now)
			if _, ok := r.Hot(0, "hot", now); ok {
				known++
			}
		}
	}
	if known < 5000 {
		t.Errorf("it was known %d times of 6000", known)
	}
}

// TestKeyThatIsRefusedOftenComesInAFlood: of keys that are refused once, which are taken in slowly.
func TestKeyThatIsRefusedOftenComesInAFlood(t *testing.T) {
	r := New(64)
	now := time.Duration(0)
	flood := func(n int) {
		for range n {
			now += ms / 10
			r.Note(refused(fmt.Sprint("cold", now), "t", alice, now))
		}
	}
	flood(10_000)
	for range 1000 {
		flood(50)
		r.Note(refused("hot", "t", bob, now))
	}
	if h, ok := r.Hot(0, "hot", now); !ok || h.Refusals < 500 {
		t.Errorf("%v, %d", ok, h.Refusals)
	}
}
