package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"sync"
	"testing"
	"time"

	"redlock-proxy/integration"
)

// chance is the same for every test, and where a fault takes a time to choose, the longest.
func chance() *rand.Rand { return rand.New(most{}) }

type most struct{}

func (most) Uint64() uint64 { return math.MaxUint64 }

// fill puts a lock and a marker on a master.
func fill(t *testing.T, m *master, lock string) {
	t.Helper()
	for _, args := range [][]string{{"SET", "lock", lock}, {"SET", marker, "nonce"}} {
		if _, err := m.do(args...); err != nil {
			t.Fatal(err)
		}
	}
}

func wantThere(t *testing.T, m *master, key string, want any) {
	t.Helper()
	got, err := m.do("GET", key)
	must(t, err)
	if got != want {
		t.Errorf("%s is %v, want %v", key, got, want)
	}
}

// TestLossesAreWhatTheySay: each of them leaves on a real server what its name
// promises.
func TestLossesAreWhatTheySay(t *testing.T) {
	for _, c := range []struct {
		name         string
		on           kind
		lock, marker any
	}{
		{"kill", volatile, nil, nil},
		{"kill", durable, nil, nil},
		{"kill-old", volatile, "old", "nonce"},
		{"kill-durable", durable, "new", "nonce"},
		{"flush", volatile, nil, nil},
		{"forged", volatile, nil, "nonce"},
		{"freeze", volatile, "new", "nonce"},
		{"cut", volatile, "new", "nonce"},
	} {
		t.Run(fmt.Sprintf("%s, durable: %v", c.name, c.on == durable), func(t *testing.T) {
			m := newMaster(t, 1, c.on)
			h := &house{masters: []*master{m}, proxies: []*proxy{{}}}
			chosen, err := named(c.name, c.on)
			must(t, err)
			fill(t, m, "old")
			var changed sync.WaitGroup
			change := func() {
				if _, err := m.do("SET", "lock", "new"); err != nil {
					t.Error(err)
				}
			}
			if c.name == "kill-old" {
				// Between what is kept and the kill a second passes.
				changed.Go(func() {
					for {
						if _, err := os.Stat(m.kept()); err == nil {
							break
						}
						time.Sleep(time.Millisecond)
					}
					change()
				})
			} else {
				change()
			}
			end, err := chosen[0].begin(h, 0, chance())
			must(t, err)
			changed.Wait()
			must(t, end())
			wantThere(t, m, "lock", c.lock)
			wantThere(t, m, marker, c.marker)
		})
	}
}

func TestClockFaultIsUndone(t *testing.T) {
	m := testMaster(t)
	h := &house{masters: []*master{m}, proxies: []*proxy{{}}}
	for _, sign := range []time.Duration{1, -1} {
		end, err := jump(sign)(h, 0, chance())
		must(t, err)
		if by := m.clock.Offset() * sign; by < 300*time.Millisecond {
			t.Errorf("the clock is %v off, want at least 300ms", by)
		}
		must(t, end())
		if by := m.clock.Offset(); by != 0 {
			t.Errorf("the clock is still %v off", by)
		}
	}
}

// through asks a master over its link.
func through(m *master, within time.Duration) (time.Duration, error) {
	c, err := integration.Dial(m.links[0].addr)
	if err != nil {
		return 0, err
	}
	defer c.Close()
	begin := time.Now()
	if err := c.Send("PING"); err != nil {
		return 0, err
	}
	_, err = c.ReceiveWithin(within)
	return time.Since(begin), err
}

func TestLinksFailAsTheySay(t *testing.T) {
	m := testMaster(t)
	l := m.links[0]
	well := func() {
		t.Helper()
		if _, err := through(m, time.Minute); err != nil {
			t.Fatalf("a link that is well: %v", err)
		}
	}
	well()
	open, err := integration.Dial(l.addr)
	must(t, err)
	defer open.Close()
	if reply, err := open.Do("PING"); reply != "PONG" {
		t.Fatalf("got %v, %v", reply, err)
	}
	l.cut()
	if _, err := open.Do("PING"); err == nil {
		t.Error("a connection outlives the cut")
	}
	if _, err := through(m, time.Minute); err == nil {
		t.Error("a link that is cut lets connections through")
	}
	must(t, l.restore())
	well()

	must(t, l.silence())
	if _, err := through(m, 200*time.Millisecond); err == nil {
		t.Error("a silent link answers")
	}
	l.heal()
	well()

	must(t, l.slow(100*time.Millisecond))
	if d, err := through(m, time.Minute); err != nil || d < 140*time.Millisecond {
		t.Errorf("a slow link takes %v, %v", d, err)
	}
	l.heal()
	well()
}

// TestEachProxyHasItsOwnLink: what befalls one of them does not befall the other.
func TestEachProxyHasItsOwnLink(t *testing.T) {
	m := newMaster(t, 2, volatile)
	must(t, m.eachLink(1, func(l *link) error { l.cut(); return nil }))
	for i, cut := range []bool{false, true} {
		c, err := integration.Dial(m.links[i].addr)
		if (err != nil) != cut {
			t.Errorf("proxy %d, cut off: %v: %v", i, cut, err)
		}
		if err == nil {
			c.Close()
		}
	}
}
