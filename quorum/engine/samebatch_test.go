package engine

import (
	"testing"
	"testing/synctest"
	"time"

	"redlock-proxy/quorum"
)

// An acquire waits behind a slow batch, and is sent together with a SET of the same value and ttl.
// It comes too late, and is undone; the SET was in time, and answered with OK.
func TestUndoOfAnAcquireTakesNoSetOfTheSameBatch(t *testing.T) {
	for name, first := range map[string]quorum.Request{
		"SET NX PX": {Kind: quorum.Acquire, Key: "k", Token: "1", TTL: time.Minute},
		"SETNX":     {Kind: quorum.Acquire, Key: "k", Token: "1"},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, 3, func(w *world) {
				time.Sleep(3 * time.Second)
				w.delayed(240*ms, 1, 2, 3)
				other := w.put(quorum.Request{Kind: quorum.Read, Key: "other"})
				synctest.Wait()
				time.Sleep(10 * ms)
				a := w.put(first)
				synctest.Wait()
				time.Sleep(200 * ms)
				b := w.put(quorum.Request{Kind: quorum.Write, Key: "k", Args: []string{"SET", "k", "1", "PX", ""}, TTLArg: 4, TTL: time.Minute})
				synctest.Wait()
				w.delayed(40*ms, 1, 2, 3)
				other.wait(t)
				if r := a.wait(t); r.Decision == quorum.Won {
					t.Error("the acquire was in time")
				}
				w.want(b.wait(t), quorum.Won)
				time.Sleep(500 * ms)
				w.wantValues("k", "1", "1", "1")
			})
		})
	}
}

// The same of an acquire without a ttl, whose second step comes too late.
func TestUndoOfASecondStepTakesNoSetOfTheSameBatch(t *testing.T) {
	inWorld(t, 3, func(w *world) {
		time.Sleep(3 * time.Second)
		w.delayed(120*ms, 1, 2, 3)
		other := w.put(quorum.Request{Kind: quorum.Read, Key: "other"})
		synctest.Wait()
		time.Sleep(10 * ms)
		a := w.put(quorum.Request{Kind: quorum.Acquire, Key: "k", Token: "1"})
		synctest.Wait()
		w.delayed(60*ms, 1, 2, 3) // of the batch that is sent at 120: the first step
		other.wait(t)
		time.Sleep(30 * ms)
		// 150: something else is asked, and goes with the batch of 180, before the second step
		w.put(quorum.Request{Kind: quorum.Read, Key: "other"})
		synctest.Wait()
		time.Sleep(40 * ms)
		// 190: the second step waits in each lane
		b := w.put(quorum.Request{Kind: quorum.Write, Key: "k", Args: []string{"SET", "k", "1"}})
		synctest.Wait()
		w.delayed(40*ms, 1, 2, 3) // of the batch that is sent at 240
		w.want(b.wait(t), quorum.Won)
		if r := a.wait(t); r.Decision == quorum.Won {
			t.Error("the acquire was in time")
		}
		time.Sleep(500 * ms)
		w.wantValues("k", "1", "1", "1")
	})
}
