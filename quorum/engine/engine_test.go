package engine

import (
	"testing"
	"time"

	"redlock-proxy/quorum"
)

func TestLockIsTakenExtendedReadAndReleased(t *testing.T) {
	for _, n := range []int{1, 3, 4, 5, 7} {
		inWorld(t, n, func(w *world) {
			w.want(w.acquire("k", "t1", 30*time.Second), quorum.Won)
			r := w.acquire("k", "t2", 30*time.Second)
			w.want(r, quorum.Contended)
			// With an even N fewer masters than a quorum decide against.
			if n%2 == 1 && r.Value != "t1" {
				t.Errorf("a refusal names %q, want t1", r.Value)
			}
			r = w.ask(quorum.Request{Kind: quorum.Read, Key: "k"})
			if r.Value != "t1" || r.TTL > 30*time.Second || r.TTL < 29*time.Second {
				t.Errorf("read %+v", r)
			}
			w.want(w.ask(quorum.Request{Kind: quorum.Extend, Key: "k", Token: "t2", TTL: time.Minute}), quorum.Contended)
			w.want(w.ask(quorum.Request{Kind: quorum.Extend, Key: "k", Token: "t1", TTL: time.Minute}), quorum.Won)
			w.want(w.release("k", "t2"), quorum.Contended)
			w.want(w.release("k", "t1"), quorum.Won)
			r = w.release("k", "t1")
			w.want(r, quorum.Contended)
			if !r.Absent {
				t.Error("a released key is not absent")
			}
			w.want(w.acquire("k", "t2", 30*time.Second), quorum.Won)
		})
	}
}
