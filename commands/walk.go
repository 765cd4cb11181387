package commands

import (
	"strconv"

	"redlock-proxy/commands/glob"
	"redlock-proxy/quorum"
)

// A key is listed when a quorum holds it, or may hold it: while a master is away, that of
// a key which only some of the others have is not known, and whoever looks for locks is to
// find all that are held. Such a key is on at least one of any
// N-quorum+1 masters, so these are scanned one after the other, and each key that they
// name is read from all. A master that is away, or has been started anew in the middle
// of it, is scanned from its beginning, or another one in its place.

// The bounds of what one command goes through.
const (
	maxKeys  = 100_000 // listed by KEYS
	maxPages = 2000    // of a master's keys, maxScanCount each

	// maxPagesForAny is after how many RANDOMKEY gives up, for who may not read every key.
	maxPagesForAny = 10

	readsAtOnce = 256 // so that there is room for others in the lanes
)

// walkKind says when a walk ends.
type walkKind uint8

const (
	onePage walkKind = iota + 1 // SCAN: where a master has more to name
	allKeys                     // KEYS: when all is listed
	anyKey                      // RANDOMKEY: with the first key
)

// walk is one command's way through the keys of a database.
type walk struct {
	d      *Dialect
	kind   walkKind
	filter keyFilter
	glob   *glob.Pattern         // of the filter, where the masters do not match it
	shown  func(key string) bool // to this client; nil: all
	at     place

	client int64 // of onePage, with the database, the cursor that the client came with
	db     int
	cursor uint64 // and what was listed before
	listed listed

	page  []string            // keys that a quorum holds
	found []string            // keys that a master has named, not looked at yet
	here  map[string]struct{} // both of them

	more    bool      // the master has more to name
	pages   int       // that were asked for
	away    masterSet // which could not be scanned
	refusal string    // of one of them, "" if none has given a reason
	masters int       // as of the last result
	needed  int       // of them, to be scanned
	quorum  int
}

func newWalk(d *Dialect, kind walkKind, f keyFilter, shown func(key string) bool) *walk {
	w := &walk{d: d, kind: kind, filter: f, shown: shown, at: beginning}
	if !glob.MastersMatch(f.pattern) {
		w.glob = glob.New(f.pattern)
	}
	return w
}

func (w *walk) begin() Action {
	a := w.next()
	a.Continues = true
	return a
}

// next is the next question, or the reply.
func (w *walk) next() Action {
	switch {
	case len(w.found) > 0:
		n := min(len(w.found), readsAtOnce)
		keys := w.found[:n]
		w.found = w.found[n:]
		return Action{Requests: forEach(quorum.Read, keys), Render: held{w, keys}}
	case w.at.master == 0, w.kind == onePage && w.more, w.kind == anyKey && len(w.page) > 0:
		return Action{Reply: w.reply()}
	case w.kind == allKeys && (len(w.page) > w.d.maxKeys || w.pages == maxPages):
		return refusef(errManyKeys, w.d.maxKeys, maxPages*maxScanCount)
	case w.pages == maxPages, w.kind == anyKey && w.shown != nil && w.pages == maxPagesForAny:
		w.at.master = 0 // of so many keys none is held by a quorum
		return Action{Reply: w.reply()}
	}
	w.pages++
	r := quorum.Request{Kind: quorum.Survey, Only: w.at.master, Args: w.filter.argv(w.at.own)}
	return Action{Requests: []quorum.Request{r}, Render: scanned{w}}
}

func (w *walk) reply() Reply {
	keys := describeAll(w.page, Bulk)
	switch w.kind {
	case allKeys:
		return Array(keys...)
	case anyKey:
		if len(keys) == 0 {
			return Null
		}
		return keys[0]
	}
	cursor := uint64(0)
	if w.at.master != 0 {
		for _, key := range w.page {
			w.listed.add(key)
		}
		cursor = w.d.scans.keep(w.client, w.db, w.at, w.listed)
	}
	return Array(Bulk(strconv.FormatUint(cursor, 10)), Array(keys...))
}

// fail ends the walk with an error. The client may go on with the same cursor.
func (w *walk) fail(text Reply) (Reply, Action) {
	w.restore()
	return text, Action{}
}

func (w *walk) restore() { w.d.scans.restore(w.client, w.db, w.cursor, w.listed) }

