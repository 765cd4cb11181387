package engine

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"redlock-proxy/quorum"
	"redlock-proxy/quorum/marker"
)

// faults happen until the end of the schedule.
func (s *simulation) faults() {
	for time.Now().Before(s.ends) {
		time.Sleep(time.Duration(s.rand.IntN(s.pause)) * ms)
		m := s.world.masters[s.rand.IntN(len(s.world.masters))]
		fault := ""
		switch {
		case s.reconfigured && s.rand.IntN(5) == 0:
			fault = s.reconfigure(m)
		case s.strikes != nil && s.rand.IntN(3) > 0:
			fault = s.setApart(m)
		case s.machine != nil && s.rand.IntN(2) == 0:
			fault = s.stands(m)
		case s.rare:
			fault = s.rarely(m)
		case s.rand.IntN(12) == 0 && s.alike == notAlike:
			fault = s.loss(m)
		default:
			fault = s.fault(m)
		}
		if s.strikes != nil {
			time.AfterFunc(mostLate/8+time.Duration(s.rand.IntN(int(mostLate/8*7))), m.comeBack)
		}
		s.tellOf(m, fault)
	}
}

// loss takes from a master what it held, or may have, and says how. A master that
// says it is durable keeps what it answered.
func (s *simulation) loss(m *fakeMaster) string {
	r := s.rand
	switch r.IntN(6) {
	case 0:
		// Between two commands of one batch, too.
		once(m, []string{"SET", "GETRANGE", "EVALSHA", "TIME"}[r.IntN(4)], forgetAll)
		return "is flushed"
	case 1:
		if s.hour {
			break // two clocks that are wrong would be a quorum of them
		}
		// None as another's: several that jump alike are taken for the proxy's own.
		n := len(s.world.masters)
		by := time.Duration(r.IntN(4000/150/n)*n+slices.Index(s.world.masters, m))*150*ms - time.Second
		// What tells of it first may be slow, and so as vague as the jump is great.
		slow := time.Duration(r.IntN(2)*r.IntN(450)) * ms
		once(m, []string{"SET", "GETRANGE", "EVALSHA", "TIME"}[r.IntN(4)], func(m *fakeMaster) {
			if !s.sighted(m) {
				return
			}
			s.setClock(m, by)
			if slow > 0 {
				m.answersLate(slow)
				time.AfterFunc(slow/2, func() { m.set(func(m *fakeMaster) { m.answersLate(m.far) }) })
			}
		})
		return fmt.Sprintf("has its clock set by %v, and answers late by %v meanwhile", by, slow)
	case 2, 3:
		if old := m.memories(); len(old) > 0 {
			kept := old[r.IntN(len(old))]
			m.restartWith(kept)
			return "restarts with what it held long ago"
		}
	case 4:
		m.remember()
		return "writes a dump"
	}
	if m.durable() {
		m.restartWith(m.copy())
		return "restarts with all it held"
	}
	m.restartBlank()
	return "restarts blank"
}

// setClock has a master's clock jump, of which its marker does not tell yet. Its mu is held.
func (s *simulation) setClock(m *fakeMaster, by time.Duration) {
	m.jumped += by
	s.mu.Lock()
	defer s.mu.Unlock()
	m.in(0, func() { s.jumped[m] = marker.NonceOf(m.marker()) })
}

// fault has something happen to a master that may happen in these schedules, and says what.
func (s *simulation) fault(m *fakeMaster) string {
	r := s.rand
	sometimes := time.Duration(r.IntN(2)*r.IntN(150)) * ms
	kind := r.IntN(14)
	switch s.alike {
	case atOneProxy:
		if s.sockets {
			return s.holdBackTwo(m)
		}
		kind = []int{5, 6, 7, 9}[r.IntN(4)]
	case atLast:
		return s.lateTogether(m)
	case atSeveral:
		return s.part(r.IntN(len(s.engines)), m, time.Duration(20+r.IntN(400))*ms)
	}
	if s.sockets && r.IntN(2) == 0 {
		kind = 12
	}
	if s.strikes != nil && kind == 12 {
		kind = 9 // nothing is carried out so late that nobody knows when
	}
	if s.traces != nil {
		kind = []int{5, 8, 9, 9, 9, 10, 10, 10}[r.IntN(8)]
	}
	return s.befall(m, kind, sometimes)
}

// befall has a fault of a kind happen to a master, by as much as it is late then, and says what
// it is.
func (s *simulation) befall(m *fakeMaster, kind int, late time.Duration) string {
	r := s.rand
	switch kind {
	case 0, 1:
		m.freeze()
		return "frozen"
	case 2, 3, 4:
		m.unfreeze()
		return "goes on"
	case 5:
		m.cut()
		return "cut off"
	case 6, 7:
		m.rejoin()
		return "mended"
	case 8:
		m.sever()
		return "severed"
	case 9:
		m.set(func(m *fakeMaster) { m.lag = late })
		return fmt.Sprint("carries out late by ", late)
	case 10:
		m.set(func(m *fakeMaster) { m.delay = late })
		return fmt.Sprint("answers late by ", late)
	case 11:
		if r.IntN(4) == 0 && s.jumpsNoticed() {
			return s.restart(r.IntN(len(s.engines)))
		}
		m.set(func(m *fakeMaster) { clear(m.scripts) })
		return "forgets its scripts"
	case 12:
		// What its sockets hold is carried out behind what later ones bring.
		time.AfterFunc(time.Duration(300+r.IntN(1000))*ms, m.holdBack())
		return "holds its sockets back"
	}
	// All others are out of reach for a while.
	away := time.Duration(50+r.IntN(500)) * ms
	for _, other := range s.world.masters {
		if other != m {
			other.cut()
			time.AfterFunc(away, other.rejoin)
		}
	}
	return fmt.Sprint("is alone for ", away)
}

// jumpsNoticed tells that the marker tells of each clock that was set. An engine that
// is started before cannot know.
func (s *simulation) jumpsNoticed() bool {
	s.mu.Lock()
	jumped := maps.Clone(s.jumped)
	s.mu.Unlock()
	for m, n := range jumped {
		if n.Valid() && marker.NonceOf(m.value(quorum.MarkerKey)) == n {
			return false
		}
	}
	return true
}

// sighted tells that each engine has seen how a master's clock runs. One that has not,
// as it was started while the master was away, cannot know of a jump.
func (s *simulation) sighted(m *fakeMaster) bool {
	s.mu.Lock()
	engines, another := slices.Clone(s.engines), s.another
	s.mu.Unlock()
	i := slices.Index(s.world.masters, m)
	return !another && !slices.ContainsFunc(engines, func(e *Engine) bool {
		a := e.zero.lanes[i].sighted()
		return !a.Known()
	})
}

// heal ends all faults.
func (s *simulation) heal() {
	for _, m := range s.world.masters {
		m.comeBack()
		m.set(func(m *fakeMaster) { m.respond = nil })
	}
}

// comeBack has a master be there, and as fast as it can be.
func (m *fakeMaster) comeBack() {
	m.unfreeze()
	m.rejoin()
	m.set(func(m *fakeMaster) { m.lag, m.delay = 0, 0 })
}
