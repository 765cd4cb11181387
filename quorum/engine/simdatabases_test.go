package engine

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"redlock-proxy/quorum"
	"redlock-proxy/quorum/marker"
)

// Locks in several databases, over masters that are reconfigured while they are used: one
// database is flushed or swapped with another, a policy that evicts is set, a master is a
// replica for a while, or its log is switched off. Half of the schedules have a master
// whose clock is an hour off all the time, and clients that name the time of day at which
// their lock is to end.

func TestSimulatedReconfigurationsNeverGiveTwoHolders(t *testing.T) {
	n, won := eachSeed(t, 8, func(t *testing.T, seed uint64) int {
		return simulateWith(t, seed, func(s *simulation) {
			s.reconfigured, s.hour, s.locks = true, seed%2 == 0, severalDatabases
		})
	})
	if won < n && !t.Failed() {
		t.Errorf("only %d locks were won in %d schedules", won, n)
	}
}

// The locks of a schedule. What follows the @ is the database.
var (
	oneDatabase      = []string{"k0", "k1", "k2"}
	severalDatabases = []string{"k0", "k0@1", "k0@5", "k1@5"}
)

// located is where a lock is.
func located(lock string) (key string, db int) {
	key, in, elsewhere := strings.Cut(lock, "@")
	if elsewhere {
		db, _ = strconv.Atoi(in)
	}
	return key, db
}

// fewDatabases has the masters have no more databases than the locks are in, and one that
// nobody uses, in all but one of sixteen schedules: each in which a master has forgotten is
// healed, and costs a schedule as much as those that are used.
func (s *simulation) fewDatabases() {
	count := quorum.Databases
	if s.seed%quorum.Databases != 0 {
		count = 2
		for _, lock := range s.locks {
			_, db := located(lock)
			count = max(count, db+2)
		}
	}
	for _, m := range s.world.masters {
		m.count = count
	}
}

// ahead is by how much a master's clock is.
func (m *fakeMaster) ahead() (by time.Duration) {
	m.locked(func() { by = m.jumped })
	return by
}

// valueOf is what a master holds of a lock.
func (m *fakeMaster) valueOf(lock string) (value string) {
	key, db := located(lock)
	m.locked(func() { m.in(db, func() { k, _ := m.key(key); value = k.value }) })
	return value
}

// vagueDay is by how much the time of day may be off by which a lock is to end, where
// the masters' clocks run alike: half of the longest round trip that counts, and a bit.
const vagueDay = 150 * ms

// fakeHistory is what INFO says of a data set that has never been a replica's.
const fakeHistory = "master_replid:r%d\r\nmaster_replid2:0000\r\n"

// beginReconfigured has proxies look often enough at how masters are configured.
func (s *simulation) beginReconfigured() {
	s.world.cfg.ProbeInterval = 100 * ms
	s.ends = time.Now().Add(4 * time.Second)
	for i, m := range s.world.masters {
		m.info = fmt.Sprintf(fakeHistory, i)
		if s.hour {
			m.rate = 0
		}
	}
	if s.hour {
		m := s.world.masters[s.rand.IntN(len(s.world.masters))]
		m.jumped = []time.Duration{time.Hour, -time.Hour}[s.rand.IntN(2)]
	}
}

// reconfigure does to a master what an operator may, and waits until that is over.
func (s *simulation) reconfigure(m *fakeMaster) string {
	r := s.rand
	dbs := []int{0, 1, 5}
	switch r.IntN(6) {
	case 0:
		db := dbs[r.IntN(len(dbs))]
		once(m, []string{"SET", "GETRANGE", "EVALSHA", "TIME"}[r.IntN(4)], func(m *fakeMaster) {
			m.in(db, func() { clear(m.keys) })
		})
		return fmt.Sprintf("has database %d flushed", db)
	case 1:
		i, j := r.IntN(3), 1+r.IntN(2)
		a, b := dbs[i], dbs[(i+j)%3]
		once(m, []string{"SET", "GETRANGE", "EVALSHA", "TIME"}[r.IntN(4)], func(m *fakeMaster) { m.swap(a, b) })
		return fmt.Sprintf("has databases %d and %d swapped", a, b)
	case 2:
		return s.evicts(m)
	case 3:
		return s.follows(m)
	case 4:
		return s.withdraws(m)
	}
	return s.restartAll()
}

