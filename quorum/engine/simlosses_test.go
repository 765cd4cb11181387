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
	some := func(from, to int) time.Duration { return time.Duration(from+s.rand.IntN(to-from)) * ms }
	tell := func(m *fakeMaster, what string) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.note("fault: %s %s", m.name, what)
	}
	for time.Now().Before(s.ends) {
		order := s.rand.Perm(len(s.world.masters))
		lost, away := s.world.masters[order[0]], s.world.masters[order[1]]
		tell(away, "is cut off")
		away.cut()
		time.Sleep(some(200, 1500))
		tell(away, "is mended")
		away.mend()
		time.Sleep(some(300, 900))
		switch s.rand.IntN(3) {
		case 0:
			s.leave(away, some(400, 1500), tell)
		case 1:
			s.shorten(away, some(400, 1500), tell)
		}
		straggler := s.world.masters[order[len(order)-1]]
		least, most := 140, 245 // milliseconds, just in time for a decision
		if s.kind == decidedLate {
			least, most = 410, 490 // too late, and when the lost one has caught up
		}
		long := time.Duration(0)
		if s.slow() {
			long = 540 * ms // until the connection is given up
			s.calm()
		}
		if s.rand.IntN(3) == 0 || s.slow() {
			// What is asked of this one now is carried out behind what comes later.
			// All others do so for too long to be counted.
			for _, m := range s.world.masters {
				switch m {
				case lost:
				case straggler:
					tell(m, "holds its sockets back")
					time.AfterFunc(some(least, most), m.holdBack())
				default:
					tell(m, "holds its sockets back for long")
					time.AfterFunc(some(300, 600)+long, m.holdBack())
				}
			}
			time.Sleep(some(1, 80))
		}
		if s.dull {
			s.lull(order, some, tell)
		}
		how, f := s.forgetting(lost)
		tell(lost, how)
		f()
		if s.kind == copiedLate {
			s.late(lost, some(1200, 4000), tell)
		}
		if s.rand.IntN(6) == 0 {
			// Two that forget are one too many: from now on only the promises are kept.
			source := s.world.masters[order[1]]
			onceRun(source, catchup.ReadingScript, forgetAll)
			tell(source, "is flushed while it is read")
			time.Sleep(time.Until(s.ends))
			return caughtUp + 1
		}
		if s.rand.IntN(4) == 0 {
			for range 100 {
				if marker.NonceOf(lost.value(quorum.MarkerKey)).Provisional() {
					onceRun(lost, master.MarkScript, forgetAll)
					tell(lost, "is flushed before its marker is written again")
					break
				}
				time.Sleep(5 * ms)
			}
		}
		if s.rand.IntN(3) == 0 {
			s.leave(lost, some(400, 1500), tell)
		}
		if s.rand.IntN(4) == 0 {
			time.Sleep(some(200, 500))
			tell(lost, "is flushed")
			lost.set(forgetAll)
		}
		for range 400 {
			time.Sleep(20 * ms)
			if !time.Now().Before(s.ends) {
				return caughtUp
			}
			if nonce := marker.NonceOf(lost.value(quorum.MarkerKey)); nonce.Valid() && !nonce.Provisional() {
				caughtUp++
				break
			}
		}
		tell(lost, "is back")
		// Only what it was given is left of what it had, while another is away.
		away = s.world.masters[order[2]]
		tell(away, "is cut off")
		away.cut()
		time.Sleep(some(200, 2000))
		away.mend()
		tell(away, "is mended")
		time.Sleep(some(300, 600))
	}
	return caughtUp
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
func (s *simulation) lull(order []int, some func(from, to int) time.Duration, tell func(*fakeMaster, string)) {
	slow := s.world.masters[order[1+s.rand.IntN(len(order)-1)]]
	s.mu.Lock()
	s.lulls = map[*Engine]time.Time{s.engines[s.rand.IntN(len(s.engines))]: time.Now().Add(some(80, 330))}
	s.mu.Unlock()
	time.Sleep(some(0, 20)) // what is asked already is decided
	delay := some(100, 245)
	tell(slow, fmt.Sprintf("answers late by %v", delay))
	slow.set(func(m *fakeMaster) { m.delay = delay })
	time.AfterFunc(some(300, 600), func() { slow.set(func(m *fakeMaster) { m.delay = 0 }) })
}

// late has what the next run gives to a master be carried out when another run is over.
func (s *simulation) late(m *fakeMaster, by time.Duration, tell func(*fakeMaster, string)) {
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
	tell(m, fmt.Sprintf("is given copies late by %v", by))
}

// leave puts on a master what the undo of a lost acquire did not reach.
func (s *simulation) leave(m *fakeMaster, ttl time.Duration, tell func(*fakeMaster, string)) {
	key := fmt.Sprint("k", s.rand.IntN(simKeys))
	m.locked(func() {
		if _, ok := m.key(key); !ok {
			m.keys[key] = fakeKey{value: "leftover", until: m.now() + int64(ttl)}
		}
	})
	tell(m, fmt.Sprintf("is left with %s for %v", key, ttl))
}

// shorten has a master hold locks for a shorter time than a quorum of the others do,
// as one that an extension did not reach.
func (s *simulation) shorten(m *fakeMaster, ttl time.Duration, tell func(*fakeMaster, string)) {
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
			tell(m, fmt.Sprintf("has %s for no more than %v", key, ttl))
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
