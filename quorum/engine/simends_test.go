package engine

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"redlock-proxy/quorum"
	"redlock-proxy/quorum/marker"
)

// Locks that live so long that nothing of them goes by itself before the schedule is over.
// Each key has one client, which acquires, extends and ends its locks in all manners, now at
// this proxy and now at that. What has ended must be nowhere in the end, and what was
// extended on a quorum, for as long as that was promised.
//
// Meanwhile, in half of the schedules, masters come and go: their connections are cut, also
// in the middle of a batch, or their replies are lost. There only what is owed is used: a
// master that missed a SET keeps what that was to replace. In the other half masters forget,
// one after the other, and are given locks while these end; a copy may be carried out late.
// In a quarter of these there is one client alone, which ends half of its locks by a flush.

func TestSimulatedEndsLeaveNothing(t *testing.T) {
	n, ended := eachSeed(t, 8, simulateEnds)
	if ended < 5*n && !t.Failed() {
		t.Errorf("only %d locks have ended in %d schedules", ended, n)
	}
}

func simulateEnds(t *testing.T, seed uint64) (ended int) {
	synctest.Test(t, func(t *testing.T) {
		s := &simulation{
			t: t, seed: seed, rand: rand.New(rand.NewPCG(seed, 5)), begun: time.Now(),
			held: make(map[string]holding), lost: make(map[string]string), ttl: [2]int{60_000, 90_000},
			locks: []string{"k0", "k1", "k2", "k3", "k4"},
		}
		comings := seed%2 == 0
		s.world = newWorld(t, 3+2*s.rand.IntN(2))
		s.world.log = s.log()
		s.fewDatabases()
		for _, m := range s.world.masters {
			m.quiet = true
			if *schedules == 1 {
				m.after = s.carriedOut
			}
		}
		for range 2 {
			s.engines = append(s.engines, s.world.start(s.world.cfg))
			s.born = append(s.born, 0)
		}
		s.world.engine = s.engines[0]
		s.ends = time.Now().Add(10 * time.Second)
		ways := waysToEnd
		switch {
		case comings:
			ways = ways[:owedWays]
		case seed%8 == 1:
			s.locks, ways = s.locks[:1], slices.Concat(flushes, ways[:owedWays])
		}
		var wait sync.WaitGroup
		for c := range s.locks {
			wait.Go(func() { s.endless(c, rand.New(rand.NewPCG(seed, uint64(c+2))), ways) })
		}
		if comings {
			wait.Go(s.comings)
		} else {
			wait.Go(s.forgettings)
		}
		wait.Wait()
		s.heal()
		time.Sleep(5 * time.Second) // what is owed is paid, and ghosts are laid
		s.nothingIsLeft()
		ended = len(s.lost)
	})
	return ended
}

// endless is a client that has a key for itself.
func (s *simulation) endless(c int, r *rand.Rand, ways []wayToEnd) {
	key := s.locks[c]
	any := func() *Engine { e, _ := s.engine(r.IntN(len(s.engines))); return e }
	for i := 0; time.Now().Before(s.ends); i++ {
		time.Sleep(time.Duration(1+r.IntN(150)) * ms)
		token, ttl := fmt.Sprintf("c%d-%d", c, i), s.anyTTL(r)
		sent := time.Now()
		if len(ways) > owedWays && r.IntN(4) == 0 {
			s.rivals(c, any, key, token, ttl)
			continue
		}
		won := s.ask(any(), quorum.Request{Kind: quorum.Acquire, Key: key, Token: token, TTL: ttl})
		if won.Decision != quorum.Won {
			continue // what it has left, if anything, is not known
		}
		s.won(key, holding{c, token, sent.Add(ttl)}, "acquire")
		time.Sleep(ms) // what one proxy asks last is carried out before what another one does
		way := ways[r.IntN(len(ways))]
		if way.name != "being taken back" {
			s.extends(c, r, any, key, token)
			if r.IntN(8) == 0 {
				return // it keeps this one
			}
		}
		s.mu.Lock()
		delete(s.held, key)
		s.mu.Unlock()
		known := len(ways) > owedWays || s.alikeOnAll(key, token)
		over := way.end(s, any(), key, won, token)
		s.mu.Lock()
		s.note(" %s client %d: %s ends by %s: %v", key, c, token, way.name, over)
		if over && known {
			s.lost[token] = way.name
		}
		s.mu.Unlock()
		if !over {
			return // whether it has ended is not known
		}
	}
}

// rivals has several ask for a lock at once, at whatever proxies. Of those who are told no
// nothing is left; who is told yes releases it.
func (s *simulation) rivals(c int, any func() *Engine, key, token string, ttl time.Duration) {
	var wait sync.WaitGroup
	for i := range 3 {
		e, token := any(), fmt.Sprintf("%s.%d", token, i)
		wait.Go(func() {
			how, ends := "being refused", quorum.Contended
			d := s.ask(e, quorum.Request{Kind: quorum.Acquire, Key: key, Token: token, TTL: ttl}).Decision
			if d == quorum.Won {
				time.Sleep(ms)
				how, ends = "a release", quorum.Won
				d = s.ask(e, quorum.Request{Kind: quorum.Release, Key: key, Token: token}).Decision
			}
			s.mu.Lock()
			defer s.mu.Unlock()
			s.note(" %s client %d: %s ends by %s: %v", key, c, token, how, d)
			if d == ends {
				s.lost[token] = how
			}
		})
	}
	wait.Wait()
}

