package engine

import (
	"strings"
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

func TestStatusSaysWhoCanVoteAndWhatKeepsTheOthersWithoutTheirNames(t *testing.T) {
	inWorld(t, 3, func(w *world) {
		tells := func(can int, shortage string) {
			t.Helper()
			if st := w.engine.Status(); st.CanVote != can || st.Shortage != shortage || (can >= st.Quorum) != w.engine.Ready() {
				t.Errorf("%d can vote, %q; want %d, %q", st.CanVote, st.Shortage, can, shortage)
			}
		}
		tells(3, "")
		w.down(1)
		tells(2, "1 down")
		w.down(2, 3)
		tells(0, "3 down")
	})
	inBlank(t, 3, func(w *world) {
		w.launch(w.cfg)
		st := w.engine.Status()
		if st.CanVote != 0 || st.Hindrance == "" || !strings.HasPrefix(st.Shortage, "3 ") || strings.Contains(st.Shortage, "m1") {
			t.Errorf("of a new set: %d can vote, %q, %q", st.CanVote, st.Shortage, st.Hindrance)
		}
	})
}
