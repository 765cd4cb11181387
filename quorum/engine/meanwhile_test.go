package engine

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"redlock-proxy/quorum"
	"redlock-proxy/quorum/catchup"
)

// A lock that is released while it is copied is taken back, since nobody would do
// so later.
func TestCopyOfWhatIsReleasedMeanwhileIsTakenBack(t *testing.T) {
	for name, ttl := range map[string]time.Duration{"with a ttl": time.Hour, "without": 0} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, 3, func(w *world) {
				w.sets("k", "a", ttl, 2, 3)
				w.sets("half", "a", ttl, 2, 3)
				w.sets("next", "a", time.Hour, 2, 3)
				w.lose(1)
				w.at(1, catchup.CopyScript, func(m *fakeMaster, args []string) {
					m.respond = nil
					w.each(func(m *fakeMaster) { m.forget("k"); m.put("next", "b", time.Hour) }, 2, 3)
					w.masters[1].forget("half")
				})
				w.votesWithin(1, 3*time.Second)
				w.wantValues("k", "", "", "")
				w.wantValues("half", "a", "", "a")
				// Whose write that is, is not known, and whether it stays.
				w.wantValues("next", "a", "b", "b")
			})
		})
	}
}

// A lock that is released while it is copied, and acquired by another, is not left
// with the master as it was: with one of the others gone, nobody would get it.
func TestCopyOfWhatWasReleasedAndAcquiredIsTakenBack(t *testing.T) {
	long := strings.Repeat("a", 100)
	frees := map[string]func(w *world, token string) quorum.Result{
		"released": func(w *world, token string) quorum.Result { return w.release("k", token) },
		"removed": func(w *world, token string) quorum.Result {
			return w.ask(quorum.Request{Kind: quorum.Remove, Key: "k"})
		},
	}
	for name, free := range frees {
		for _, token := range []string{"a", long} {
			t.Run(fmt.Sprint(name, len(token)), func(t *testing.T) {
				inWorld(t, 3, func(w *world) {
					w.want(w.acquire("k", token, time.Minute), quorum.Won)
					w.want(w.acquire("stays", "a", time.Minute), quorum.Won)
					w.lose(1)
					serve := w.copiedLate()
					w.want(free(w, token), quorum.Won)
					w.want(w.acquire("k", "b", time.Minute), quorum.Won) // on 2 and 3
					serve()
					w.votesWithin(1, 3*time.Second)
					w.wantValues("k", "", "b", "b")
					w.wantValues("stays", "a", "a", "a")

					w.want(w.release("k", "b"), quorum.Won)
					w.down(2)
					w.want(w.acquire("k", "c", time.Minute), quorum.Won)
				})
			})
		}
	}
}

// A copy without a ttl would stay for ever, where the release of its lock passed it:
// it is looked at once more in the end.
func TestCopyWithoutTTLIsLookedAtInTheEnd(t *testing.T) {
	inWorld(t, 3, func(w *world) {
		w.sets("k", "a", 0, 2, 3)
		w.sets("next", "a", 0, 2, 3)
		w.sets("stays", "a", 0, 2, 3)
		w.fill(3 * catchup.PageKeys)
		w.lose(1)
		pages := 0
		w.whenever(3, scans, func(m *fakeMaster, args []string) {
			if pages++; pages == 2 { // the first source was read to its end
				delete(m.keys, "k")
				m.keys["next"] = fakeKey{value: "b"}
				w.masters[1].forget("k")
				w.sets("next", "b", 0, 2)
			}
		})
		w.votesWithin(1, 3*time.Second)
		w.wantValues("k", "", "", "")
		w.wantValues("next", "b", "b", "b")
		w.wantValues("stays", "a", "a", "a")
	})
}
