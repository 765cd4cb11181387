package quorum

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"testing"
	"time"
)

// Clients that all lock with one constant token: a lock that is taken back late is then
// told from a later one by nothing but its place among the commands of one proxy, and
// by its expiry where there are several.

// alike says whose tokens are alike.
type alike uint8

const (
	notAlike   alike = iota
	atOneProxy       // those of all clients of one proxy
	atSeveral        // those of all clients of several proxies
)

func TestSimulatedConstantTokensNeverGiveTwoHolders(t *testing.T) {
	n, won := eachSeed(t, 20, func(t *testing.T, seed uint64) int {
		return simulateAlike(t, seed, []alike{atOneProxy, atSeveral}[seed%2])
	})
	if won < n && !t.Failed() {
		t.Errorf("only %d locks were won in %d schedules", won, n)
	}
}

// clients is how many there are.
func (s *simulation) clients() int {
	n := 3 + s.rand.IntN(10)
	if s.alike == atOneProxy {
		n = 12
	}
	return n
}

// beginAtOne has masters be late, and away for a while, so that an undo could come
// behind what was asked after it.
func (s *simulation) beginAtOne() (engines int) {
	s.constant, s.pause, s.ttl = 1, 60, [2]int{30, 900}
	return 1
}

// beginAtSeveral has the proxies lose masters one by one, so that what one owes a master
// meets what another has been granted since. All ttls are the same, and nobody ends a
// lock so soon that what is owed for it outlives the next: that is what is promised for
// such tokens, and no more (see the README).
func (s *simulation) beginAtSeveral() (engines int) {
	const ttl = 5 * time.Second
	s.constant, s.sockets, s.ttl = 1, false, [2]int{int(ttl / ms), int(ttl/ms) + 1}
	s.rest, s.again = s.world.cfg.MasterTimeout+100*ms, 20*ms
	s.ends = time.Now().Add(5 * time.Second)
	s.world.cfg.MaxTTL = ttl + time.Second
	s.ways = make(map[way]*road)
	return 2 + s.rand.IntN(2)
}

// way is from a proxy to a master.
type way struct {
	engine int
	master string
}

// road is whether a way can be gone, and who is on it.
type road struct {
	blocked int
	conns   []net.Conn
}

// reach is the configuration of an engine, in which its ways can be blocked.
func (s *simulation) reach(engine int) Config {
	cfg := s.world.cfg
	if s.alike != atSeveral {
		return cfg
	}
	cfg.Masters = slices.Clone(cfg.Masters)
	for i := range cfg.Masters {
		m := &cfg.Masters[i]
		r, dial := new(road), m.Dial
		s.ways[way{engine, m.Name}] = r
		m.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
			s.mu.Lock()
			defer s.mu.Unlock()
			if r.blocked > 0 {
				return nil, errors.New("no route to host")
			}
			conn, err := dial(ctx, network, address)
			if err == nil {
				r.conns = append(r.conns, conn)
			}
			return conn, err
		}
	}
	return cfg
}

// part keeps an engine from a master for a while.
func (s *simulation) part(engine int, m *fakeMaster, away time.Duration) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.ways[way{engine, m.name}]
	r.blocked++
	for _, c := range r.conns {
		c.Close()
	}
	r.conns = nil
	time.AfterFunc(away, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		r.blocked--
	})
	return fmt.Sprintf("is out of reach of engine %d for %v", engine, away)
}