// alikeOnAll tells that all masters hold a lock, and have been told of its last extension.
// What is owed to one that has not names another expiry than it has there, and spares it;
// and a DEL that meets a lock on less than a quorum does not know whose it was.
func (s *simulation) alikeOnAll(key, token string) bool {
	var least, most time.Duration
	for _, m := range s.world.masters {
		if m.value(key) != token {
			return false
		}
		left := m.left(key)
		if most == 0 {
			least = left
		}
		least, most = min(least, left), max(most, left)
	}
	return most-least < 10*ms
}

// extends holds a lock for a while and extends it, to a longer or a shorter life.
func (s *simulation) extends(c int, r *rand.Rand, any func() *Engine, key, token string) {
	for range r.IntN(4) {
		time.Sleep(time.Duration(r.IntN(250)) * ms)
		ttl := s.anyTTL(r)
		until := time.Now().Add(ttl)
		// From now on some masters may have the new expiry, which may be the sooner.
		s.still(c, key, func(holding) time.Time { return until })
		switch s.ask(any(), quorum.Request{Kind: quorum.Extend, Key: key, Token: token, TTL: ttl}).Decision {
		case quorum.Won:
			s.won(key, holding{c, token, until}, "extend")
		case quorum.Contended:
			s.lose(c, key, "cannot extend")
		}
		time.Sleep(ms)
	}
}

// comings has masters come and go.
func (s *simulation) comings() {
	r := s.rand
	for time.Now().Before(s.ends) {
		time.Sleep(time.Duration(r.IntN(200)) * ms)
		m := s.world.masters[r.IntN(len(s.world.masters))]
		how := "is cut off for a while"
		switch amid := []string{"SET", "EVALSHA", "GETRANGE", "TIME"}[r.IntN(4)]; r.IntN(3) {
		case 0:
			m.cut()
		case 1:
			how = "is cut off in the middle of a batch"
			once(m, amid, func(m *fakeMaster) {
				m.refuse = true
				for id, c := range m.conns {
					c.Close()
					delete(m.conns, id)
				}
			})
		case 2:
			how = "loses its replies"
			once(m, amid, func(m *fakeMaster) {
				for _, c := range m.conns {
					c.sever()
				}
			})
		}
		time.AfterFunc(time.Duration(20+r.IntN(600))*ms, m.rejoin)
		s.mu.Lock()
		s.note("fault: %s %s", m.name, how)
		s.mu.Unlock()
	}
}

// forgettings has masters forget, each when the one before is free of ghosts.
func (s *simulation) forgettings() {
	for time.Now().Before(s.ends) {
		time.Sleep(time.Duration(s.rand.IntN(500)) * ms)
		m := s.world.masters[s.rand.IntN(len(s.world.masters))]
		how, f := s.forgetting(m)
		most := 20 * time.Second
		if slices.ContainsFunc(s.world.masters, mayHaunt) {
			// Where the others differ by what nobody holds, it is over when that ends.
			most += time.Duration(s.ttl[1]) * ms
		}
		s.tellOf(m, how)
		f()
		if s.rand.IntN(3) > 0 {
			s.late(m, time.Duration(5+s.rand.IntN(400))*ms)
		}
		time.Sleep(s.world.cfg.ProbeInterval + s.world.cfg.Hush()) // everybody knows by then
		lost := time.Now()
		for n := marker.Nonce(""); !n.Valid() || n.Provisional(); n = marker.NonceOf(m.value(quorum.MarkerKey)) {
			time.Sleep(10 * ms)
		}
		if took := time.Since(lost); took > most {
			s.broken("", "%s was not given the others' locks for %v", m.name, took)
		}
		s.tellOf(m, "is back")
		s.world.laid()
	}
	for began := time.Now(); slices.ContainsFunc(s.world.masters, mayHaunt); time.Sleep(10 * ms) {
		if took := time.Since(began); took > 30*time.Second {
			s.broken("", "masters were not freed of what nobody holds for %v", took)
			return
		}
	}
}

// mayHaunt tells of a master that it may hold what nobody does. It is not freed of it as long as
// clients write to that, by commands that ask for no token.
func mayHaunt(m *fakeMaster) bool {
	is, err := marker.Parse(m.value(quorum.MarkerKey))
	return err == nil && is.Ghosts
}

// nothingIsLeft says what must be true of locks that have ended, and of those that have not.
func (s *simulation) nothingIsLeft() {
	for _, key := range s.locks {
		h, n := s.held[key], 0
		for _, m := range s.world.masters {
			v := m.value(key)
			if how := s.lost[v]; how != "" {
				s.broken(key, "%s still holds %s=%s, which ended by %s", m.name, key, v, how)
			}
			if v == h.token && m.left(key) >= time.Until(h.until) {
				n++
			}
		}
		if h.token != "" && h.until.After(time.Now()) && n < quorum.QuorumOf(len(s.world.masters)) {
			s.broken(key, "%d masters hold %s as %s for another %v", n, key, h.token, time.Until(h.until))
		}
	}
}
