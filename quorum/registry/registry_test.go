package registry

import (
	"fmt"
	"testing"
	"time"
)

var alice, bob, carol = &Origin{ID: 1, Addr: "a:1", Name: "alice"}, &Origin{ID: 2, Addr: "b:2", Name: "bob"}, &Origin{ID: 3, Addr: "c:3"}

const (
	ms     = time.Millisecond
	second = time.Second
)

func granted(key, token string, by *Origin, at time.Duration) *Act {
	return &Act{What: Granted, Key: key, Signs: SignedBy(token), TTL: 30 * second, At: at, Took: ms, By: by}
}

func refused(key, token string, by *Origin, at time.Duration) *Act {
	return &Act{What: Refused, Key: key, Signs: SignedBy(token), At: at, Took: ms, By: by}
}

func TestHolderIsWhoTookWhatIsThere(t *testing.T) {
	r := New(64)
	r.Note(granted("k", "t1", alice, second))
	h, ok := r.Holder(0, "k", []Sign{SignOf("t1")}, 29*second, 2*second)
	if !ok || h.By.Name != "alice" || h.Since != second || h.Until != 31*second || h.Endless || h.EndUnknown {
		t.Fatalf("%v, %+v", ok, h)
	}
	for name, ask := range map[string]func() bool{
		"another value":    func() bool { _, ok := r.Holder(0, "k", []Sign{SignOf("t2")}, 29*second, 2*second); return ok },
		"no value":         func() bool { _, ok := r.Holder(0, "k", nil, 29*second, 2*second); return ok },
		"another database": func() bool { _, ok := r.Holder(1, "k", []Sign{SignOf("t1")}, 29*second, 2*second); return ok },
		"another key":      func() bool { _, ok := r.Holder(0, "l", []Sign{SignOf("t1")}, 29*second, 2*second); return ok },
	} {
		if ask() {
			t.Errorf("%s has a holder", name)
		}
	}
}

func TestWhatEndsALockEndsItHere(t *testing.T) {
	for name, end := range map[string]func(r *Registry){
		"release": func(r *Registry) {
			r.Note(&Act{What: Released, Key: "k", Signs: SignedBy("t"), At: 2 * second, By: alice})
		},
		"DEL": func(r *Registry) { r.Note(&Act{What: Deleted, Key: "k", At: 2 * second, By: bob}) },
		"undo": func(r *Registry) {
			r.Note(&Act{What: Undone, Key: "k", Signs: SignedBy("t"), At: 2 * second, By: alice})
		},
		"force": func(r *Registry) { r.Note(&Act{What: Forced, Key: "k", Signs: SignedBy("t"), At: 2 * second, By: bob}) },
		"flush": func(r *Registry) { r.Flush(0, 2*second) },
		"all":   func(r *Registry) { r.Flush(-1, 2*second) },
	} {
		r := New(64)
		r.Note(granted("k", "t", alice, second))
		if n := r.Held(second); n != 1 {
			t.Fatalf("%d are held", n)
		}
		end(r)
		if _, ok := r.Holder(0, "k", []Sign{SignOf("t")}, 29*second, 2*second); ok {
			t.Errorf("%s: it has a holder", name)
		}
		if n := r.Held(2 * second); n != 0 {
			t.Errorf("%s: %d are held", name, n)
		}
		r.Note(granted("k", "t", bob, 3*second)) // and it can be taken again
		if h, ok := r.Holder(0, "k", []Sign{SignOf("t")}, 31*second, 2*second); !ok || h.By.ID != bob.ID {
			t.Errorf("%s: it cannot be taken again", name)
		}
	}
}

// Somebody may come late with his release, or with another's token.
func TestWhoHasNoLockToFreeIsNotTakenForItsHolder(t *testing.T) {
	r := New(64)
	r.Note(granted("k", "t", alice, second))
	r.Note(refused("k", "u", bob, 2*second))
	r.Note(&Act{What: NotHeld, Key: "k", Signs: SignedBy("u"), At: 3 * second, By: bob})
	r.Note(refused("k", "u", bob, 4*second))
	r.Note(&Act{What: NotHeld, Key: "k", Signs: SignedBy("v"), At: 5 * second, By: carol})
	h, ok := r.Holder(0, "k", []Sign{SignOf("t")}, 29*second, 2*second)
	if last, _ := r.Last(0, "k"); !ok || h.By.Name != "alice" || h.Until != 31*second || last != h {
		t.Errorf("%v, %+v, last %+v", ok, h, last)
	}
	// That he frees what he was refused, as libraries do, is not told.
	if hot, _ := r.Hot(0, "k", 5*second); len(hot.Attempts) != 2 || len(hot.Wanting) != 1 || hot.Attempts[0].What != NotHeld || hot.Attempts[0].By != carol || hot.Attempts[1].Times != 2 {
		t.Errorf("%+v", hot.Attempts)
	}
}

