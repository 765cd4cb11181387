package engine

import (
	"fmt"
	"time"

	"redlock-proxy/quorum"
	"redlock-proxy/quorum/catchup"
	"redlock-proxy/quorum/clock"
	"redlock-proxy/quorum/marker"
	"redlock-proxy/quorum/master"
)

// losses has masters forget, one after the other, each while the others hold
// different parts of the locks. It returns how many caught up.
func (s *simulation) losses() (caughtUp int) {
	for time.Now().Before(s.ends) {
		order := s.rand.Perm(len(s.world.masters))
		lost := s.world.masters[order[0]]
		s.miss(s.world.masters[order[1]])
		s.holdOthersBack(lost, s.world.masters[order[len(order)-1]])
		if s.dull {
			s.lull(order)
		}
		how, f := s.forgetting(lost)
		s.tellOf(lost, how)
		f()
		if s.kind == copiedLate {
			s.late(lost, s.some(1200, 4000))
		}
		if s.rand.IntN(6) == 0 {
			// Two that forget are one too many: from now on only the promises are kept.
			source := s.world.masters[order[1]]
			onceRun(source, catchup.ReadingScript, forgetAll)
			s.tellOf(source, "is flushed while it is read")
			time.Sleep(time.Until(s.ends))
			return caughtUp + 1
		}
		s.disturb(lost)
		if s.awaitBack(lost) {
			caughtUp++
		}
		if !time.Now().Before(s.ends) {
			return caughtUp
		}
		s.tellOf(lost, "is back")
		// Only what it was given is left of what it had, while another is away.
		away := s.world.masters[order[2]]
		s.tellOf(away, "is cut off")
		away.cut()
		time.Sleep(s.some(200, 2000))
		away.rejoin()
		s.tellOf(away, "is mended")
		time.Sleep(s.some(300, 600))
	}
	return caughtUp
}

// some is a time between two others, in milliseconds.
func (s *simulation) some(from, to int) time.Duration {
	return time.Duration(from+s.rand.IntN(to-from)) * ms
}

// tellOf notes what becomes of a master.
func (s *simulation) tellOf(m *fakeMaster, what string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.note("fault: %s %s", m.name, what)
}

// miss has a master be away for a while, so that it holds less than the others, or has others'
// leftovers, or holds them for a shorter time.
func (s *simulation) miss(m *fakeMaster) {
	s.tellOf(m, "is cut off")
	m.cut()
	time.Sleep(s.some(200, 1500))
	s.tellOf(m, "is mended")
	m.rejoin()
	time.Sleep(s.some(300, 900))
	switch s.rand.IntN(3) {
	case 0:
		s.leave(m, s.some(400, 1500))
	case 1:
		s.shorten(m, s.some(400, 1500))
	}
}

// holdOthersBack has what is asked of the straggler now be carried out behind what comes later,
// and all but the one that is about to forget do so for too long to be counted.
func (s *simulation) holdOthersBack(lost, straggler *fakeMaster) {
	least, most := 140, 245 // milliseconds, just in time for a decision
	if s.kind == decidedLate {
		least, most = 410, 490 // too late, and when the lost one has caught up
	}
	long := time.Duration(0)
	if s.slow() {
		long = 540 * ms // until the connection is given up
		s.calm()
	}
	if s.rand.IntN(3) > 0 && !s.slow() {
		return
	}
	for _, m := range s.world.masters {
		switch m {
		case lost:
		case straggler:
			s.tellOf(m, "holds its sockets back")
			time.AfterFunc(s.some(least, most), m.holdBack())
		default:
			s.tellOf(m, "holds its sockets back for long")
			time.AfterFunc(s.some(300, 600)+long, m.holdBack())
		}
	}
	time.Sleep(s.some(1, 80))
}

// disturb has more happen to a master that has forgotten, before it is back: it forgets again, or
// holds what nobody took back.
func (s *simulation) disturb(lost *fakeMaster) {
	if s.rand.IntN(4) == 0 {
		for range 100 {
			if marker.NonceOf(lost.value(quorum.MarkerKey)).Provisional() {
				onceRun(lost, master.MarkScript, forgetAll)
				s.tellOf(lost, "is flushed before its marker is written again")
				break
			}
			time.Sleep(5 * ms)
		}
	}
	if s.rand.IntN(3) == 0 {
		s.leave(lost, s.some(400, 1500))
	}
	if s.rand.IntN(4) == 0 {
		time.Sleep(s.some(200, 500))
		s.tellOf(lost, "is flushed")
		lost.set(forgetAll)
	}
}

