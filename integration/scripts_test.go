package integration

import (
	"fmt"
	"testing"
)

// TestMasterThatLostItsScriptsIsGivenThemAgain: its NOSCRIPT is not the
// client's business.
func TestMasterThatLostItsScriptsIsGivenThemAgain(t *testing.T) {
	masters, p := startQuorum(t, 3)
	c := dial(t, p.Addr)
	for i := range 10 {
		key := fmt.Sprint("k", i)
		c.lock(key, "t", ttl)
		wantHolding(t, masters, key, "t", 0, 1, 2)
		direct(t, masters[i%3]).want("OK", "SCRIPT", "FLUSH")
		c.want(1, extendArgs(key, "t", 2*ttl)...)
		eventually(t, func() error {
			// Scripts that are lost again while they are given again end the connection.
			if left := ask(t, masters[i%3], "PTTL", key).(int64); left <= ttl.Milliseconds()+1000 {
				return fmt.Errorf("master %d has %d ms left of %s", i%3, left, key)
			}
			return nil
		})
		direct(t, masters[i%3]).want("OK", "SCRIPT", "FLUSH")
		c.unlock(key, "t")
		wantGone(t, masters, key)
	}
	awaitVoting(t, p, 3)
}
