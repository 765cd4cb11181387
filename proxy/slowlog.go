package proxy

import (
	"math"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"redlock-proxy/commands"
	"redlock-proxy/proxy/resp"
)

// Tuning is what may be changed while a Server runs, see Server.Tune.
type Tuning struct {
	// SlowerThan is how long the answer to a command takes that SLOWLOG lists, the masters
	// included. Negative: none is.
	SlowerThan time.Duration

	// SlowMaxLen is how many of them it keeps. Zero: none is listed.
	SlowMaxLen int
}

// Tune puts t in force, also for commands that are on their way.
func (s *Server) Tune(t Tuning) {
	s.tuned.Lock()
	defer s.tuned.Unlock()
	s.slowlog.keep(t.SlowMaxLen)
	slow := int64(t.SlowerThan)
	if slow < 0 || t.SlowMaxLen == 0 {
		slow = never
	}
	s.slowlog.from.Store(slow)
	s.slowFrom.Store(slow)
}

// never is a time that none is as long as.
const never = math.MaxInt64

// slowness is from when on commands are looked at, and what is told of those.
type slowness struct {
	tuned    sync.Mutex   // held by who tunes
	slowFrom atomic.Int64 // nanoseconds: quicker commands cost this comparison and nothing else
	slowlog  slowlog
}

// noteSlow notes a command that took as long as slowFrom. raw is its bytes.
func (c *conn) noteSlow(took time.Duration, raw []byte) {
	s := c.srv
	if int64(took) >= s.slowlog.from.Load() {
		s.slowlog.add(slowEntry{
			at: time.Now(), took: took, args: c.shownOf(raw), addr: c.addr, name: strings.Clone(c.snapshot.Load().Name),
		})
	}
}

// shownOf is what others may see of a command, of which there are the bytes.
func (c *conn) shownOf(raw []byte) []string {
	var p resp.Parser
	args, err := p.Parse(raw, c.srv.cfg.Limits.Input.MaxArgs)
	if err != nil || len(args) == 0 {
		return nil // not of one that was carried out
	}
	return commands.Shown(args)
}

// slowEntry is one command that was slow.
type slowEntry struct {
	id         int64
	at         time.Time
	took       time.Duration
	args       []string
	addr, name string // of its client
}

// slowlog is the latest of them.
type slowlog struct {
	from atomic.Int64 // nanoseconds

	mu      sync.Mutex // guards what follows
	most    int
	next    int64 // id
	entries []slowEntry
	oldest  int // where in entries, once these are as many as most
}

func (l *slowlog) add(e slowEntry) {
	l.mu.Lock()
	defer l.mu.Unlock()
	e.id = l.next
	l.next++
	switch {
	case l.most == 0:
	case len(l.entries) < l.most:
		l.entries = append(l.entries, e)
	default:
		l.entries[l.oldest] = e
		l.oldest = (l.oldest + 1) % l.most
	}
}

// keep keeps the latest so many.
func (l *slowlog) keep(most int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	kept := l.inOrder()
	l.entries = slices.Clone(kept[max(len(kept)-most, 0):])
	l.most, l.oldest = most, 0
}

// inOrder is all entries, oldest first. mu is held.
func (l *slowlog) inOrder() []slowEntry {
	return slices.Concat(l.entries[l.oldest:], l.entries[:l.oldest])
}

// reset forgets all entries. Numbers go on.
func (l *slowlog) reset() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.entries, l.oldest = nil, 0
}

func (l *slowlog) length() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.entries)
}

// latest is the reply to SLOWLOG GET.
func (l *slowlog) latest(count int64) commands.Reply {
	l.mu.Lock()
	entries := l.inOrder()
	l.mu.Unlock()
	slices.Reverse(entries)
	if count >= 0 && count < int64(len(entries)) {
		entries = entries[:count]
	}
	list := make([]commands.Reply, len(entries))
	for i, e := range entries {
		args := make([]commands.Reply, len(e.args))
		for j, word := range e.args {
			args[j] = commands.Bulk(word)
		}
		list[i] = commands.Array(
			commands.Integer(e.id), commands.Integer(e.at.Unix()), commands.Integer(e.took.Microseconds()),
			commands.Array(args...), commands.Bulk(e.addr), commands.Bulk(e.name),
		)
	}
	return commands.Array(list...)
}

// carryOutTools turns the effects of what is asked about the server itself into replies. It is
// false for any other.
func (c *conn) carryOutTools(a *commands.Action) bool {
	s := c.srv
	switch e := a.Effect.(type) {
	case commands.SlowlogGetEffect:
		a.Reply = s.slowlog.latest(e.Count)
	case commands.SlowlogLenEffect:
		a.Reply = commands.Integer(int64(s.slowlog.length()))
	case commands.SlowlogResetEffect:
		s.slowlog.reset()
		a.Reply = commands.OK
	default:
		return false
	}
	return true
}