// awaitBack waits until a master is no longer quarantined, for some seconds and no longer than
// the schedule goes on, and tells whether it is not.
func (s *simulation) awaitBack(lost *fakeMaster) bool {
	for range 400 {
		time.Sleep(20 * ms)
		if !time.Now().Before(s.ends) {
			return false
		}
		if nonce := marker.NonceOf(lost.value(quorum.MarkerKey)); nonce.Valid() && !nonce.Provisional() {
			return true
		}
	}
	return false
}

// calm has all locks be released, and many be asked for at once when it returns.
func (s *simulation) calm() {
	until := time.Now().Add(s.rest + 200*ms)
	s.mu.Lock()
	s.free = until
	s.mu.Unlock()
	time.Sleep(time.Until(until))
}

// lull has nobody ask a proxy for a while, so that it notices late that a master has
// forgotten; and what is asked of it then is decided late, since one of the others is
// slow.
func (s *simulation) lull(order []int) {
	slow := s.world.masters[order[1+s.rand.IntN(len(order)-1)]]
	s.mu.Lock()
	s.lulls = map[*Engine]time.Time{s.engines[s.rand.IntN(len(s.engines))]: time.Now().Add(s.some(80, 330))}
	s.mu.Unlock()
	time.Sleep(s.some(0, 20)) // what is asked already is decided
	delay := s.some(100, 245)
	s.tellOf(slow, fmt.Sprintf("answers late by %v", delay))
	slow.set(func(m *fakeMaster) { m.delay = delay })
	time.AfterFunc(s.some(300, 600), func() { slow.set(func(m *fakeMaster) { m.delay = 0 }) })
}

// late has what the next run gives to a master be carried out when another run is over.
func (s *simulation) late(m *fakeMaster, by time.Duration) {
	m.set(func(m *fakeMaster) {
		m.respond = func(args []string) string {
			if !runs(args, catchup.CopyScript) {
				return ""
			}
			m.respond = nil
			time.AfterFunc(by, m.holdBackLocked())
			return later
		}
	})
	s.tellOf(m, fmt.Sprintf("is given copies late by %v", by))
}

// leave puts on a master what the undo of a lost acquire did not reach.
func (s *simulation) leave(m *fakeMaster, ttl time.Duration) {
	key := fmt.Sprint("k", s.rand.IntN(simKeys))
	m.locked(func() {
		if _, ok := m.key(key); !ok {
			m.keys[key] = fakeKey{value: "leftover", until: m.now() + int64(ttl)}
		}
	})
	s.tellOf(m, fmt.Sprintf("is left with %s for %v", key, ttl))
}

// shorten has a master hold locks for a shorter time than a quorum of the others do,
// as one that an extension did not reach.
func (s *simulation) shorten(m *fakeMaster, ttl time.Duration) {
	for i := range simKeys {
		key := fmt.Sprint("k", i)
		s.mu.Lock()
		h := s.held[key]
		s.mu.Unlock()
		promised := time.Until(h.until)
		reached := 0
		for _, other := range s.world.masters {
			if other != m && other.value(key) == h.token && other.left(key) >= promised {
				reached++
			}
		}
		// Its part in an extension that is being decided is not to be taken from it.
		undecided := m.left(key) > clock.Pad(promised)+100*ms
		if m.value(key) == h.token && promised > ttl && !undecided && reached >= quorum.QuorumOf(len(s.world.masters)) {
			m.put(key, h.token, ttl)
			s.tellOf(m, fmt.Sprintf("has %s for no more than %v", key, ttl))
		}
	}
}

// forgetting is one way in which a master loses what it held.
func (s *simulation) forgetting(m *fakeMaster) (how string, f func()) {
	switch s.rand.IntN(3) {
	case 0:
		return "is flushed", func() { m.set(forgetAll) }
	case 1:
		old := m.copy()
		return "restarts with what it held a while ago", func() {
			time.Sleep(time.Duration(s.rand.IntN(800)) * ms)
			m.restartWith(old)
		}
	}
	return "restarts blank", m.restartBlank
}

// onceRun has f called under the master's lock before it next carries out a script
// of a catch-up.
func onceRun(m *fakeMaster, script *master.Script, f func(*fakeMaster)) {
	m.set(func(m *fakeMaster) {
		m.respond = func(args []string) string {
			if runs(args, script) {
				m.respond = nil
				f(m)
			}
			return ""
		}
	})
}
