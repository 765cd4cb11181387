package quorum

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"time"
)

const (
	simKeys   = 3
	simMaxTTL = 900 * ms
)

func contextOf(d time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.Background(), d)
}

// client takes locks, holds them, extends, reads, releases or forgets them.
func (s *simulation) client(c int, r *rand.Rand) {
	constant := c%s.constant == 0
	key := ""
	for i := 0; time.Now().Before(s.ends); i++ {
		// Some ask again at once, under the same token.
		if again := constant && key != "" && r.IntN(2) == 0; !again {
			time.Sleep(time.Duration(1+r.IntN(60)) * ms)
			key = fmt.Sprint("k", r.IntN(simKeys))
		} else {
			time.Sleep(s.again)
		}
		if wait := s.waits(); wait > 0 {
			time.Sleep(wait + time.Duration(r.IntN(40))*ms)
		}
		e, token := s.engine(c)
		if !constant {
			token = fmt.Sprintf("c%d-%d", c, i)
		}
		ttl := s.anyTTL(r)
		ask := Request{Kind: Acquire, Key: key, Token: token, TTL: ttl}
		if s.scripted(token, r) {
			ask = lockOf(key, token, ttl.Milliseconds())
		}
		sent := time.Now()
		switch d := s.ask(e, ask).Decision; d {
		case Won:
			s.won(key, holding{c, token, sent.Add(ttl)}, "acquire")
			s.hold(c, r, e, key, token, ttl)
			key = ""
		default:
			s.mu.Lock()
			s.note(" %s client %d: no (%v) for %s, asked %v ago", key, c, d, token, time.Since(sent))
			if !constant {
				s.lost[token] = fmt.Sprintf("%s of client %d: %v", key, c, d)
			}
			s.mu.Unlock()
		}
	}
}

// scripted tells that a client locks by a script of its own, for which it needs a token
// of its own.
func (s *simulation) scripted(token string, r *rand.Rand) bool {
	return s.front != nil && token[0] == 'c' && r.IntN(3) == 0
}

func (s *simulation) anyTTL(r *rand.Rand) time.Duration {
	return time.Duration(s.ttl[0]+r.IntN(s.ttl[1]-s.ttl[0])) * ms
}

// won notes that a client was promised a lock, and that nobody else has it.
func (s *simulation) won(key string, h holding, how string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	s.note(" %s client %d: %s %s for %v", key, h.client, how, h.token, h.until.Sub(now))
	s.wins++
	if !h.until.After(now) {
		return // the answer came so late that the client does not rely on it
	}
	if other, ok := s.held[key]; ok && other.until.After(now) && other.client != h.client {
		s.broken(key, "client %d was given %s, which client %d holds for another %v (%s)",
			h.client, key, other.client, other.until.Sub(now), how)
	}
	s.held[key] = h
}

// still changes until when a client may rely on its lock, if it still does,
// and tells whether it does.
func (s *simulation) still(c int, key string, until func(holding) time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	h, ok := s.held[key]
	if !ok || h.client != c || !h.until.After(time.Now()) {
		return false
	}
	if u := until(h); u.Before(h.until) {
		h.until = u
		s.held[key] = h
	}
	return true
}

// left is how long a client may rely on what it holds.
func (s *simulation) left(key string) time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	return time.Until(s.held[key].until)
}

func (s *simulation) hold(c int, r *rand.Rand, e *Engine, key, token string, ttl time.Duration) {
	same := func(h holding) time.Time { return h.until }
	// Some ask now this proxy, now that one, as behind a load balancer.
	roams := s.front != nil && token[0] == 'c' && r.IntN(2) == 0
	for time.Now().Before(s.ends) {
		time.Sleep(s.rest + time.Duration(r.IntN(150))*ms)
		if s.alike == atLast {
			time.Sleep(s.left(key) - time.Duration(r.IntN(100))*ms)
		}
		if !s.still(c, key, same) {
			return // it has slept past its ttl
		}
		if roams {
			e, _ = s.engine(r.IntN(3))
		}
		sent := time.Now()
		ask := Request{Key: key, Token: token}
		action := r.IntN(5)
		if s.alike == atSeveral || s.alike == atLast {
			action = 2 + r.IntN(2) // release it, or extend it
		}
		if s.waits() > 0 {
			action = 2
		}
		switch action {
		case 0: // forget it
			return
		case 1:
			ask.Kind = Read
			got := s.ask(e, ask)
			if s.still(c, key, same) && got.Decision == Won && got.Value != token {
				s.lose(c, key, fmt.Sprintf("reads %q", got.Value))
			}
			if s.still(c, key, same) && got.Decision == Won && got.TTL < 0 {
				s.lose(c, key, "reads no ttl")
			}
		case 2:
			ask.Kind = Release
			s.still(c, key, func(holding) time.Time { return sent }) // from now on it does not rely on it
			s.ask(e, ask)
			return
		default:
			switch {
			case s.alike == atLast:
				ttl = 200 * ms // so short that it would end another's lock
			case !roams:
				ttl = s.anyTTL(r)
			}
			until := sent.Add(ttl)
			if ask.Kind, ask.TTL = Extend, ttl; s.scripted(token, r) {
				ask = lockOf(key, token, ttl.Milliseconds())
			}
			// From now on some masters may have the new expiry, which may be the sooner.
			before := time.Time{}
			s.still(c, key, func(h holding) time.Time { before = h.until; return until })
			got := s.ask(e, ask)
			switch held := s.still(c, key, same); {
			case got.Decision == Won && held:
				s.won(key, holding{c, token, until}, "extend")
			case got.Decision == Contended && held && ask.Kind == Extend: // a script's no is said of a split, too
				s.lose(c, key, fmt.Sprintf("cannot extend (until %v)", before.Sub(sent)))
			case !held:
				return
			}
		}
	}
}

