package engine

import (
	"math/rand/v2"
	"strings"
	"time"

	"redlock-proxy/quorum"
	"redlock-proxy/quorum/clock"
)

// What is left on masters long before any ttl is over, when nobody holds a lock any more:
// nothing but what the README says may be left. Such a token is excused:
//
//   - it was asked for while a master, or the way to it, might hold it up for as long as what
//     is taken back may be vague
//   - a link was lost while something was asked under it: what an unknown grant, or an
//     unknown release of what was not known to end then, has left is not touched
//   - it was extended, or somebody who does not hold it wrote to its key, while not all
//     masters could be asked: there it ends when it would have before
//   - it was extended, or somebody else wrote to its key, before what it did not win was
//     taken back: that is no longer told from a lock
//   - its client did not hear an answer, and its proxy did not find out; or it asked
//     another one then to release what the first was extending, which that may have given
//     to a slow master again

// trace is what is known of a token on a key.
type trace struct {
	key     string
	last    time.Time // when something was last asked under it, or answered
	open    int       // the acquires and extensions that are not answered yet
	lost    time.Time // when one was last answered that it has not won
	excused string    // why something may be left of it
	home    int       // the proxy that is asked
	moved   bool      // that was another one before
}

// traced is the trace of a token, nil if nobody looks for what is left.
func (s *simulation) traced(key, token string) *trace {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.traces == nil {
		return nil
	}
	id := key + " " + token
	if s.traces[id] == nil {
		s.traces[id] = &trace{key: key, home: len(s.traces)}
	}
	return s.traces[id]
}

func (t *trace) excuse(s *simulation, why string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if t != nil {
		t.excused = why
	}
}

// leave has a client that has not heard an answer go to another proxy. The former notices
// that it has gone, or not.
func (t *trace) leave(s *simulation, kind quorum.Kind, notices bool) {
	if t == nil {
		return
	}
	if kind != quorum.Acquire || !notices || t.moved {
		t.excuse(s, "it was not heard what became of it")
	}
	t.home, t.moved = t.home+1, true
}

// asked notes that something is asked under a token.
func (t *trace) asked(s *simulation, kind quorum.Kind) {
	if t == nil {
		return
	}
	if kind == quorum.Extend && !s.allVote() {
		t.excuse(s, "extended while a master was away")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if kind == quorum.Extend && t.undone() {
		t.excused = "extended before it was taken back"
	}
	t.last = time.Now()
	if mayBeUndone(kind) {
		t.open++
	}
}

// answered notes what was answered to something that was asked under a token.
func (t *trace) answered(s *simulation, kind quorum.Kind, got quorum.Decision) {
	if t == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	t.last = time.Now()
	if !mayBeUndone(kind) {
		return
	}
	if t.open--; got != quorum.Won {
		t.lost = t.last
	}
}

func mayBeUndone(kind quorum.Kind) bool { return kind == quorum.Acquire || kind == quorum.Extend }

// undone tells that something asked under a token may be being taken back, or be about to.
// mu is held.
func (t *trace) undone() bool { return t.open > 0 || time.Since(t.lost) < clock.Sharp }

// linkBroken excuses what may have been in flight. mu is held.
func (s *simulation) linkBroken() {
	s.excuseSince(s.world.cfg.MasterTimeout+s.world.cfg.AcquireTimeout, "a link was lost")
}

// excuseSince excuses the tokens of which something was heard within that time. mu is held.
func (s *simulation) excuseSince(within time.Duration, why string) {
	since := time.Now().Add(-within)
	for _, t := range s.traces {
		if t.last.After(since) {
			t.excused = why
		}
	}
}

// mayMiss excuses the tokens on a key to which somebody else writes: all if a master may
// miss that, else those that may be being taken back.
func (s *simulation) mayMiss(key string) {
	if s.traces == nil {
		return
	}
	missed := !s.allVote()
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, t := range s.traces {
		if t.key == key {
			if t.last = time.Now(); missed {
				t.excused = "another wrote while a master was away"
			} else if t.undone() {
				t.excused = "another wrote before it was taken back"
			}
		}
	}
}

// allVote tells that each engine takes each master to vote.
func (s *simulation) allVote() bool {
	s.mu.Lock()
	engines := append([]*Engine(nil), s.engines...)
	s.mu.Unlock()
	for _, e := range engines {
		for _, l := range e.zero.lanes {
			if l.status().State != quorum.Voting {
				return false
			}
		}
	}
	return true
}

// letGo has a client that holds a lock no more, or soon would not, release it.
func (s *simulation) letGo(c int, r *rand.Rand, key, token string) {
	now := time.Now()
	s.still(c, key, func(holding) time.Time { return now })
	for range 20 {
		got, heard := s.askSome(r, quorum.Request{Kind: quorum.Release, Key: key, Token: token})
		if heard && got.Decision != quorum.Unavailable {
			return
		}
		time.Sleep(100 * ms)
	}
}

// nothingLeft looks for what is left, if anybody does.
func (s *simulation) nothingLeft() {
	if s.traces == nil {
		return
	}
	cfg := &s.world.cfg
	time.Sleep(2*cfg.ProbeInterval + cfg.MasterTimeout)
	if !s.allVote() {
		return // too much was lost at once: it is waited for
	}
	time.Sleep(2*cfg.ProbeInterval + cfg.Hush() + cfg.Apart())
	for _, m := range s.world.masters {
		for _, key := range s.locks {
			v := m.valueOf(key)
			if v == "" || strings.HasPrefix(v, "s") {
				continue
			}
			if t := s.traced(key, v); t.excused == "" {
				s.broken(key, "%s still holds %s=%s for %v", m.name, key, v, m.left(key))
			}
		}
	}
}
