package proxy

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"redlock-proxy/commands"
	"redlock-proxy/proxy/resp"
)

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
