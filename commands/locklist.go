package commands

import (
	"strings"

	"redlock-proxy/commands/glob"
	"redlock-proxy/quorum"
)

// maxLocksListed bounds how many locks one LOCK LIST tells of: each costs the masters two
// questions.
const maxLocksListed = 128

// lockList is LOCK LIST: a SCAN that tells of each key what LOCK INFO does.
func (s *Session) lockList(c *Command, args []string) Action {
	f, cursor, text := parseLockList(args[2:])
	if text != "" {
		return refuse(text)
	}
	w := newWalk(s.d, onePage, f, s.reads(c))
	w.client, w.at, w.db, w.cursor = s.seen.ID, placeOf(cursor), s.seen.DB, cursor
	if cursor != 0 {
		w.listed = s.d.scans.take(w.db, cursor)
	}
	a := w.begin()
	a.Render = locksOf{a.Render, s.d, w.db}
	return a
}

func parseLockList(words []string) (f keyFilter, cursor uint64, text string) {
	f = keyFilter{pattern: "*", count: 10}
	for ; len(words) > 0; words = words[2:] {
		if len(words) == 1 {
			return f, 0, errSyntax
		}
		switch value := words[1]; lower(words[0]) {
		case "match":
			if f.pattern = strings.Clone(value); len(value) > glob.MaxLength {
				return f, 0, longPattern
			}
		case "count":
			n, ok := parseInt(value)
			if !ok {
				return f, 0, errNotInteger
			}
			if n < 1 {
				return f, 0, errSyntax
			}
			f.count = min(n, maxLocksListed)
		case "cursor":
			var ok bool
			if cursor, ok = parseCursor(value); !ok {
				return f, 0, errCursor
			}
		default:
			return f, 0, errSyntax
		}
	}
	return f, cursor, ""
}

// locksOf lets a walk go on, and asks for what its page is about.
type locksOf struct {
	walk Render
	d    *Dialect
	db   int
}

func (l locksOf) Slow(results []quorum.Result) bool {
	slow, ok := l.walk.(SlowRender)
	return ok && slow.Slow(results)
}

func (l locksOf) Forgo() {
	if slow, ok := l.walk.(SlowRender); ok {
		slow.Forgo()
	}
}

func (l locksOf) Render(results []quorum.Result) (Reply, Action) {
	reply, next := l.walk.Render(results)
	if len(next.Requests) > 0 {
		next.Render = locksOf{next.Render, l.d, l.db}
		return reply, next
	}
	if reply.Kind != ArrayReply {
		return reply, Action{}
	}
	cursor, keys := reply.Elems[0], reply.Elems[1].Elems
	if len(keys) == 0 {
		return Array(cursor, Array()), Action{}
	}
	n := informed{d: l.d, db: l.db, page: &cursor}
	for _, key := range keys {
		n.more = append(n.more, key.Str)
	}
	return Reply{}, n.next()
}