// restartAll starts all engines anew, if the masters' markers tell of each jump.
func (s *simulation) restartAll() string {
	for i := range s.engines {
		if !s.jumpsNoticed() {
			return "is as it was"
		}
		s.restart(i)
	}
	return "is left alone, and all engines restarted"
}

// evicts has a master throw keys away some time after it was set to.
func (s *simulation) evicts(m *fakeMaster) string {
	was := ""
	m.set(func(m *fakeMaster) {
		was = m.info
		m.info += "maxmemory:9\r\nmaxmemory_policy:volatile-lru\r\n"
	})
	defer m.set(func(m *fakeMaster) { m.info = was })
	if !s.unfitFor(m) {
		return "was set to evict keys"
	}
	n := 0
	for _, lock := range s.locks {
		if key, db := located(lock); s.rand.IntN(3) > 0 {
			n++
			m.set(func(m *fakeMaster) { m.in(db, func() { m.evict(key) }) })
		}
	}
	return fmt.Sprintf("has evicted up to %d keys", n)
}

// follows has a master be a replica of another one for a while.
func (s *simulation) follows(m *fakeMaster) string {
	i := slices.Index(s.world.masters, m)
	other := s.world.masters[(i+1+s.rand.IntN(len(s.world.masters)-1))%len(s.world.masters)]
	held := other.copy()
	held.later(m.ahead() - other.ahead())
	was := ""
	m.set(func(m *fakeMaster) {
		was, m.replica = m.info, true
		m.info = "role:slave\r\nmaster_host:elsewhere\r\n"
	})
	if !s.unfitFor(m) {
		m.set(func(m *fakeMaster) { m.info, m.replica = was, false })
		return "was to be a replica"
	}
	m.set(func(m *fakeMaster) {
		m.data, m.replica = held.clone(), false
		m.keys = m.data[m.using]
		m.info = fmt.Sprintf("master_replid:%d\r\nmaster_replid2:r0\r\n", s.rand.Int())
	})
	return "was a replica"
}

// later has all keys end later by so much, as those of another whose clock is as much
// behind.
func (d fakeData) later(by time.Duration) {
	for _, keys := range d {
		for name, k := range keys {
			if k.until != 0 {
				k.until += int64(by)
				keys[name] = k
			}
		}
	}
}

// unfitFor waits until each engine has found a master unfit, and for as long again as they
// are given to do so. It tells whether they have.
func (s *simulation) unfitFor(m *fakeMaster) bool {
	time.Sleep(3*s.world.cfg.ProbeInterval + time.Duration(s.rand.IntN(200))*ms)
	i := slices.Index(s.world.masters, m)
	return !slices.ContainsFunc(s.engines, func(e *Engine) bool { return e.zero.lanes[i].status().State != quorum.Down })
}

// withdraws has a durable master's log be switched off, and the master crash some time
// later.
func (s *simulation) withdraws(m *fakeMaster) string {
	if !m.durable() {
		m.configure(durableSettings)
		return "is durable from now on"
	}
	m.configure(nil)
	time.Sleep(5*s.world.cfg.ProbeInterval + time.Duration(s.rand.IntN(200))*ms)
	if !s.told(m) {
		m.configure(durableSettings)
		return "had its log switched off"
	}
	m.restartFromLog()
	return "had its log switched off, and restarts with it"
}

// told tells that the markers of all masters but this one say that it is not durable.
func (s *simulation) told(m *fakeMaster) bool {
	return !slices.ContainsFunc(s.world.masters, func(other *fakeMaster) bool {
		k, err := marker.Parse(other.markerIn(0))
		return other != m && (err != nil || k.Others[m.name] != marker.NoLog)
	})
}

// hadWithout has each lock be acquired and released while a minority of the masters, from
// this one on, is away.
func (s *simulation) hadWithout(first int) {
	n := len(s.world.masters)
	var away []*fakeMaster
	for i := range (n - 1) / 2 {
		away = append(away, s.world.masters[(first+i)%n])
	}
	for _, m := range away {
		m.cut()
	}
	time.Sleep(s.world.cfg.ProbeInterval + s.world.cfg.MasterTimeout)
	s.hadAgain()
	for _, m := range away {
		m.rejoin()
	}
	time.Sleep(time.Second)
}
