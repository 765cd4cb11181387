package engine

import (
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"redlock-proxy/quorum"
	"redlock-proxy/quorum/catchup"
	"redlock-proxy/quorum/clock"
	"redlock-proxy/quorum/marker"
)

// Machines that stand still, as virtual ones that are suspended do: a master's, with its
// clock; and that of all proxies of a schedule, with all clocks that they have, or with all
// but one. Meanwhile other proxies go on: they lock what is free, and give a master that has
// forgotten what the others hold.
//
// What is promised is promised by clocks that go on. A client whose own clock stands still
// cannot know that its lock has ended, so nobody judges one on the machine of the proxies:
// all clients here are on others. Virtual time is that of the proxies' machine, so that in
// truth all else goes ahead of it.

func TestSimulatedStandstillsNeverGiveTwoHolders(t *testing.T) {
	n, won := eachSeed(t, 8, func(t *testing.T, seed uint64) int {
		return simulateWith(t, seed, func(s *simulation) { s.machine = new(machine) })
	})
	if won < n && !t.Failed() {
		t.Errorf("only %d locks were won in %d schedules", won, n)
	}
}

// machine is that of the proxies.
type machine struct {
	stood      atomic.Int64 // how long in all: what virtual time lacks of the time of all others
	boot, wall atomic.Int64 // by how much clocks of it have gone on meanwhile
}

// now is the time of the clients.
func (s *simulation) now() time.Time {
	if s.machine == nil {
		return time.Now()
	}
	return time.Now().Add(time.Duration(s.machine.stood.Load()))
}

// beginStill gives the proxies the clocks of their machine.
func (s *simulation) beginStill() {
	s.pause, s.ttl = 120, [2]int{500, 900}
	s.world.cfg.ProbeInterval = []time.Duration{100 * ms, time.Second}[s.rand.IntN(2)]
	s.world.cfg.Clock = func() (time.Duration, time.Time) {
		boot, wall := virtualClock()
		return boot + time.Duration(s.machine.boot.Load()), wall.Add(time.Duration(s.machine.wall.Load()))
	}
}

// stands has a machine stand still for a while.
func (s *simulation) stands(m *fakeMaster) string {
	if s.rand.IntN(4) == 0 {
		return s.masterStands(m)
	}
	return s.proxiesStand(m)
}

// masterStands has a master's machine stand still. Later its clock is set right.
func (s *simulation) masterStands(m *fakeMaster) string {
	i := slices.Index(s.world.masters, m)
	long := time.Duration(50+150*(s.rand.IntN(8)*len(s.world.masters)+i)) * ms // none as another's
	m.freeze()
	time.AfterFunc(long/4, func() {
		m.set(func(m *fakeMaster) { s.setClock(m, -long) })
		m.unfreeze()
	})
	if s.rand.IntN(2) == 0 {
		time.AfterFunc(long/4+time.Duration(s.rand.IntN(1000))*ms, func() {
			if s.sighted(m) {
				m.set(func(m *fakeMaster) { s.setClock(m, long) })
			}
		})
	}
	return fmt.Sprintf("stands still for %v", long)
}

