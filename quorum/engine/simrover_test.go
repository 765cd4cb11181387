package engine

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"redlock-proxy/quorum"
)

// Rovers ask now this proxy, now that one. One who hears no answer has lost its connection
// and asks another proxy the same, under the same token, while its first command may
// still be under way; strangers meanwhile do to a lock's key what they like.

func TestSimulatedStrangersNeverGiveTwoHolders(t *testing.T) {
	n, won := eachSeed(t, 6, func(t *testing.T, seed uint64) int {
		return simulateWith(t, seed, func(s *simulation) {
			s.strikes = make(map[string][]*strike)
			s.oneToken = seed%3 == 0
			if seed%3 == 1 {
				s.traces = make(map[string]*trace)
			}
		})
	})
	if won < n && !t.Failed() {
		t.Errorf("only %d locks were won in %d schedules", won, n)
	}
}

// beginRoving has several proxies, and locks that are held long enough to be taken along.
func (s *simulation) beginRoving() (engines int) {
	s.sockets = false
	if s.traces != nil {
		s.ttl, s.pause = [2]int{30_000, 50_000}, 400
		s.world.cfg.MaxTTL = time.Minute
	}
	if s.oneToken {
		// What is owed for a lock is told by its value and its end, so of one token they
		// are to end at different times: see the README on constant tokens.
		s.ttl = [2]int{700, 701}
		s.rest = s.world.cfg.MasterTimeout + 100*ms
	}
	return 2 + s.rand.IntN(2)
}

// setApart has one proxy meet a master late, or not at all, while the others do.
func (s *simulation) setApart(m *fakeMaster) string {
	engine, long := s.rand.IntN(len(s.engines)), time.Duration(20+s.rand.IntN(400))*ms
	if s.rand.IntN(6) == 0 {
		return s.part(engine, m, long)
	}
	there, back := time.Duration(0), time.Duration(s.rand.IntN(300))*ms
	if s.rand.IntN(2) == 0 {
		there, back = time.Duration(s.rand.IntN(150))*ms, 0
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.ways[way{engine, m.name}].conns {
		c, ok := c.(*socket)
		if !ok {
			continue
		}
		c.out.change(func() { c.out.far = there })
		c.in.change(func() { c.in.far = back })
		time.AfterFunc(long, func() {
			c.out.change(func() { c.out.far = m.far })
			c.in.change(func() { c.in.far = m.far })
		})
	}
	return fmt.Sprintf("is asked late by %v by engine %d, and heard late by %v, for %v", there, engine, back, long)
}

// rover takes locks, at whatever proxy.
func (s *simulation) rover(c int, r *rand.Rand) {
	for i := 0; time.Now().Before(s.ends); i++ {
		time.Sleep(s.rest + time.Duration(1+r.IntN(60))*ms)
		key, token, ttl := s.locks[r.IntN(len(s.locks))], fmt.Sprintf("c%d-%d", c, i), s.anyTTL(r)
		if s.oneToken {
			token = fmt.Sprintf("c%d", c)
		}
		ask := quorum.Request{Kind: quorum.Acquire, Key: key, Token: token, TTL: ttl}
		for tries := r.IntN(4); ; tries-- {
			sent := time.Now()
			got, heard := s.askSome(r, ask)
			if heard && got.Decision == quorum.Won {
				s.promised(key, holding{c, token, sent.Add(ttl)}, sent, fmt.Sprintf("%v", ask.Kind))
				s.rove(c, r, key, token, ttl)
				break
			}
			s.noteOf(key, "client %d: no (%v) for %s, asked %v ago, heard %v", c, got.Decision, token, time.Since(sent), heard)
			if tries <= 0 {
				if r.IntN(2) == 0 {
					// What may have come of it is not wanted any more; nor is, of one
					// token, a lock that was forgotten.
					now := time.Now()
					s.still(c, key, func(holding) time.Time { return now })
					s.askSome(r, quorum.Request{Kind: quorum.Release, Key: key, Token: token})
				}
				break
			}
			// Its own token there tells that an earlier attempt has come to something.
			ask.Kind = quorum.Acquire
			if got.Exists && got.Value == token || r.IntN(4) == 0 {
				ask.Kind = quorum.Extend
			}
			time.Sleep(time.Duration(r.IntN(80)) * ms)
		}
	}
}

// rove holds a lock, and extends, reads, releases or forgets it at whatever proxy.
func (s *simulation) rove(c int, r *rand.Rand, key, token string, ttl time.Duration) {
	same := func(h holding) time.Time { return h.until }
	if s.traces != nil {
		defer s.letGo(c, r, key, token)
	}
	for time.Now().Before(s.ends) {
		time.Sleep(time.Duration(r.IntN(150)) * ms)
		if !s.still(c, key, same) {
			return
		}
		sent := time.Now()
		ask := quorum.Request{Key: key, Token: token}
		switch r.IntN(7) {
		case 0:
			return
		case 1:
			ask.Kind = quorum.Read
			got, heard := s.askSome(r, ask)
			if heard && s.still(c, key, same) && got.Decision == quorum.Won && got.Value != token {
				s.lose(c, key, fmt.Sprintf("reads %q", got.Value))
			}
		case 2:
			ask.Kind = quorum.Release
			s.still(c, key, func(holding) time.Time { return sent })
			for range 1 + r.IntN(3) {
				if _, heard := s.askSome(r, ask); heard {
					break
				}
			}
			return
		default:
			ask.Kind, ask.TTL = quorum.Extend, ttl
			until := sent.Add(ttl)
			s.still(c, key, func(holding) time.Time { return until })
			got, heard := s.askSome(r, ask)
			switch held := s.still(c, key, same); {
			case !held:
				return
			case !heard:
			case got.Decision == quorum.Won:
				s.promised(key, holding{c, token, until}, sent, "extend")
			case got.Decision == quorum.Contended:
				s.lose(c, key, "cannot extend")
			}
		}
	}
}

// askSome asks a proxy. Sometimes the answer is not waited for, and not heard: the
// proxy may find out, and take back what was won, or not. Where it is looked for what is
// left behind a client stays with one proxy while it hears of it.
func (s *simulation) askSome(r *rand.Rand, ask quorum.Request) (got quorum.Result, heard bool) {
	t, home := s.traced(ask.Key, ask.Token), r.IntN(3)
	if t != nil {
		home = t.home
	}
	e, _ := s.engine(home)
	t.asked(s, ask.Kind)
	a := newWaiter()
	e.Put(&ask, a)
	if r.IntN(3) > 0 {
		got = <-a.answers
		t.answered(s, ask.Kind, got.Decision)
		return got, true
	}
	leaves := time.NewTimer(time.Duration(r.IntN(40)) * ms)
	defer leaves.Stop()
	select {
	case got = <-a.answers:
		t.answered(s, ask.Kind, got.Decision)
		return got, true
	case <-leaves.C:
	}
	notices := r.IntN(2) == 0
	t.leave(s, ask.Kind, notices)
	go func() {
		got := <-a.answers
		if notices {
			e.TakeBack(got.Lock)
			got.Decision = quorum.Contended
		} else {
			got.Lock.Told()
		}
		t.answered(s, ask.Kind, got.Decision)
	}()
	return got, false
}

// noteOf notes what happened about a key.
func (s *simulation) noteOf(key, format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.note(" %s %s", key, fmt.Sprintf(format, args...))
}
