package engine

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
	atLast           // those of all clients of one proxy, who extend when little is left
)

func TestSimulatedConstantTokensNeverGiveTwoHolders(t *testing.T) {
	n, won := eachSeed(t, 20, func(t *testing.T, seed uint64) int {
		return simulateWith(t, seed, func(s *simulation) {
			if s.alike = atOneProxy; !*socketsOnly {
				s.alike = []alike{atOneProxy, atSeveral, atOneProxy, atLast}[seed%4]
			}
		})
	})
	if won < n && !t.Failed() {
		t.Errorf("only %d locks were won in %d schedules", won, n)
	}
}

// clients is how many there are.
func (s *simulation) clients() int {
	n := 3 + s.rand.IntN(10)
	if s.alike == atOneProxy || s.alike == atLast {
		n = 12
	}
	return n
}

// beginAtOne has masters be late, and away for a while, so that an undo could come
// behind what was asked after it.
func (s *simulation) beginAtOne() (engines int) {
	s.constant, s.pause, s.ttl = 1, 60, [2]int{30, 900}
	if s.sockets {
		s.pause, s.ttl = 3000, [2]int{600, 900}
		s.ends = time.Now().Add(10 * time.Second)
	}
	return 1
}

// beginAtLast has masters be late, so that locks end while others ask for them.
func (s *simulation) beginAtLast() (engines int) {
	s.constant, s.sockets, s.pause, s.ttl = 1, false, 300, [2]int{500, 900}
	s.ends = time.Now().Add(5 * time.Second)
	return 1
}

// lateTogether has a majority be late.
func (s *simulation) lateTogether(m *fakeMaster) string {
	masters := s.world.masters
	late := time.Duration(30+s.rand.IntN(120)) * ms
	i := slices.Index(masters, m)
	for j := range masters {
		at := masters[(i+j)%len(masters)]
		lag := late
		if j > len(masters)/2 {
			lag = 0
		}
		at.set(func(m *fakeMaster) { m.lag = lag })
	}
	return fmt.Sprintf("and those behind it carry out late by %v", late)
}

// holdBackTwo has what is in the sockets of two masters be carried out when their
// connections have been given up, and their successors used.
func (s *simulation) holdBackTwo(m *fakeMaster) string {
	masters := s.world.masters
	other := masters[(slices.Index(masters, m)+1)%len(masters)]
	long := s.world.cfg.MasterTimeout + time.Duration(50+s.rand.IntN(600))*ms
	time.AfterFunc(long, m.holdBack())
	time.AfterFunc(long, other.holdBack())
	return fmt.Sprintf("and %s hold their sockets back for %v", other.name, long)
}

// beginAtSeveral has the proxies lose masters one by one, so that what one owes a master
// meets what another has been granted since. All ttls are the same, nobody ends a
// lock so soon that what is owed for it outlives the next, nor while others ask for it:
// that is what is promised for such tokens, and no more (see the README).
func (s *simulation) beginAtSeveral() (engines int) {
	const ttl = 5 * time.Second
	s.constant, s.sockets, s.ttl = 1, false, [2]int{int(ttl / ms), int(ttl/ms) + 1}
	s.rest, s.again = s.world.cfg.MasterTimeout+100*ms, 20*ms
	s.ends = time.Now().Add(5 * time.Second)
	s.world.cfg.MaxTTL = ttl + time.Second
	s.turns = make(map[string]*simTurn)
	for i := range simKeys {
		s.turns[fmt.Sprint("k", i)] = newSimTurn()
	}
	return 2 + s.rand.IntN(2)
}

// simTurn keeps those that free a lock and those that ask for it apart. A mutex would
// hold virtual time up.
type simTurn struct {
	freeing chan struct{} // has room for one
	asking  chan struct{} // full of those that ask, or of one that frees
}

func newSimTurn() *simTurn {
	return &simTurn{make(chan struct{}, 1), make(chan struct{}, 32)}
}

// take begins a turn. Before it ends, what is still in sockets is carried out.
func (t *simTurn) take(frees bool) (end func()) {
	n := 1
	if frees {
		t.freeing <- struct{}{}
		n = cap(t.asking)
	}
	for range n {
		t.asking <- struct{}{}
	}
	return func() {
		time.Sleep(ms)
		for range n {
			<-t.asking
		}
		if frees {
			<-t.freeing
		}
	}
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
	if s.alike != atSeveral && s.strikes == nil {
		return cfg
	}
	if s.ways == nil {
		s.ways = make(map[way]*road)
	}
	cfg.Masters = slices.Clone(cfg.Masters)
	for i := range cfg.Masters {
		m := &cfg.Masters[i]
		r, dial := new(road), m.Dial
		s.ways[way{engine, m.Name}] = r
		m.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
			conn, err := dial(ctx, network, address)
			s.mu.Lock()
			defer s.mu.Unlock()
			if err == nil && r.blocked > 0 {
				conn.Close()
				return nil, errors.New("no route to host")
			}
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