// lose reports that a client has lost what it holds.
func (s *simulation) lose(c int, key, how string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	h := s.held[key]
	s.broken(key, "client %d holds %s as %s for another %v, and %s", c, key, h.token, time.Until(h.until), how)
}

// checkAfterwards says what must be true once all faults are over.
func (s *simulation) checkAfterwards(goroutines int) {
	// Whatever still stood in a socket is carried out at once; the longest lock
	// ends after its padded ttl; an absent master is back in a second.
	time.Sleep(2*time.Second + s.world.cfg.MasterTimeout + pad(s.world.cfg.MaxTTL)*102/100)
	if !s.world.marked() {
		// All of them forgot while no proxy was there that knew them: it is for the
		// operator to say that no lock lives any more.
		s.world.bootstrap(s.world.cfg)
		time.Sleep(2 * s.world.cfg.ProbeInterval)
	}
	for _, m := range s.world.masters {
		for k := range simKeys {
			key := fmt.Sprint("k", k)
			if v := m.value(key); v != "" {
				s.broken(key, "%s still holds %s=%s (%s)", m.name, key, v, s.lost[v])
			}
		}
	}
	for i, e := range s.engines {
		st := e.Status()
		if st.InFlight != 0 {
			s.broken("", "%d are in flight at engine %d", st.InFlight, i)
		}
		for _, m := range st.Masters {
			if m.State != Voting || m.Queue+m.InBatch+m.Debts != 0 {
				s.broken("", "engine %d: %+v", i, m)
			}
		}
	}
	for _, e := range s.engines {
		for k := range simKeys {
			ask := Request{Kind: Acquire, Key: fmt.Sprint("k", k), Token: "last", TTL: time.Minute}
			if r := s.ask(e, ask); r.Decision != Won {
				s.broken(ask.Key, "%s cannot be had again: %+v", ask.Key, r)
			}
			ask.Kind = Release
			if r := s.ask(e, ask); r.Decision != Won {
				s.broken(ask.Key, "%s cannot be released: %+v", ask.Key, r)
			}
			time.Sleep(5 * ms)
		}
	}
	s.contend()
	may := goroutines + 5*len(s.engines) + len(s.world.masters)
	if s.far {
		may += 3 * len(s.engines) * len(s.world.masters) // rueidis's own, on each link
	}
	if now := runtime.NumGoroutine(); *schedules <= 1 && now > may {
		s.broken("", "%d goroutines, %d at the beginning", now, goroutines)
	}
}

// contend has all engines want the same locks at once, with no faults: of those
// who are told no, nothing is left behind.
func (s *simulation) contend() {
	type asked struct {
		key, token string
		answer     chan Result
	}
	var all []asked
	for i := range 8 {
		for j, e := range s.engines {
			a := asked{fmt.Sprint("c", i), fmt.Sprintf("t%d.%d", i, j), make(chan Result)}
			all = append(all, a)
			go func() {
				a.answer <- s.ask(e, Request{Kind: Acquire, Key: a.key, Token: a.token, TTL: time.Minute})
			}()
		}
	}
	winner := make(map[string]string)
	for _, a := range all {
		switch r := <-a.answer; {
		case r.Decision != Won:
		case winner[a.key] != "":
			s.broken(a.key, "%s was won by %s and by %s", a.key, winner[a.key], a.token)
		default:
			winner[a.key] = a.token
		}
	}
	if s.far {
		time.Sleep(15 * ms)
	}
	time.Sleep(5 * ms)
	for _, m := range s.world.masters {
		for i := range 8 {
			key := fmt.Sprint("c", i)
			if v := m.value(key); v != "" && v != winner[key] {
				s.broken(key, "%s holds %s=%s, which was lost to %q", m.name, key, v, winner[key])
			}
		}
	}
}
