package engine

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"redlock-proxy/quorum"
	"redlock-proxy/quorum/marker"
)

// Master 1 is flushed, and grants what the others refuse. By the time its grant is taken back
// it bears another marker; master 3 forgets as soon as 1 votes again.
func TestUndoReachesAMasterThatWasFlushedBeforeItsGrant(t *testing.T) {
	for name, lose := range map[string]func(m *fakeMaster){
		"flushed": func(m *fakeMaster) { clear(m.keys) },
		"evicted": func(m *fakeMaster) {
			m.evicted += len(m.keys)
			clear(m.keys)
		},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, 3, func(w *world) {
				w.want(w.acquire("k", "a", time.Minute), quorum.Won)
				w.settle()
				w.masters[0].set(lose)
				w.want(w.acquire("k", "b", time.Minute), quorum.Contended)
				w.settle()
				w.wantValues("k", "", "a", "a")
				w.want(w.release("k", "a"), quorum.Won)
				w.votesWithin(1, 3*time.Second)
				w.masters[2].restartBlank()
				w.noticed(3)
				w.votesWithin(3, 3*time.Second)
				w.wantValues("k", "", "", "")
				w.want(w.acquire("k", "c", time.Minute), quorum.Won)
			})
		})
	}
}

// Of a marker that this proxy saw long ago it does not know what has become of it since.
func TestMarkerThatIsGoneIsNotNamedByWhoHasNotSeenItLately(t *testing.T) {
	for wait, named := range map[time.Duration]bool{4 * time.Second: true, 6 * time.Second: false} {
		inWorld(t, 3, func(w *world) {
			w.want(w.acquire("k", "a", time.Minute), quorum.Won)
			w.settle()
			m := w.masters[0]
			before := marker.NonceOf(m.value(quorum.MarkerKey))
			time.Sleep(wait)
			m.set(func(m *fakeMaster) { clear(m.keys) })
			w.want(w.acquire("k", "b", time.Minute), quorum.Contended)
			w.settle()
			now, err := marker.Parse(m.value(quorum.MarkerKey))
			if err != nil || (now.Was == before) != named {
				t.Errorf("after %v: the marker that replaces %q names %q, %v", wait, before, now.Was, err)
			}
		}, func(cfg *Config) { cfg.ProbeInterval = time.Minute })
	}
}

// What is to be taken back is found with another end, and is tried once more later. By then
// somebody else holds the lock, as all do under one token, and for as long as the first would have.
func TestWhatIsTriedOnceMoreTakesNoLaterLockOfTheToken(t *testing.T) {
	const ttl = 10 * time.Second
	worlds := map[string]func(t *testing.T, f func(w *world)){
		"near": func(t *testing.T, f func(w *world)) { inWorld(t, 3, f) },
		"far":  inFarWorld,
	}
	for name, leave := range map[string]func(w *world) (ends time.Time){
		"owed": func(w *world) time.Time {
			ends := time.Now().Add(ttl)
			w.want(w.acquire("k", "1", ttl), quorum.Won)
			w.down(3)
			w.want(w.release("k", "1"), quorum.Won)
			w.each((*fakeMaster).rejoin, 3)
			return ends
		},
		"at once": func(w *world) time.Time {
			w.sets("k", "other", time.Minute, 1, 2)
			ends := time.Now().Add(ttl)
			w.late(func() { w.want(w.acquire("k", "1", ttl), quorum.Contended) }, 1, 2)
			return ends
		},
	} {
		for distance, in := range worlds {
			t.Run(name+", "+distance, func(t *testing.T) {
				in(t, func(w *world) {
					var tried atomic.Int32
					w.at(3, takeBackScript, func(m *fakeMaster, _ []string) {
						if tried.Add(1) == 1 {
							m.keys["k"] = fakeKey{value: "1", until: m.now() + int64(100*ms)}
						}
					})
					ends := leave(w)
					for range 10_000 {
						if tried.Load() > 0 {
							break
						}
						time.Sleep(ms)
						synctest.Wait()
					}
					if tried.Load() == 0 {
						t.Fatal("nothing is taken back there")
					}
					time.Sleep(100 * ms)
					w.each(func(m *fakeMaster) { m.set(func(m *fakeMaster) { delete(m.keys, "k") }) }, 1, 2)
					w.wantValues("k", "", "", "")
					w.want(w.acquire("k", "1", time.Until(ends)), quorum.Won)
					time.Sleep(3 * w.cfg.AcquireTimeout)
					w.wantValues("k", "1", "1", "1")
				})
			})
		}
	}
}