// find takes a key that a master has named, unless it is listed already, the proxy's own,
// not asked for, or not for this client to read.
func (w *walk) find(key string) {
	if _, ok := w.here[key]; ok || w.listed.has(key) || quorum.Private(key) || w.glob != nil && !w.glob.Match(key) || w.shown != nil && !w.shown(key) {
		return
	}
	if w.here == nil {
		w.here = make(map[string]struct{})
	}
	w.here[key] = struct{}{}
	w.found = append(w.found, key)
}

// held lists those of the keys that a quorum holds, or may hold.
type held struct {
	w    *walk
	keys []string
}

func (h held) Render(results []quorum.Result) (Reply, Action) {
	w := h.w
	for i, r := range results {
		if text, failed := failure(r); failed && r.Decision != quorum.Split {
			return w.fail(text)
		}
		if (r.Exists || r.Decision == quorum.Split) && w.filter.fits(r.Type) {
			w.page = append(w.page, h.keys[i])
		} else {
			delete(w.here, h.keys[i]) // it may be by the time another master names it
		}
	}
	next := w.next()
	return next.Reply, next
}

// scanned goes on from what a master has named.
type scanned struct{ w *walk }

// quickMatch is how many steps of matching nobody need wait for.
const quickMatch = 1 << 16

// Slow tells that there is much to match.
func (s scanned) Slow(results []quorum.Result) bool {
	if s.w.glob == nil {
		return false
	}
	bytes := 0
	if p, ok := s.w.read(results[0]); ok {
		for _, key := range p.keys {
			bytes += len(key.Str)
		}
	}
	return bytes*len(s.w.filter.pattern) > quickMatch
}

// Forgo lets whoever comes with the cursor again go on.
func (s scanned) Forgo() { s.w.restore() }

func (s scanned) Render(results []quorum.Result) (Reply, Action) {
	w, r := s.w, results[0]
	w.masters, w.quorum, w.needed = r.Masters, r.Needed, r.Masters-r.Needed+1
	w.at.done &= 1<<w.masters - 1
	p, ok := w.read(r)
	switch {
	case w.at.master > w.masters || w.at.done.len() >= w.needed:
		w.at = beginning // a cursor of somebody's invention, which Redis takes as well
	case !ok:
		if !w.replace() {
			return w.fail(w.tooFew())
		}
	case w.at.own != 0 && p.process != w.at.process:
		w.at.own = 0
	default:
		w.take(p)
	}
	next := w.next()
	return next.Reply, next
}

// page is what a master answers to SCAN.
type page struct {
	process uint8
	own     uint64
	keys    []quorum.ScriptReply
}

// read is false if the master did not answer, or what is no page.
func (w *walk) read(r quorum.Result) (p page, ok bool) {
	if w.at.master > len(r.Answers) {
		return p, false
	}
	a := r.Answers[w.at.master-1]
	if a.Given && a.Reply.Kind == quorum.FailureReply {
		w.refusal = a.Reply.Str
	}
	if !a.Given || len(a.Reply.Elems) != 2 {
		return p, false
	}
	p = page{process: processOf(a.Server), keys: a.Reply.Elems[1].Elems}
	p.own, ok = parseCursor(a.Reply.Elems[0].Str)
	return p, ok && p.own < 1<<ownBits
}

// replace puts another master in the place of one that cannot be scanned. It is
// false if there is none left.
func (w *walk) replace() bool {
	w.away = w.away.with(w.at.master)
	w.at = place{master: (w.at.done | w.away).first(w.masters), done: w.at.done}
	return w.at.master != 0
}

// take takes a page.
func (w *walk) take(p page) {
	for _, key := range p.keys {
		w.find(key.Str)
	}
	w.at.own, w.at.process, w.more = p.own, p.process, p.own != 0
	if w.more {
		return
	}
	done := w.at.done.with(w.at.master)
	w.at = place{done: done}
	if done.len() >= w.needed {
		return
	}
	// One that was away is asked once more where there is no other.
	if w.at.master = (done | w.away).first(w.masters); w.at.master == 0 {
		w.at.master = done.first(w.masters)
	}
}

// tooFew is the error that fewer masters than needed can be scanned.
func (w *walk) tooFew() Reply {
	if w.refusal != "" {
		return Error(oneLine(w.refusal))
	}
	return tooFew(w.masters-(w.away&(1<<w.masters-1)).len(), quorum.Result{Needed: w.quorum, Masters: w.masters})
}
