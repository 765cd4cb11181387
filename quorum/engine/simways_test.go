package engine

import (
	"time"

	"redlock-proxy/quorum"
)

// wayToEnd is one in which a lock ends. It tells whether it has.
type wayToEnd struct {
	name string
	end  func(s *simulation, e *Engine, key string, won quorum.Result, token string) bool
}

// asking is a way to end a lock that asks for it.
func asking(ask func(key, token string) quorum.Request) func(*simulation, *Engine, string, quorum.Result, string) bool {
	return func(s *simulation, e *Engine, key string, _ quorum.Result, token string) bool {
		return s.ask(e, ask(key, token)).Decision == quorum.Won
	}
}

// owedWays is how many of waysToEnd are owed to a master that is away.
const owedWays = 2

var waysToEnd = []wayToEnd{
	{"a release", asking(func(key, token string) quorum.Request {
		return quorum.Request{Kind: quorum.Release, Key: key, Token: token}
	})},
	{"DEL", asking(func(key, _ string) quorum.Request { return quorum.Request{Kind: quorum.Remove, Key: key} })},
	{"a transaction", asking(func(key, token string) quorum.Request { return runOf(freeStep, key, token) })},
	{"a script", asking(func(key, token string) quorum.Request { return runOf(freeScript, key, token) })},
	{"a script that takes it over", func(s *simulation, e *Engine, key string, _ quorum.Result, token string) bool {
		return s.takenOver(e, key, token, seizeScript)
	}},
	{"a transaction that takes it over", func(s *simulation, e *Engine, key string, _ quorum.Result, token string) bool {
		return s.takenOver(e, key, token, seizeStep)
	}},
	{"SET of another value", asking(func(key, token string) quorum.Request {
		return quorum.Request{Kind: quorum.Write, Key: key, Args: []string{"SET", key, "other", "PX", ""}, TTL: ms, TTLArg: 4}
	})},
	{"EXPIRE", func(s *simulation, e *Engine, key string, _ quorum.Result, _ string) bool {
		ask := quorum.Request{Kind: quorum.Write, Key: key, Args: []string{"PEXPIRE", key, ""}, TTL: 20 * ms, TTLArg: 2}
		won := s.ask(e, ask).Decision == quorum.Won
		time.Sleep(40 * ms)
		return won
	}},
	{"an expiry that has passed", func(s *simulation, e *Engine, key string, _ quorum.Result, _ string) bool {
		now, known := e.Now()
		ask := quorum.Request{Kind: quorum.Write, Key: key, Args: []string{"PEXPIRE", key, ""}, At: now.UnixMilli() - 1000, TTLArg: 2}
		return known && s.ask(e, ask).Decision == quorum.Won
	}},
	{"being taken back", func(s *simulation, e *Engine, _ string, won quorum.Result, _ string) bool {
		e.TakeBack(won.Lock)
		time.Sleep(5 * ms)
		return true
	}},
}

// flushes end all locks, so that they are for a client that has the masters for itself.
var flushes = []wayToEnd{
	{"FLUSHALL", asking(func(string, string) quorum.Request {
		return quorum.Request{Kind: quorum.Survey, Args: []string{"FLUSHALL"}}
	})},
	{"FLUSHDB", asking(func(string, string) quorum.Request {
		return quorum.Request{Kind: quorum.Survey, Args: []string{"FLUSHDB"}}
	})},
}

// takenOver has a lock be overwritten by another, which is released then.
func (s *simulation) takenOver(e *Engine, key, token string, by *quorum.Script) bool {
	taken := token + "'"
	if s.ask(e, runOf(by, key, taken, "60000")).Decision != quorum.Won {
		return false
	}
	time.Sleep(time.Since(s.begun) % (100 * ms)) // any
	d := s.ask(e, quorum.Request{Kind: quorum.Release, Key: key, Token: taken}).Decision
	s.mu.Lock()
	defer s.mu.Unlock()
	s.note(" %s %s is released: %v", key, taken, d)
	if d == quorum.Won {
		s.lost[taken] = "a release"
	}
	return d == quorum.Won
}
