package engine

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"redlock-proxy/quorum"
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
	if s.strikes != nil {
		s.rover(c, r)
		return
	}
	constant := c%s.constant == 0
	key := ""
	for i := 0; time.Now().Before(s.ends); i++ {
		// Some ask again at once, under the same token.
		if again := constant && key != "" && r.IntN(2) == 0; !again {
			time.Sleep(time.Duration(1+r.IntN(60)) * ms)
			key = s.locks[r.IntN(len(s.locks))]
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
		how := s.manner(token, r)
		if how == byHash && c%2 == 0 {
			token = fmt.Sprint("c", c) // as a thread's
		}
		ask := how.take(key, token, ttl)
		sent := s.now()
		if s.hour && how == plainly && ttl > 2*vagueDay && r.IntN(2) == 0 {
			ask.TTL, ask.At = 0, sent.Add(ttl).UnixMilli()
			ttl -= vagueDay
		}
		switch d := s.ask(e, ask).Decision; d {
		case quorum.Won:
			s.won(key, holding{c, token, sent.Add(ttl)}, "acquire")
			if how == byHash {
				s.holdHash(c, r, e, key, token)
			} else {
				s.hold(c, r, e, key, token, ttl)
			}
			key = ""
		default:
			s.mu.Lock()
			s.note(" %s client %d: no (%v) for %s, asked %v ago", key, c, d, token, s.now().Sub(sent))
			if !constant {
				s.lost[token] = fmt.Sprintf("%s of client %d: %v", key, c, d)
			}
			s.mu.Unlock()
		}
	}
}

func (s *simulation) anyTTL(r *rand.Rand) time.Duration {
	return time.Duration(s.ttl[0]+r.IntN(s.ttl[1]-s.ttl[0])) * ms
}

// won notes that a client was promised a lock, and that nobody else has it.
func (s *simulation) won(key string, h holding, how string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.wonLocked(key, h, how)
}

func (s *simulation) wonLocked(key string, h holding, how string) {
	now := s.now()
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
	if !ok || h.client != c || !h.until.After(s.now()) {
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
	return s.held[key].until.Sub(s.now())
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
		sent := s.now()
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
			s.readOwn(c, e, key, token)
		case 2:
			ask := s.manner(token, r).free(key, token)
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
			ask := s.manner(token, r).extend(key, token, ttl)
			// From now on some masters may have the new expiry, which may be the sooner.
			before := time.Time{}
			s.still(c, key, func(h holding) time.Time { before = h.until; return until })
			got := s.ask(e, ask)
			switch held := s.still(c, key, same); {
			case got.Decision == quorum.Won && held:
				s.won(key, holding{c, token, until}, "extend")
			case got.Decision == quorum.Contended && held:
				s.lose(c, key, fmt.Sprintf("cannot extend (until %v)", before.Sub(sent)))
			case !held:
				return
			}
		}
	}
}

// readOwn has a client read what it holds.
func (s *simulation) readOwn(c int, e *Engine, key, token string) {
	same := func(h holding) time.Time { return h.until }
	got := s.ask(e, quorum.Request{Kind: quorum.Read, Key: key, Token: token})
	if s.still(c, key, same) && got.Decision == quorum.Won && got.Value != token {
		s.lose(c, key, fmt.Sprintf("reads %q", got.Value))
	}
	if s.still(c, key, same) && got.Decision == quorum.Won && got.TTL < 0 {
		s.lose(c, key, "reads no ttl")
	}
}

// lose reports that a client has lost what it holds.
func (s *simulation) lose(c int, key, how string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	h := s.held[key]
	s.broken(key, "client %d holds %s as %s for another %v, and %s", c, key, h.token, h.until.Sub(s.now()), how)
}
