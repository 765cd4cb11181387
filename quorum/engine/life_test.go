package engine

import (
	"testing"
	"time"

	"redlock-proxy/quorum"
	"redlock-proxy/quorum/clock"
	"redlock-proxy/quorum/decide"
)

// What a master has left of a key is told by who has voted: another may be writing what it has said.
func TestLifeIsToldByWhoHasVoted(t *testing.T) {
	o := &op{sent: make([]sending, 3)}
	o.Said = make([]decide.Said, 3)
	o.Said[1].Journal = &decide.Journal{Undo: []decide.UndoRecord{{Key: "k", Left: 1000}}}
	o.sent[1].asked = clock.Span{From: 10 * time.Millisecond, To: 30 * time.Millisecond}
	o.sent[2].asked = clock.Span{From: 20 * time.Millisecond, To: 40 * time.Millisecond}
	told := make(chan struct{})
	go func() { // lane 0
		defer close(told)
		o.Said[0] = decide.Said{Journal: &decide.Journal{Undo: []decide.UndoRecord{{Key: "k", Left: 5}}}}
	}()
	r := ruling{op: o, votes: decide.Votes(0).Voted(1, quorum.Granted, true)}
	if got := r.lifeOf(&o.Said[1].Journal.Undo[0], 2); got != 1010 {
		t.Errorf("it lives for %d ms, want 1010", got)
	}
	<-told
}
