package integration

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// TestHotLockCostsOneAttemptARoundTrip: however many clients poll one lock,
// those that wait share an attempt.
func TestHotLockCostsOneAttemptARoundTrip(t *testing.T) {
	t.Parallel()
	masters := startMasters(t, 3)
	relays := relayed(t, masters)
	p := startProxy(t, relayFlags(relays)...)
	const roundTrip = 50 * time.Millisecond
	for _, r := range relays {
		r.Replies.Delay(roundTrip)
	}
	dial(t, p.Addr).lock("k", "holder", ttl)
	sets := callsOn(t, masters[0], "SET", "k")

	const clients, during = 100, time.Second
	var asked atomic.Int64
	var group sync.WaitGroup
	began := time.Now()
	for i := range clients {
		c := dial(t, p.Addr)
		group.Go(func() {
			for time.Since(began) < during {
				reply, err := c.Do(acquireArgs("k", fmt.Sprint("t", i), ttl)...)
				if err != nil || reply != nil {
					t.Errorf("got %v, %v", reply, err)
					return
				}
				asked.Add(1)
			}
		})
	}
	group.Wait()
	lasted, attempts := time.Since(began), sets()
	t.Logf("%d acquires were asked for, %d put to the masters", asked.Load(), attempts)
	if most := 2 * int(lasted/roundTrip); attempts > most || asked.Load() < int64(5*attempts) {
		t.Errorf("%d attempts in %v for %d acquires, want at most %d", attempts, lasted, asked.Load(), most)
	}
}