func TestLockThatHasRunOutIsNotHeld(t *testing.T) {
	r := New(64)
	r.Note(granted("k", "t", alice, second))
	if n := r.Held(31*second - 1); n != 1 {
		t.Errorf("%d are held before", n)
	}
	if n := r.Held(31 * second); n != 0 {
		t.Errorf("%d are held after", n)
	}
	h, _ := r.Last(0, "k")
	if h.Ended(31*second-1) || !h.Ended(31*second) {
		t.Errorf("%+v", h)
	}
}

func TestExtensionIsItsHoldersOrNobodys(t *testing.T) {
	r := New(64)
	r.Note(granted("k", "t", alice, second))
	r.Note(&Act{What: Extended, Key: "k", Signs: SignedBy("t"), TTL: time.Minute, At: 2 * second, By: alice})
	r.Note(&Act{What: Extended, Key: "k", TTL: NoTTL, At: 3 * second, By: bob}) // PERSIST
	h, ok := r.Holder(0, "k", []Sign{SignOf("t")}, NoTTL, 2*second)
	if !ok || h.By.ID != alice.ID || h.Since != second || h.Extensions != 2 || !h.Endless {
		t.Errorf("%v, %+v", ok, h)
	}
	r.Note(&Act{What: Extended, Key: "other", TTL: time.Minute, At: second, By: bob}) // EXPIRE of what is not known
	if _, ok := r.Last(0, "other"); ok {
		t.Error("who names no token is taken for the holder")
	}
	r.Note(&Act{What: Extended, Key: "other", Signs: SignedBy("u"), TTL: time.Minute, At: second, By: bob})
	if h, ok := r.Holder(0, "other", []Sign{SignOf("u")}, 59*second, 2*second); !ok || h.By.ID != bob.ID {
		t.Error("who extends a lock that he took elsewhere is not known")
	}
}

// TestHolderOfWhatEndsAtAnotherTimeIsNotKnown: tokens may be constants, and it is another one's.
func TestHolderOfWhatEndsAtAnotherTimeIsNotKnown(t *testing.T) {
	r := New(64)
	r.Note(granted("k", "locked", alice, second))
	known := func(left, now time.Duration) bool {
		_, ok := r.Holder(0, "k", []Sign{SignOf("locked")}, left, now)
		return ok
	}
	for _, c := range []struct {
		left, now time.Duration
		known     bool
	}{
		{29 * second, 2 * second, true}, {28 * second, 2 * second, true}, {30 * second, 2 * second, true},
		{27 * second, 2 * second, false}, {31 * second, 2 * second, false}, {NoTTL, 2 * second, false},
		{2 * ms, 31*second + ms, true}, {0, 33 * second, false}, {30 * second, 31 * second, false}, // its own has ended, on the masters later than here
	} {
		if got := known(c.left, c.now); got != c.known {
			t.Errorf("%v left at %v: %v", c.left, c.now, got)
		}
	}
}

// TestWhoIsLateEndsNobodysLock: what he frees is not his any more.
func TestWhoIsLateEndsNobodysLock(t *testing.T) {
	r := New(64)
	r.Note(granted("k", "old", alice, 0))
	r.Note(granted("k", "new", bob, 31*second))
	r.Note(&Act{What: Released, Key: "k", Signs: SignedBy("old"), At: 32 * second, By: alice})
	r.Note(&Act{What: NotHeld, Key: "k", Signs: SignedBy("old"), At: 33 * second, By: alice})
	if h, ok := r.Holder(0, "k", []Sign{SignOf("new")}, 28*second, 33*second); !ok || h.By.ID != bob.ID {
		t.Errorf("%v, %+v", ok, h)
	}
}

// TestWhoWaitsByAScriptIsNotTheHolder: what both bear says nothing of who has it.
func TestWhoWaitsByAScriptIsNotTheHolder(t *testing.T) {
	r := New(64)
	written := func(by *Origin, args ...string) {
		r.Note(&Act{What: Written, Key: "h", Signs: SignsOf(args), TTL: UnknownTTL, At: second, By: by})
	}
	written(alice, "owner", "alice:1")
	written(bob, "owner", "bob:1") // was put into a queue
	there := []Sign{SignOf("owner"), SignOf("alice:1")}
	if h, ok := r.Holder(0, "h", there, NoTTL, 2*second); ok {
		t.Errorf("%+v", h)
	}
	written(alice, "owner", "alice:1")
	if h, ok := r.Holder(0, "h", there, NoTTL, 2*second); !ok || h.By.ID != alice.ID {
		t.Errorf("%v, %+v", ok, h)
	}
}

