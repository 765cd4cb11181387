package engine

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"redlock-proxy/quorum"
)

// Clients that lock in all manners at once, on the same keys: by SET NX, by a script of
// their own, by a transaction, or with a hash, as Redisson does. Others only watch what they
// lock, in transactions that count other keys, and lose some. In half of the schedules
// masters are reconfigured, and there are several databases.

func TestSimulatedScriptsNeverGiveTwoHolders(t *testing.T) {
	n, won := eachSeed(t, 8, func(t *testing.T, seed uint64) int {
		return simulateWith(t, seed, func(s *simulation) {
			s.manners = allManners
			if s.reconfigured = seed%2 == 0; s.reconfigured {
				s.locks = severalDatabases
			}
		})
	})
	if won < n && !t.Failed() {
		t.Errorf("only %d locks were won in %d schedules", won, n)
	}
}

// manner is in which a client locks.
type manner uint8

const (
	plainly manner = iota // by SET NX
	byScript
	byStep
	byHash
	byTransaction // of several commands, which the engine sees as one step
)

var allManners = []manner{plainly, byScript, byStep, byHash}

// manner is any one, if the token is not others', too.
func (s *simulation) manner(token string, r *rand.Rand) manner {
	if len(s.manners) == 0 || token[0] != 'c' {
		return plainly
	}
	return s.manners[r.IntN(len(s.manners))]
}

func (m manner) take(key, token string, ttl time.Duration) quorum.Request {
	switch m {
	case byScript:
		return lockOf(key, token, ttl.Milliseconds())
	case byStep:
		return runOf(takeStep, key, token, fmt.Sprint(ttl.Milliseconds()))
	case byHash:
		return runOf(takeHash, key, token, fmt.Sprint(ttl.Milliseconds()))
	case byTransaction:
		return runOf(tellStep, key, "SET", key, token, "NX", "PX", fmt.Sprint(ttl.Milliseconds()), "GET", key)
	}
	return quorum.Request{Kind: quorum.Acquire, Key: key, Token: token, TTL: ttl}
}

// extend and free are about strings, in whatever manner they were locked.
func (m manner) extend(key, token string, ttl time.Duration) quorum.Request {
	switch m {
	case byScript:
		return m.take(key, token, ttl)
	case byStep:
		return runOf(renewStep, key, token, fmt.Sprint(ttl.Milliseconds()))
	}
	return quorum.Request{Kind: quorum.Extend, Key: key, Token: token, TTL: ttl}
}

func (m manner) free(key, token string) quorum.Request {
	if m == byStep {
		return runOf(freeStep, key, token)
	}
	return quorum.Request{Kind: quorum.Release, Key: key, Token: token}
}

// watcher watches locks in its transactions, which write to none.
func (s *simulation) watcher(c int, r *rand.Rand) {
	for time.Now().Before(s.ends) {
		time.Sleep(time.Duration(1+r.IntN(30)) * ms)
		e, _ := s.engine(c)
		s.ask(e, runOf(watchStep, s.locks[r.IntN(len(s.locks))], "-"))
	}
}

// holdHash holds a lock that is a hash: it takes it once more, renews, reads, frees or
// forgets it.
func (s *simulation) holdHash(c int, r *rand.Rand, e *Engine, key, token string) {
	same := func(h holding) time.Time { return h.until }
	roams := r.IntN(2) == 0
	taken := 1 // at least, and not let go of
	for time.Now().Before(s.ends) {
		time.Sleep(s.rest + time.Duration(r.IntN(150))*ms)
		if !s.still(c, key, same) {
			return
		}
		if roams {
			e, _ = s.engine(r.IntN(3))
		}
		sent := s.now()
		action := r.IntN(6)
		if s.waits() > 0 {
			action = 3
		}
		ttl := s.anyTTL(r)
		until := sent.Add(ttl)
		text := fmt.Sprint(ttl.Milliseconds())
		var ask quorum.Request
		switch action {
		case 0: // forget it
			return
		case 1:
			got := s.ask(e, quorum.Request{Kind: quorum.Read, Key: key})
			if s.still(c, key, same) && got.Decision == quorum.Won && got.Type != "hash" {
				s.lose(c, key, fmt.Sprintf("reads a %s %q", got.Type, got.Value))
			}
			continue
		case 2, 3:
			var over bool
			if taken, over = s.freeOnce(e, key, holding{c, token, until}, sent, taken-1); over {
				return
			}
			continue
		case 4:
			ask = runOf(takeHash, key, token, text)
		default:
			ask = runOf(renewHash, key, token, text)
		}
		// From now on some masters may have the new expiry, which may be the sooner.
		s.still(c, key, func(holding) time.Time { return until })
		got := s.ask(e, ask)
		switch held := s.still(c, key, same); {
		case got.Decision == quorum.Won && held:
			s.won(key, holding{c, token, until}, "renew")
			if action == 4 {
				taken++
			}
		case got.Decision == quorum.Contended && held:
			s.lose(c, key, fmt.Sprintf("is told %+v", got.Script))
		case !held:
			return
		}
	}
}

// freeOnce frees a lock that is a hash once; it was taken so many times more, and ends as h says if
// it is held on. It returns how many times that is now, and whether the client holds it no more.
func (s *simulation) freeOnce(e *Engine, key string, h holding, sent time.Time, more int) (taken int, over bool) {
	last := sent // from now on it does not rely on it
	if more > 0 {
		last = h.until
	}
	s.still(h.client, key, func(holding) time.Time { return last })
	got := s.ask(e, runOf(freeHash, key, h.token, fmt.Sprint(h.until.Sub(sent).Milliseconds())))
	held := more > 0 && s.still(h.client, key, func(h holding) time.Time { return h.until })
	gone := got.Decision == quorum.Contended || got.Decision == quorum.Won && got.Script.Int != 0
	switch {
	case gone && held:
		s.lose(h.client, key, fmt.Sprintf("has let go of it, but not for the last time: %v, %+v", got.Decision, got.Script))
	case got.Decision == quorum.Won && !gone && (held || more == 0):
		s.won(key, h, "free once")
		return max(more, 1), false // it was told so
	case !held:
		return more, true
	}
	return more, false
}
