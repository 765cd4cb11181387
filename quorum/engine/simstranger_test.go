package engine

import (
	"fmt"
	"math/rand/v2"
	"time"

	"redlock-proxy/quorum"
)

// What strangers do to keys of locks that others hold: they let them expire, at once or
// soon or never, delete them, or write over them. It is no promise's breach, and ends the
// promise: a holder may rely on its lock for as long at most as the stranger leaves it.
//
// A stranger's command may be carried out by some master when it was answered already.
// So what others are promised of the key before it can be carried out nowhere any more
// may end by it, too.

// strike is what a stranger does to a key.
type strike struct {
	put  time.Time
	ends time.Time // of whatever lock it meets, at the soonest
	over time.Time // when it can be carried out nowhere any more; zero: it is not answered yet
}

// slowest is how long after its answer a command may be carried out by a master that had
// it in its socket: the link is given up, and its successor ends it.
func (s *simulation) slowest() time.Duration {
	return s.world.cfg.MasterTimeout + s.world.cfg.ConnectTimeout + mostLate
}

// mostLate is for how long masters are away at most, so that this is so.
const mostLate = 400 * ms

// stranger does what it likes until the end of the schedule.
func (s *simulation) stranger(r *rand.Rand) {
	for i := 0; time.Now().Before(s.ends); i++ {
		time.Sleep(time.Duration(r.IntN(900)) * ms)
		key := s.locks[r.IntN(len(s.locks))]
		name, ask, ends := s.strikesAt(fmt.Sprint("s", i), key, r)
		b := &strike{put: time.Now(), ends: ends}
		s.mu.Lock()
		s.note(" %s stranger: %s", key, name)
		s.strikes[key] = append(s.strikes[key], b)
		if h, ok := s.held[key]; ok && b.ends.Before(h.until) {
			h.until = b.ends
			s.held[key] = h
		}
		s.mu.Unlock()
		s.mayMiss(key)
		e, _ := s.engine(r.IntN(3))
		got := s.ask(e, ask)
		s.mayMiss(key)
		s.mu.Lock()
		s.note(" %s stranger: %v for %s", key, got.Decision, name)
		b.over = time.Now().Add(s.slowest())
		s.mu.Unlock()
	}
}

// strikesAt is something that a stranger may do, and when a lock ends by it at the soonest.
func (s *simulation) strikesAt(value, key string, r *rand.Rand) (name string, ask quorum.Request, ends time.Time) {
	now := time.Now()
	ttl := s.anyTTL(r)
	ask = quorum.Request{Kind: quorum.Write, Key: key}
	switch r.IntN(6) {
	case 0:
		return "DEL", quorum.Request{Kind: quorum.Remove, Key: key}, now
	case 1:
		ttl = time.Duration(30+r.IntN(900)) * ms
		ask.Args, ask.TTL, ask.TTLArg = []string{"SET", key, value, "PX", ""}, ttl, 4
		return fmt.Sprintf("SET %s PX %v", value, ttl), ask, now
	case 2:
		ask.Args = []string{"PERSIST", key}
		return "PERSIST", ask, now.Add(time.Hour)
	case 3:
		ask.Args, ask.At, ask.TTLArg = []string{"PEXPIRE", key, ""}, now.Add(ttl).UnixMilli(), 2
		return fmt.Sprintf("PEXPIREAT in %v", ttl), ask, now // the time of day is vague
	}
	ask.Args, ask.TTL, ask.TTLArg = []string{"PEXPIRE", key, ""}, ttl, 2
	return fmt.Sprintf("PEXPIRE %v", ttl), ask, now.Add(ttl)
}

// promised is won, of what was asked for at a time: a stranger's command that could have
// been carried out since then may have ended it already.
func (s *simulation) promised(key string, h holding, sent time.Time, how string) {
	s.mu.Lock()
	for _, b := range s.strikes[key] {
		if (b.over.IsZero() || b.over.After(sent)) && b.ends.Before(h.until) {
			h.until = b.ends
		}
	}
	s.mu.Unlock()
	s.won(key, h, how)
}

// endStrikes frees the keys that a stranger may have left without an expiry.
func (s *simulation) endStrikes() {
	if s.strikes == nil {
		return
	}
	time.Sleep(2 * time.Second)
	// Where too much was lost at once nothing can be deleted until a quarantine is over.
	patience := time.Now().Add(20*time.Second + s.world.cfg.QuarantineTime())
	for _, key := range s.locks {
		got := s.ask(s.engines[0], quorum.Request{Kind: quorum.Remove, Key: key})
		for (got.Decision == quorum.Unavailable || s.leftOn(key)) && time.Now().Before(patience) {
			time.Sleep(time.Second)
			got = s.ask(s.engines[0], quorum.Request{Kind: quorum.Remove, Key: key})
		}
		if got.Decision != quorum.Won && got.Decision != quorum.Contended {
			s.broken(key, "%s cannot be deleted: %+v", key, got)
		}
	}
}

// leftOn tells that a master still holds a key: one that is told late to delete it leaves
// what the others did not hold.
func (s *simulation) leftOn(key string) bool {
	for _, m := range s.world.masters {
		if m.valueOf(key) != "" {
			return true
		}
	}
	return false
}
