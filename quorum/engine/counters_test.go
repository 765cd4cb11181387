package engine

import (
	"testing"
	"time"

	"redlock-proxy/quorum"
)

func TestBatchesAreCountedByTheirSize(t *testing.T) {
	inWorld(t, 1, func(w *world) {
		before := w.engine.Status().Masters[0]
		w.want(w.acquire("k", "t", 30*time.Second), quorum.Won)
		w.want(w.release("k", "t"), quorum.Won)
		time.Sleep(5 * time.Second) // looks at the master are no batches
		m := w.engine.Status().Masters[0]
		if m.Batches[0]-before.Batches[0] != 2 || m.Batched-before.Batched != 2 {
			t.Errorf("two requests by themselves: from %v to %v, in all from %d to %d", before.Batches, m.Batches, before.Batched, m.Batched)
		}
	})
}
