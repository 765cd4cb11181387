package commands

import (
	"redlock-proxy/commands/glob"
	"slices"
	"strconv"
)

// maxScanCount bounds the keys that a master is asked to name at once, whatever the
// client's COUNT is.
const maxScanCount = 1000

// keyFilter is what a client wants to hear of keys.
type keyFilter struct {
	pattern string
	typ     string // "" is any
	count   int64  // to be named at once
}

var everyKey = keyFilter{pattern: "*", count: maxScanCount}

// scan lists keys page by page.
func (s *Session) scan(c *Command, args []string) Action {
	cursor, ok := parseCursor(args[1])
	if !ok {
		return refuse(errCursor)
	}
	f, text := parseScanOptions(args[2:])
	if text != "" {
		return refuse(text)
	}
	w := newWalk(s.d, onePage, f, s.reads(c))
	w.client, w.at, w.db, w.cursor = s.seen.ID, placeOf(cursor), s.seen.DB, cursor
	if cursor != 0 {
		w.listed = s.d.scans.take(w.db, cursor)
	}
	return w.begin()
}

func parseScanOptions(words []string) (f keyFilter, text string) {
	f = keyFilter{pattern: "*", count: 10}
	for ; len(words) > 0; words = words[2:] {
		option := lower(words[0])
		if len(words) == 1 || !slices.Contains([]string{"match", "count", "type"}, option) {
			return f, errSyntax
		}
		switch value := words[1]; option {
		case "match":
			if f.pattern = value; len(value) > glob.MaxLength {
				return f, longPattern
			}
		case "type":
			f.typ = value
		case "count":
			n, ok := parseInt(value)
			switch {
			case !ok:
				return f, errNotInteger
			case n < 1:
				return f, errSyntax
			}
			f.count = min(n, maxScanCount)
		}
	}
	return f, ""
}

// keys lists all keys at once.
func (s *Session) keys(c *Command, args []string) Action {
	f := everyKey
	if f.pattern = args[1]; len(f.pattern) > glob.MaxLength {
		return refuse(longPattern)
	}
	return newWalk(s.d, allKeys, f, s.reads(c)).begin()
}

// argv asks a master for the keys behind its own cursor: for those that match where that
// costs it little, else for all.
func (f keyFilter) argv(own uint64) []string {
	argv := []string{"SCAN", strconv.FormatUint(own, 10), "COUNT", strconv.FormatInt(f.count, 10)}
	if f.pattern != "*" && glob.MastersMatch(f.pattern) {
		argv = append(argv, "MATCH", f.pattern)
	}
	if f.typ != "" {
		argv = append(argv, "TYPE", f.typ)
	}
	return argv
}

// fits tells of a key that a quorum holds whether its type is asked for.
func (f keyFilter) fits(typ string) bool { return f.typ == "" || sameWord(f.typ, typ) }
