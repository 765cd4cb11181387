package engine

import (
	"slices"
	"time"

	"redlock-proxy/quorum"
)

// Trouble has masters be in trouble for some time, and come out of it.
func (s *Stage) Trouble(long time.Duration) {
	s.turnsCalm(false)
	patient := s.rand.IntN(2) == 0 // the next comes when all have recovered
	for until := time.Now().Add(long); time.Now().Before(until); {
		time.Sleep(time.Duration(s.rand.IntN(400)) * ms)
		minority := len(s.world.masters) - s.Quorum()
		n := 1 + s.rand.IntN(minority)
		if s.rand.IntN(15) == 0 {
			n = minority + 1
		}
		var hit []*fakeMaster
		for _, i := range s.rand.Perm(len(s.world.masters))[:n] {
			hit = append(hit, s.world.masters[i])
		}
		s.trouble(hit, true)
		for _, m := range hit {
			s.tellOf(m, s.befalls(m))
		}
		time.Sleep(time.Duration(20+s.rand.IntN(1200)) * ms)
		for _, m := range hit {
			s.recovers(m)
		}
		s.trouble(hit, false)
		if patient {
			s.settles(5 * time.Second)
		}
	}
	s.settles(10 * time.Second) // one that has forgotten catches up slowly with what is changed all the time
	s.turnsCalm(true)
}

// trouble notes that masters are in trouble, or no more.
func (s *Stage) trouble(masters []*fakeMaster, is bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, m := range masters {
		s.troubled[m] = is
	}
}

// settles waits until all masters vote.
func (s *Stage) settles(most time.Duration) {
	for until := time.Now().Add(most); len(s.reached()) < len(s.world.masters) && time.Now().Before(until); {
		time.Sleep(50 * ms)
	}
}

// befalls has something happen to a master, and says what.
func (s *Stage) befalls(m *fakeMaster) string {
	late := time.Duration(1+s.rand.IntN(400)) * ms
	if s.Forgets && s.rand.IntN(3) == 0 && time.Since(s.forgot) > 3*time.Second && s.allVote() {
		s.forgot = time.Now()
		if s.rand.IntN(2) == 0 {
			m.restartBlank()
			return "restarts blank"
		}
		m.set(func(m *fakeMaster) {
			forgetAll(m)
			m.tellOfFlush()
		})
		return "is flushed"
	}
	switch s.rand.IntN(7) {
	case 0:
		m.set(func(m *fakeMaster) {
			for _, t := range m.trackers {
				t.conn.sever()
			}
		})
		return "loses those whom it tells of changes"
	case 1:
		m.set(func(m *fakeMaster) { m.answersLate(m.far + late) })
		return "answers, and tells, later by " + late.String()
	case 2:
		time.AfterFunc(late, m.holdBack())
		return "holds its sockets back for " + late.String()
	}
	return s.befall(m, []int{0, 5, 8, 9, 10}[s.rand.IntN(5)], late)
}

// allVote tells that no master has forgotten of late.
func (s *Stage) allVote() bool {
	return !slices.ContainsFunc(s.engines, func(e *Engine) bool {
		return slices.ContainsFunc(e.Status().Masters, func(m quorum.MasterStatus) bool { return m.State != quorum.Voting })
	})
}

// recovers has a master be there, and as near as it was.
func (s *Stage) recovers(m *fakeMaster) {
	m.comeBack()
	m.set(func(m *fakeMaster) { m.answersLate(m.far) })
	s.tellOf(m, "is well")
}
