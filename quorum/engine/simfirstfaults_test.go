package engine

import (
	"time"

	"redlock-proxy/quorum/members"
)

func (s *firstStarts) faults() {
	for time.Now().Before(s.ends) {
		time.Sleep(s.some(50, 1500))
		m := s.world.masters[s.rand.IntN(len(s.world.masters))]
		switch s.rand.IntN(10) {
		case 0, 1, 2:
			s.everything()
		case 3:
			s.torn = true
			s.tell("%s %s", m.name, s.loss(m))
		case 4, 5:
			s.away(m, s.some(100, 3000))
		case 6:
			slow, long := s.some(0, 350), s.some(500, 2000)
			s.tell("%s answers late by %v for %v", m.name, slow, long)
			m.set(func(m *fakeMaster) { m.delay = slow })
			time.AfterFunc(long, func() { m.set(func(m *fakeMaster) { m.delay = 0 }) })
		case 7:
			lag, long := s.some(0, 350), s.some(500, 2000)
			s.tell("%s carries out late by %v for %v", m.name, lag, long)
			m.set(func(m *fakeMaster) { m.lag = lag })
			time.AfterFunc(long, func() { m.set(func(m *fakeMaster) { m.lag = 0 }) })
		case 8:
			i := s.rand.IntN(len(s.engines))
			s.tell("engine %d is restarted", i)
			s.stop(i)
			s.launch(i)
		case 9:
			s.bootstrap(s.cfgs[s.rand.IntN(len(s.cfgs))], s.rand.IntN(2) == 0)
		}
	}
}

func (s *firstStarts) away(m *fakeMaster, long time.Duration) {
	s.tell("%s is away for %v", m.name, long)
	m.cut()
	time.AfterFunc(long, m.rejoin)
}

// loss takes from one master what it held.
func (s *firstStarts) loss(m *fakeMaster) string {
	switch old := m.memories(); {
	case s.rand.IntN(4) == 0:
		m.remember()
		return "writes a dump"
	case s.rand.IntN(3) == 0:
		m.set(forgetAll)
		return "is flushed"
	case s.rand.IntN(2) == 0 && len(old) > 0:
		m.restartWith(old[s.rand.IntN(len(old))])
		return "restarts with what it held long ago"
	}
	m.restartBlank()
	return "restarts blank"
}

// everything has all masters lose everything at once. They come back at once or late, and the
// proxies go on or are started anew.
func (s *firstStarts) everything() {
	s.gone++
	late := s.rand.IntN(2) * s.rand.IntN(3000)
	proxies := s.rand.IntN(2) == 0
	s.tell("everything is lost, and comes back within %d ms; engines are restarted: %t", late, proxies)
	for _, m := range s.world.masters {
		switch s.rand.IntN(4) {
		case 0:
			m.set(forgetAll)
		default:
			m.restartBlank()
		}
		if late > 0 {
			s.away(m, s.some(0, late))
		}
	}
	if !proxies {
		return
	}
	for i := range s.engines {
		if s.rand.IntN(3) > 0 {
			s.stop(i)
			time.Sleep(s.some(0, 500))
			s.launch(i)
		}
	}
}

// bootstrap is an operator's order. Who swears that no locks are held has seen to it.
func (s *firstStarts) bootstrap(cfg Config, sworn bool) {
	if sworn {
		// Nobody asks, and whatever was asked is decided; then all locks are let end.
		s.mu.Lock()
		s.free = time.Now().Add(s.world.cfg.MaxTTL + time.Second)
		s.mu.Unlock()
		time.Sleep(time.Until(s.free) - 300*ms)
	}
	ctx, cancel := contextOf(time.Second)
	defer cancel()
	err := bootstrap(ctx, cfg, members.Bootstrapping{NoLocksHeld: sworn})
	s.torn = s.torn || err != nil
	s.tell("bootstrap of %v, sworn: %t: %v", cfg.Terms(), sworn, err)
}
