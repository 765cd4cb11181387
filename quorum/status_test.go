package quorum

import "testing"

func TestBatchesAreToldApartByPowersOfTwo(t *testing.T) {
	for n, want := range map[int]int{1: 0, 2: 1, 3: 2, 4: 2, 5: 3, 512: 9, 513: 10, 1024: 10, 1025: 11, 1 << 20: 11} {
		if got := BatchSize(n); got != want {
			t.Errorf("a batch of %d is at %d, want %d", n, got, want)
		}
	}
}

func TestFiguresOfAllDatabasesCountTogether(t *testing.T) {
	a := Status{Masters: []MasterStatus{{Granted: 1, Batched: 3, Batches: [BatchSizes]uint64{1, 1}}}}
	a.Add(Status{Masters: []MasterStatus{{Granted: 2, Batched: 5, Batches: [BatchSizes]uint64{1, 0, 1}}}})
	if m := a.Masters[0]; m.Granted != 3 || m.Batched != 8 || m.Batches != [BatchSizes]uint64{2, 1, 1} {
		t.Errorf("they come to %+v", m)
	}
}
