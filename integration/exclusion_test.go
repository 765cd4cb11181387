package integration

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// seeded draws from REDLOCK_SEED, or from a seed that the log tells.
func seeded(t *testing.T) *rand.Rand {
	t.Helper()
	seed := uint64(time.Now().UnixNano())
	if s := os.Getenv("REDLOCK_SEED"); s != "" {
		n, err := strconv.ParseUint(s, 10, 64)
		must(t, err)
		seed = n
	}
	t.Logf("REDLOCK_SEED=%d go test ./integration -run %s", seed, t.Name())
	return rand.New(rand.NewPCG(seed, 0))
}

// TestNoTwoHoldersWhileMastersComeAndGo: one master after the other is frozen,
// cut off, silenced or slowed down, and keeps its memory; two proxies stand in
// front of them. At no time do two clients hold the lock, and in the end it can
// be had again. REDLOCK_SEED repeats a run's choice of faults.
func TestNoTwoHoldersWhileMastersComeAndGo(t *testing.T) {
	t.Parallel()
	random := seeded(t)

	masters := startMasters(t, 3)
	relays := [2][]*Relay{relayed(t, masters), relayed(t, masters)}
	var proxies [2]*Proxy
	for i := range proxies {
		proxies[i] = startProxy(t, append(relayFlags(relays[i]), brisk...)...)
	}

	const during, clients, least = 8 * time.Second, 16, 50
	guarded := &guarded{}
	var group sync.WaitGroup
	began, stop := time.Now(), make(chan struct{})
	for i := range clients {
		c := dial(t, proxies[i%2].Addr)
		group.Go(func() {
			for n := 0; ; n++ {
				select {
				case <-stop:
					return
				default:
				}
				if err := guarded.turn(c.Client, fmt.Sprintf("t%d.%d", i, n)); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	for time.Since(began) < during || guarded.held.Load() < least && time.Since(began) < patience {
		i, side := random.IntN(3), random.IntN(2)
		trouble := troubles[1+random.IntN(4)] // those that need no other configuration
		trouble.begin(t, masters[i], relays[side][i])
		time.Sleep(time.Duration(random.IntN(900)) * time.Millisecond)
		trouble.end(t, masters[i], relays[side][i])
		time.Sleep(time.Duration(random.IntN(300)) * time.Millisecond)
	}
	close(stop)
	group.Wait()
	t.Logf("held %d times, %d refusals, %d times no quorum", guarded.held.Load(), guarded.refused.Load(), guarded.noQuorum.Load())
	if n := guarded.together(); n > 0 {
		t.Errorf("two held the lock together, %d times", n)
	}
	if guarded.held.Load() < least {
		t.Error("the lock was hardly ever had")
	}
	for _, p := range proxies {
		awaitVoting(t, p, 3)
	}
	c := dial(t, proxies[0].Addr)
	eventually(t, func() error {
		if reply := c.do(acquireArgs("k", "last", ttl)...); reply != "OK" {
			return fmt.Errorf("got %v", reply)
		}
		return nil
	})
}

// lease is how long a holder may rely on the lock: what an interrupted acquire
// leaves behind blocks it for so long.
const lease = 2 * time.Second

// guarded keeps when the lock was held.
type guarded struct {
	held, refused, noQuorum atomic.Int64

	mu    sync.Mutex // guards spans
	spans [][2]time.Time
}

// together counts those who were given the lock while another could rely on it.
func (g *guarded) together() (n int) {
	slices.SortFunc(g.spans, func(a, b [2]time.Time) int { return a[0].Compare(b[0]) })
	var until time.Time
	for _, s := range g.spans {
		if s[0].Before(until) {
			n++
		}
		if s[1].After(until) {
			until = s[1]
		}
	}
	return n
}

// turn asks for the lock once, and holds it for a moment if it is given.
func (g *guarded) turn(c *Client, token string) error {
	asked := time.Now()
	reply, err := c.Do(acquireArgs("k", token, lease)...)
	switch {
	case err != nil:
		return err
	case reply == nil:
		g.refused.Add(1)
		time.Sleep(time.Millisecond)
		return nil
	case reply != "OK":
		g.noQuorum.Add(1)
		return nil
	}
	had := time.Now()
	time.Sleep(time.Millisecond)
	// Who has slept over his lease has held the lock no longer than that.
	end := time.Now()
	if last := asked.Add(lease); last.Before(end) {
		end = last
	}
	g.held.Add(1)
	if had.Before(end) {
		g.mu.Lock()
		g.spans = append(g.spans, [2]time.Time{had, end})
		g.mu.Unlock()
	}
	_, err = c.Do(releaseArgs("k", token)...)
	return err
}
