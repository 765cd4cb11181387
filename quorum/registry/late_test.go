package registry

import (
	"testing"
	"time"
)

// TestWhatIsToldLateIsAboutTheOneBefore: a DEL of several keys is told of when all are decided, by when
// somebody else may have taken the first.
func TestWhatIsToldLateIsAboutTheOneBefore(t *testing.T) {
	for _, late := range []*Act{
		{What: Deleted, Key: "k", At: 2 * second, By: alice},
		{What: Extended, Key: "k", TTL: time.Hour, At: 2 * second, By: alice},
		{What: Written, Key: "k", Signs: SignedBy("a"), TTL: UnknownTTL, At: 2 * second, By: alice},
	} {
		r := New(64)
		r.Note(granted("k", "a", alice, second))
		r.Note(granted("k", "b", bob, 3*second))
		r.Note(late)
		if h, ok := r.Holder(0, "k", []Sign{SignOf("b")}, 30*second, 3*second); !ok || h.By.ID != bob.ID {
			t.Errorf("%v: %v, %+v", late.What, ok, h)
		}
	}
}

// TestWhoExtendsWhatHadRunOutHasTakenItElsewhere: since when he holds it is not what it was before.
func TestWhoExtendsWhatHadRunOutHasTakenItElsewhere(t *testing.T) {
	r := New(64)
	r.Note(granted("k", "t", alice, 0))
	r.Note(refused("k", "u", carol, second))
	r.Note(&Act{What: Extended, Key: "k", TTL: time.Minute, At: time.Hour, By: carol})
	if h, _ := r.Last(0, "k"); !h.Ended(time.Hour) {
		t.Errorf("what had ended is extended by who names no token: %+v", h)
	}
	r.Note(&Act{What: Extended, Key: "k", Signs: SignedBy("t"), TTL: time.Minute, At: time.Hour, By: bob})
	h, ok := r.Holder(0, "k", []Sign{SignOf("t")}, time.Minute, time.Hour)
	if !ok || h.Since != time.Hour || h.By.ID != bob.ID || h.Refusals != 0 || h.Extensions != 1 {
		t.Errorf("%v, %+v", ok, h)
	}
	r.Note(granted("l", "t", alice, 0)) // while it may have been late at a master only
	r.Note(&Act{What: Extended, Key: "l", Signs: SignedBy("t"), TTL: time.Minute, At: 30*second + ms, By: alice})
	if h, _ := r.Last(0, "l"); h.Since != 0 || h.Extensions != 1 {
		t.Errorf("%+v", h)
	}
}

// TestEmptyTokenIsOneToo: DEL, which names none, is another thing.
func TestEmptyTokenIsOneToo(t *testing.T) {
	r := New(64)
	r.Note(granted("k", "", alice, second))
	if _, ok := r.Holder(0, "k", []Sign{SignOf("")}, 29*second, 2*second); !ok {
		t.Error("who signs by nothing is not known")
	}
	r.Note(granted("k", "t", bob, 40*second))
	r.Note(&Act{What: Released, Key: "k", Signs: SignedBy(""), At: 41 * second, By: alice})
	if h, ok := r.Holder(0, "k", []Sign{SignOf("t")}, 29*second, 41*second); !ok || h.By.ID != bob.ID {
		t.Errorf("%v, %+v", ok, h)
	}
}

// TestWhoFreesALockWhileItIsExtendedHasFreedIt: who extends it does so by another connection.
func TestWhoFreesALockWhileItIsExtendedHasFreedIt(t *testing.T) {
	r := New(64)
	r.Note(granted("k", "t", alice, 0))
	r.Note(&Act{What: Released, Key: "k", Signs: SignedBy("t"), At: second + ms, By: alice})
	r.Note(&Act{What: Extended, Key: "k", Signs: SignedBy("t"), TTL: time.Minute, At: second, By: bob})
	if h, _ := r.Last(0, "k"); h.What != Released || r.Held(second+2*ms) != 0 {
		t.Errorf("%+v", h)
	}
}

// TestScriptThatHadToWaitHasWritten what another one has freed, of which nobody knows that it did.
func TestScriptThatHadToWaitHasWritten(t *testing.T) {
	r := New(64)
	r.Note(&Act{What: Written, Key: "h", Signs: SignedBy("alice:1"), TTL: UnknownTTL, At: 2 * second, By: alice})
	r.Note(&Act{What: Written, Key: "h", Signs: SignedBy("bob:1"), TTL: UnknownTTL, At: second, By: bob})
	if h, ok := r.Holder(0, "h", []Sign{SignOf("bob:1")}, second, 3*second); !ok || h.By.ID != bob.ID {
		t.Errorf("%v, %+v", ok, h)
	}
}