// proxiesStand has the proxies' machine stand still, in one moment of virtual time, while
// what was asked of most masters waits behind something else. If it slept, one of its clocks
// has gone on; or one is set right as it goes on.
func (s *simulation) proxiesStand(lost *fakeMaster) string {
	r := s.rand
	long := time.Duration(1+r.IntN(1500)) * ms
	for _, m := range s.world.masters {
		switch i := r.IntN(4); {
		case m == lost:
		case i == 0:
			m.cut()
			time.AfterFunc(time.Duration(400+r.IntN(400))*ms, m.rejoin)
		case i < 3:
			m.set(func(m *fakeMaster) { m.lag = time.Duration(20+r.IntN(180)) * ms })
		}
	}
	time.Sleep(time.Duration(r.IntN(200)) * ms)
	for range r.IntN(2) * 200 {
		if s.halfway(lost) {
			break
		}
		time.Sleep(ms)
	}
	sighted := s.sighted(lost)
	for _, m := range s.world.masters {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.jumped += long
	}
	how := fmt.Sprintf("is as it was, and the proxies stand still for %v", long)
	if sighted && r.IntN(4) == 0 {
		// By more than drift and slow replies explain.
		by := time.Duration(1+r.IntN(9)) * 150 * ms
		s.setClock(lost, by)
		how += fmt.Sprintf("; it has its clock set by %v meanwhile", by)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.machine.stood.Add(int64(long))
	switch r.IntN(4) {
	case 0:
		s.machine.boot.Add(int64(long))
		s.machine.wall.Add(int64(long))
		how += " asleep"
	case 1:
		s.machine.wall.Store(s.machine.stood.Load())
		how += ", but for the time of day"
	}
	if long > s.world.cfg.Hush() && r.IntN(4) > 0 && s.forgets(lost) {
		how += "; it has forgotten, and caught up"
	}
	for _, i := range r.Perm(len(s.locks)) {
		if key := s.locks[i]; s.strangerLocks(key) {
			how += "; a stranger locks " + key
			break
		}
	}
	for _, m := range s.world.masters {
		m.lag = 0
	}
	return how
}

// halfway tells that a master holds a lock which no quorum does: it is being acquired.
func (s *simulation) halfway(m *fakeMaster) bool {
	for _, key := range s.locks {
		token, n := m.value(key), 0
		for _, other := range s.world.masters {
			if token != "" && other.value(key) == token {
				n++
			}
		}
		if n > 0 && n < quorum.QuorumOf(len(s.world.masters)) {
			return true
		}
	}
	return false
}

// trusted tells that other proxies than these count a master's votes. Its mu is held.
func (s *simulation) trusted(m *fakeMaster) bool {
	k, err := marker.Parse(m.marker())
	return err == nil && !k.Nonce.Provisional() && k.RunID == m.runID && s.jumped[m] != k.Nonce
}

// forgets has a master forget, and be given by other proxies what the others hold, if they
// agree on all of it. The mu of all masters is held.
func (s *simulation) forgets(m *fakeMaster) bool {
	if !s.trusted(m) {
		return false
	}
	sources := 0
	copies := make(map[string]fakeKey)
	for _, other := range s.world.masters {
		if other == m || !s.trusted(other) {
			continue
		}
		sources++
		for _, key := range s.locks {
			k, ok := other.key(key)
			if !ok {
				continue
			}
			k.until += m.now() - other.now()
			given, twice := copies[key]
			if twice && given.value != k.value {
				return false
			}
			k.until = max(k.until, given.until)
			copies[key] = k
		}
	}
	if sources < catchup.Needed(len(s.world.masters)) {
		return false
	}
	for db := range quorum.Databases {
		m.in(db, func() {
			k, _ := marker.Parse(m.marker())
			k.Was, k.Nonce = k.Nonce, marker.NewNonce(false)
			clear(m.keys)
			m.keys[quorum.MarkerKey] = fakeKey{value: k.String()}
		})
	}
	for key, k := range copies {
		m.keys[key] = k
	}
	return true
}

// stranger is the client of another proxy.
const stranger = -1

// strangerLocks has a client of another proxy ask for a lock. That proxy does not reach
// every master. The mu of all masters is held.
func (s *simulation) strangerLocks(key string) bool {
	ttl := time.Duration(s.ttl[1]) * ms
	token := fmt.Sprintf("s%d", s.rand.Uint32())
	var granted []*fakeMaster
	for _, m := range s.world.masters {
		if _, taken := m.key(key); !taken && s.trusted(m) && m.lag == 0 && m.thaw == nil {
			granted = append(granted, m)
		}
	}
	if len(granted) < quorum.QuorumOf(len(s.world.masters)) {
		return false
	}
	for _, m := range granted {
		m.keys[key] = fakeKey{value: token, until: m.now() + int64(clock.Pad(ttl))}
	}
	s.wonLocked(key, holding{stranger, token, s.now().Add(ttl)}, "acquire of a stranger")
	return true
}
