package proxy

import (
	"testing"
	"testing/synctest"
	"time"

	"redlock-proxy/quorum"
)

// Masters may tell of changes without end, and of what nobody changed.
func TestWhatMastersTellWithoutEndCostsLittle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, l := newWaitingRig(t, 10*time.Second)
		holder, waits := r.dial(), r.dial()
		holder.tries("k", "a", 50_000)
		holder.gets(ok, roundTrip)
		waits.tries("k", "b", 1000)
		for range 18_000 {
			time.Sleep(roundTrip / 2)
			r.engine.observer.Changed(0, "k")
			r.engine.observer.Changed(0, "")
			r.engine.observer.Watched(0, "k", true)
		}
		if attempts, looks := l.count(quorum.Acquire), l.count(quorum.Read); attempts > 12 || looks > 400 {
			t.Errorf("in nine seconds there were %d attempts and %d looks", attempts, looks)
		}
		waits.expect(refused)
		r.end()
	})
}

// Of who has stood in the same line it is told, too, that he has the lock no more.
func TestWhoWaitsLearnsOfTheEndOfWhoStoodBeforeHim(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, l := newWaitingRig(t, time.Minute)
		holder, first, second := r.dial(), r.dial(), r.dial()
		holder.tries("k", "a", 50_000)
		holder.gets(ok, roundTrip)
		first.tries("k", "b", 50_000)
		time.Sleep(5 * roundTrip)
		second.tries("k", "c", 50_000)
		time.Sleep(5 * roundTrip)
		holder.send("DEL k\r\n")
		holder.expect(":1\r\n")
		first.gets(ok, 2*roundTrip)
		attempts, watched := l.count(quorum.Acquire), r.engine.watches()
		time.Sleep(400 * time.Millisecond)
		if n := r.engine.watches() - watched; n != 1 {
			t.Errorf("it was watched %d times meanwhile", n)
		}
		l.takeBack("k")
		r.engine.observer.Changed(0, "k")
		second.gets(ok, 2*roundTrip)
		if n := l.count(quorum.Acquire) - attempts; n != 1 {
			t.Errorf("%d attempts for one release", n)
		}
		r.end()
	})
}

// Each master tells in its own time. Who waits is tried when the key is seen to be free, whichever tells meanwhile.
func TestWhoWaitsIsTriedThoughAnotherMasterTells(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, l := newWaitingRig(t, time.Minute)
		holder, waits := r.dial(), r.dial()
		holder.tries("k", "a", 50_000)
		holder.gets(ok, roundTrip)
		waits.tries("k", "b", 50_000)
		time.Sleep(lookSpan * 3 / 2) // not much was told lately
		l.takeBack("k")
		for master := range 3 {
			r.engine.observer.Changed(master, "k")
			time.Sleep(roundTrip / 4)
		}
		waits.gets(ok, 2*roundTrip-3*roundTrip/4)
		r.end()
	})
}

// It hears of one lock behind the other that were freed elsewhere, and nobody has looked meanwhile who holds it.
func TestWhoWaitsLearnsOfTwoLocksThatWereFreedElsewhere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, l := newWaitingRig(t, time.Minute)
		holder, first, second := r.dial(), r.dial(), r.dial()
		holder.tries("k", "a", 50_000)
		holder.gets(ok, roundTrip)
		for _, c := range []*client{first, second} {
			c.tries("k", "b", 50_000)
			time.Sleep(200 * time.Millisecond)
		}
		for _, c := range []*client{first, second} {
			l.takeBack("k")
			r.engine.observer.Changed(0, "k")
			c.gets(ok, settleSpan+3*roundTrip)
			time.Sleep(settleSpan / 2)
		}
		r.end()
	})
}

// Who has gone is not tried a last time, be the lock free by then and he the next who is.
func TestWhoGoesAwayIsGrantedNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, l := newWaitingRig(t, time.Minute)
		holder, waits, gone := r.dial(), r.dial(), r.dial()
		holder.tries("k", "a", 50_000)
		holder.gets(ok, roundTrip)
		for _, c := range []*client{waits, gone} {
			c.tries("k", "b", 50_000)
			time.Sleep(5 * roundTrip)
		}
		attempts := l.count(quorum.Acquire)
		l.takeBack("k")
		gone.nc.Close()
		time.Sleep(5 * roundTrip)
		if n := l.count(quorum.Acquire) - attempts; n != 0 {
			t.Errorf("%d acquires for a client that has gone", n)
		}
		waits.gets(ok, time.Second+2*roundTrip)
		r.end()
	})
}
