package engine

import (
	"testing"
	"testing/synctest"
	"time"

	"redlock-proxy/quorum"
)

// lanes counts the lanes of which something holds.
func (w *world) lanes(holds func(q *queue) bool) (n int) {
	for _, l := range w.engine.zero.lanes {
		l.mu.Lock()
		if holds(&l.queue) {
			n++
		}
		l.mu.Unlock()
	}
	return n
}

func rested(q *queue) bool { return q.idle && q.rests }

// asksFor asks for a lock, and is back when that is on its way.
func (w *world) asksFor(key string) *waiter {
	asked := w.put(quorum.Request{Kind: quorum.Acquire, Key: key, Token: "a", TTL: time.Minute})
	synctest.Wait()
	return asked
}

// What a client alone asks for is on its way to all masters, and no lane was woken for it.
func TestWhoAsksAloneWakesNoLane(t *testing.T) {
	inWorld(t, 3, func(w *world) {
		for range 3 {
			if n := w.lanes(rested); n != 3 {
				t.Fatalf("%d lanes rest", n)
			}
			w.each((*fakeMaster).freeze, 1, 2, 3)
			asked := w.asksFor("k")
			if n := w.lanes(func(q *queue) bool { return q.rests && q.lent && q.waiting() == 0 && len(q.flying) == 1 }); n != 3 {
				t.Errorf("%d lanes have sent and rest", n)
			}
			w.each((*fakeMaster).unfreeze, 1, 2, 3)
			w.want(asked.wait(t), quorum.Won)
			w.want(w.release("k", "a"), quorum.Won)
			synctest.Wait()
		}
	})
}

// Who does not ask alone leaves it to the lanes, of which none rests behind a batch of several.
func TestManyAreSentByTheLanes(t *testing.T) {
	inWorld(t, 3, func(w *world) {
		w.each((*fakeMaster).freeze, 1)
		first := w.asksFor("k")
		w.want(first.wait(t), quorum.Won) // and 1 is not there yet
		second := w.asksFor("l")
		w.want(second.wait(t), quorum.Won)
		if n := w.lanes(func(q *queue) bool { return q.rests && q.lent && q.waiting() == 1 }); n != 1 {
			t.Errorf("%d lanes have something to do, and wait for a master", n)
		}
		third := w.asksFor("m")
		w.each((*fakeMaster).unfreeze, 1)
		w.want(third.wait(t), quorum.Won)
		synctest.Wait()
		if n := w.lanes(rested); n != 2 {
			t.Errorf("%d lanes rest", n)
		}
		w.wantValues("k", "a", "a", "a")
		w.wantValues("l", "a", "a", "a")
		w.wantValues("m", "a", "a", "a")
	})
}

// A master that closes the connection, or speaks unasked, is found at once, though nobody asks for anything.
func TestALaneThatRestsHears(t *testing.T) {
	inWorld(t, 3, func(w *world) {
		w.masters[0].cut()
		synctest.Wait()
		if s := w.engine.Status().Masters[0].State; s != quorum.Down {
			t.Errorf("a master that is gone is %v", s)
		}
		w.want(w.acquire("k", "a", time.Minute), quorum.Won)
	})
}

// A lane does not rest while there is something to do, nor when its link has had its time.
func TestWhoHasSomethingToDoDoesNotRest(t *testing.T) {
	inWorld(t, 3, func(w *world) {
		db := w.engine.zero
		l := newLane(db, 0, db.lanes[0].master)
		l.keeper.era = db.engine.installation.era.Load()
		if !l.queue.lie() || !rested(&l.queue) {
			t.Error("one with nothing to do does not rest")
		}
		l.queue.getUp()
		l.queue.ops = []*op{{}}
		if l.queue.lie() || rested(&l.queue) {
			t.Error("one with something to do rests")
		}
	})
}

// Who is roused while he rests has a look at his master, and rests again; so does who has rested for long.
func TestALaneThatRestsIsRoused(t *testing.T) {
	inWorld(t, 3, func(w *world) {
		w.want(w.acquire("k", "a", time.Minute), quorum.Won)
		time.Sleep(10 * w.cfg.ProbeInterval)
		synctest.Wait()
		lately := func(q *queue) bool { return time.Since(q.sent) <= w.cfg.ProbeInterval+w.cfg.ProbeInterval/8 }
		if n := w.lanes(lately); n != 3 {
			t.Errorf("%d have looked at their masters lately", n)
		}
		if s := w.engine.Status().Masters[0]; s.State != quorum.Voting || s.Reconnects != 0 || w.lanes(rested) != 3 {
			t.Errorf("%+v", s)
		}
	})
}