func TestScriptSignsByWhatItsClientSays(t *testing.T) {
	r := New(64)
	r.Note(&Act{What: Written, Key: "k", Signs: SignsOf([]string{"30000", "6c9b:17", "x"}), TTL: UnknownTTL, At: second, By: alice})
	if h, ok := r.Holder(0, "k", []Sign{SignOf("1"), SignOf("6c9b:17")}, 29*second, 2*second); !ok || !h.EndUnknown {
		t.Errorf("%v, %+v", ok, h)
	}
	if _, ok := r.Holder(0, "k", []Sign{SignOf("30000")}, 29*second, 2*second); ok {
		t.Error("a number is a sign")
	}
}

// TestRoomIsBounded: what began last is known, and what ended goes first.
func TestRoomIsBounded(t *testing.T) {
	r := New(shards * bucketSize)
	r.Note(granted("kept", "t", alice, 0))
	for i := range 1000 {
		key := fmt.Sprint(i)
		r.Note(granted(key, "t", alice, time.Duration(i+1)*ms))
		if _, ok := r.Last(0, key); !ok {
			t.Fatalf("%s is not known", key)
		}
		r.Note(&Act{What: Released, Key: key, Signs: SignedBy("t"), At: time.Duration(i+1) * ms, By: alice})
	}
	if _, ok := r.Last(0, "kept"); !ok {
		t.Error("what is held gave way to what has ended")
	}
	for i := range 1000 {
		r.Note(granted(fmt.Sprint("later", i), "t", alice, time.Duration(i+2)*second))
	}
	if n := r.Held(0); n > shards*bucketSize {
		t.Errorf("there is room for %d", n)
	}
}

// TestWhatIsHeldForDaysDoesNotGiveWay to what has ended, as long as it is extended.
func TestWhatIsHeldForDaysDoesNotGiveWay(t *testing.T) {
	r := New(shards * bucketSize)
	r.Note(granted("kept", "t", alice, 0))
	now := 2 * mostAhead
	r.Note(&Act{What: Extended, Key: "kept", Signs: SignedBy("t"), TTL: time.Hour, At: now, By: alice})
	for i := range 1000 {
		r.Note(granted(fmt.Sprint(i), "t", alice, now))
		r.Note(&Act{What: Released, Key: fmt.Sprint(i), Signs: SignedBy("t"), At: now, By: alice})
	}
	if _, ok := r.Holder(0, "kept", []Sign{SignOf("t")}, time.Hour, now); !ok {
		t.Error("it is not known any more")
	}
}

func TestFingerprintTellsNoTokenAndTheOrderOfPartsNot(t *testing.T) {
	if a := Fingerprint("a", "b"); a != Fingerprint("b", "a") || a == Fingerprint("ab") || len(a) != 16 {
		t.Error(a)
	}
}

func TestNoteAllocatesNothingForUsualLocks(t *testing.T) {
	r := New(1 << 10)
	a := granted("k", "t", alice, second)
	if n := testing.AllocsPerRun(100, func() { r.Note(a) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestEventsAreTheLatestAndNumbered(t *testing.T) {
	var s Events
	_, more := s.After(0, 10)
	for i := range 3000 {
		s.Tell(Event{Kind: "master", Text: fmt.Sprint(i)})
	}
	<-more
	list, more := s.After(2990, 100)
	if len(list) != 10 || list[0].Number != 2991 || list[0].Text != "2990" || list[9].Number != 3000 {
		t.Errorf("%+v", list)
	}
	if list, _ := s.After(0, 5000); len(list) != MaxEvents || list[0].Number != 3000-MaxEvents+1 {
		t.Errorf("%d, %+v", len(list), list[0])
	}
	select {
	case <-more:
		t.Error("there is another one")
	default:
	}
}

func BenchmarkNote(b *testing.B) {
	r := New(DefaultLocks)
	keys := make([]string, 1<<20)
	for i := range keys {
		keys[i] = fmt.Sprint("lock:", i)
	}
	a := granted("", "6f1c1c3e-0d1b-4b0c-9a55-3f0b6a1f1f11", alice, 0)
	for i := range b.N {
		a.Key, a.At = keys[i&(1<<20-1)], time.Duration(i)
		r.Note(a)
	}
}
