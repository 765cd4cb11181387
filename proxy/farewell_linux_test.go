package proxy

import (
	"testing"
)

// TestTheEndComesWithTheAnswer: not even a client that runs at the very moment at which it has its
// answer finds a connection that can still be asked.
func TestTheEndComesWithTheAnswer(t *testing.T) {
	r := newRig(t, Config{})
	clients := r.dialMany(20)
	for _, c := range clients {
		c.send("write k\r\n")
	}
	eventually(t, "all have asked", func() bool {
		r.engine.mu.Lock()
		defer r.engine.mu.Unlock()
		return len(r.engine.waiting) == len(clients)
	})
	ended := r.shutdown()
	eventually(t, "the shutdown", r.server.draining.Load)
	for range clients {
		r.engine.answer(t, "k", won)
	}
	for _, c := range clients {
		c.expect("$1\r\nk\r\n")
		if !hasInput(c.nc) {
			t.Error("there is an answer, and no end behind it")
		}
		c.expectEnd("")
		c.nc.Close()
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
