package engine

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"redlock-proxy/quorum"
	"redlock-proxy/quorum/master"
)

func TestOnlyWhatIsLongIsRemembered(t *testing.T) {
	var s sizes
	const key, neighbour, other = 1<<40 | 7, 2<<40 | 7, 1<<40 | 8
	s.note(key, master.Small-1)
	if n := s.of(key); n != 0 {
		t.Errorf("what is short is remembered: %d", n)
	}
	s.note(key, 5000)
	s.note(neighbour, 10)
	s.note(other, 6000)
	if n := s.of(key); n != 5000 {
		t.Errorf("of: %d, want 5000 whatever others come to", n)
	}
	if n := s.of(neighbour); n != 0 {
		t.Errorf("another key is taken for it: %d", n)
	}
	s.note(key, 10)
	if n := s.of(key); n != 0 {
		t.Errorf("what has become short is remembered as %d", n)
	}
}

func TestTheWeightOfARequestIsKnownBeforeItIsPut(t *testing.T) {
	inWorld(t, 3, func(w *world) {
		read := quorum.Request{Kind: quorum.Read, Key: "k", ValueOnly: true}
		long := strings.Repeat("v", 100<<10)
		set := quorum.Request{Kind: quorum.Write, Key: "k", Args: []string{"SET", "k", long}}
		if n := w.engine.Weight(&read); n != 0 {
			t.Errorf("a key that nothing is known of: %d", n)
		}
		if n := w.engine.Weight(&set); n < len(long) || n > len(long)+100 {
			t.Errorf("a long value that is to be set: %d", n)
		}
		w.want(w.ask(set), quorum.Won)
		if n := w.engine.Weight(&read); n < len(long) || n > len(long)+100 {
			t.Errorf("a long value that was set: %d", n)
		}
		for _, m := range w.masters {
			m.put("k", "short", 0)
			m.put("stranger", long, 0)
		}
		w.want(w.ask(read), quorum.Won)
		if n := w.engine.Weight(&read); n != 0 {
			t.Errorf("a value that was long: %d", n)
		}
		read.Key = "stranger"
		w.want(w.ask(read), quorum.Won)
		if n := w.engine.Weight(&read); n < len(long) {
			t.Errorf("a long value that was read: %d", n)
		}
	})
}

func TestABatchIsBoundedInBytes(t *testing.T) {
	for name, far := range map[string]time.Duration{"near": 0, "far": 10 * time.Millisecond} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, 3, func(w *world) {
				long := strings.Repeat("v", 300<<10)
				var keys []string // of which none has the place of another
				for i, places := 0, map[uint64]bool{}; len(keys) < 20; i++ {
					key := fmt.Sprint("k", i)
					if _, place := placeOf(w.engine.zero.hash(key)); !places[place] {
						places[place], keys = true, append(keys, key)
					}
				}
				for _, key := range keys {
					w.want(w.ask(quorum.Request{Kind: quorum.Write, Key: key, Args: []string{"SET", key, long}}), quorum.Won)
				}
				for _, m := range w.masters {
					m.set(func(m *fakeMaster) { m.answersLate(far) })
				}
				for range 2 * minTrips {
					w.want(w.ask(quorum.Request{Kind: quorum.Read, Key: "short", ValueOnly: true}), quorum.Won)
				}
				inBatch, most := 0, 0
				w.masters[0].set(func(m *fakeMaster) {
					m.respond = func(args []string) string {
						switch args[0] {
						case "GET":
							inBatch++
						case "GETRANGE": // the proof
							most, inBatch = max(most, inBatch), 0
						}
						return ""
					}
				})
				for _, m := range w.masters {
					m.freeze()
				}
				var all []*waiter
				for _, key := range keys {
					all = append(all, w.put(quorum.Request{Kind: quorum.Read, Key: key, ValueOnly: true}))
				}
				for _, m := range w.masters {
					m.unfreeze()
				}
				for _, a := range all {
					w.want(a.wait(t), quorum.Won)
				}
				synctest.Wait()
				if most == 0 || most > maxBatchBytes/len(long) {
					t.Errorf("%d values of 300 KiB in one batch", most)
				}
			})
		})
	}
}

func TestWhatIsLongIsTurnedAwayBeforeWhatIsShort(t *testing.T) {
	inWorld(t, 3, func(w *world) {
		for _, m := range w.masters {
			m.freeze()
		}
		long := strings.Repeat("v", 1<<20)
		for i := range 2*master.MaxQueueBytes/len(long) + 10 {
			w.put(quorum.Request{Kind: quorum.Write, Key: "k", Args: []string{"SET", "k", long, fmt.Sprint(i)}})
		}
		l := w.engine.zero.lanes[0]
		l.mu.Lock()
		queued, before := l.queue.bytes, len(l.queue.ops)
		l.mu.Unlock()
		if queued > master.MaxQueueBytes+4*len(long) {
			t.Errorf("%d bytes wait", queued)
		}
		w.put(quorum.Request{Kind: quorum.Acquire, Key: "lock", Token: "t", TTL: time.Minute})
		l.mu.Lock()
		if after := len(l.queue.ops); after != before+1 {
			t.Errorf("%d wait, want %d and a short one", after, before)
		}
		l.mu.Unlock()
		for _, m := range w.masters {
			m.unfreeze()
		}
		time.Sleep(time.Second)
		l.mu.Lock()
		if l.queue.bytes != 0 {
			t.Errorf("%d bytes are counted that do not wait", l.queue.bytes)
		}
		l.mu.Unlock()
	})
}

// Else a master that has been quarantined often enough would be asked for nothing long any
// more.
func TestWhatIsAnsweredAsItsMasterIsQuarantinedWaitsNoMore(t *testing.T) {
	inWorld(t, 3, func(w *world) {
		long := strings.Repeat("v", 1<<20)
		for _, n := range []int{3, 2} {
			m := w.masters[n-1]
			m.set(func(m *fakeMaster) { m.lag = 100 * ms })
			w.put(quorum.Request{Kind: quorum.Read, Key: "other"}) // what the lane is busy with
			synctest.Wait()
			for i := range 70 { // of 35 clients, as 2 MiB of one are undecided
				w.put(quorum.Request{Kind: quorum.Acquire, Key: fmt.Sprint("k", i), Token: long, TTL: 5 * time.Second})
			}
			synctest.Wait()
			m.locked(func() { clear(m.keys) })
			time.Sleep(200 * ms)
			m.set(func(m *fakeMaster) { m.lag = 0 })
			time.Sleep(30 * time.Second) // it has caught up
		}
		time.Sleep(10 * time.Minute)
		w.want(w.acquire("k", strings.Repeat("t", 5000), time.Minute), quorum.Won)
	})
}
