package commands

import (
	"strings"
	"sync"
	"sync/atomic"

	"redlock-proxy/quorum"
)

// A watched key is compared, not observed: WATCH reads it, and EXEC acts only
// where the masters still hold what WATCH read. On Redis a key that was changed and
// changed back is a changed key; here it is one only if the client that watches
// has seen the change.

// maxWatched bounds the keys that a connection watches.
const maxWatched = 1000

// maxWatchedBytes bounds the values of watched strings that EXEC has masters compare.
const maxWatchedBytes = 4 << 20

// watch is the keys that a connection watches, from its first WATCH to EXEC,
// DISCARD, UNWATCH or RESET. The session makes it; the results of reads are noted
// by whoever renders them.
type watch struct {
	db int // all keys are in this database

	mu      sync.Mutex // guards what follows
	keys    keySet
	states  map[string]keyState
	pending int  // keys that have been asked for and are not known yet
	broken  bool // a key could not be read, or was seen to change

	bytes atomic.Int64 // of keys and values
}

// watchedSize is about what a key takes beside its name and value.
const watchedSize = 128

// Watched is about how many bytes what is watched takes, nil if nothing is: the values are
// there when the masters have answered, whatever the session does then.
func (s *Session) Watched() *atomic.Int64 {
	if s.watch == nil {
		return nil
	}
	return &s.watch.bytes
}

// keyState is what a quorum holds at a key: nothing, a string, or something else,
// of which value is a digest. As a form it is what execScript is told.
type keyState struct {
	form  string
	value string
}

const (
	formAbsent = "absent"
	formString = "string"
	formOther  = "other"
)

// has tells whether a key is watched.
func (w *watch) has(key string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.keys.has(key)
}

// count is how many keys are watched.
func (w *watch) count() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.keys.list)
}

// add adds the keys that are not watched yet, and tells which they are. Nil, false:
// they are too many.
func (w *watch) add(keys []string) (added []string, ok bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	var more keySet
	for _, key := range keys {
		if !w.keys.has(key) && !more.has(key) {
			more.add(strings.Clone(key))
		}
	}
	added = more.list
	if len(w.keys.list)+len(added) > maxWatched {
		return nil, false
	}
	for _, key := range added {
		w.keys.add(key)
		w.bytes.Add(int64(len(key) + watchedSize))
	}
	w.pending += len(added)
	return added, true
}

// begin notes what WATCH itself read of a key; ok is false if it could not.
func (w *watch) begin(key string, state keyState, ok bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.pending--
	w.broken = w.broken || !ok
	if w.states == nil {
		w.states = make(map[string]keyState)
	}
	w.states[key] = state
	w.bytes.Add(int64(len(state.value)))
}

// see notes what the connection then read of a key, if that is watched: whoever has
// seen another state decides by that, so what WATCH read is no longer true.
func (w *watch) see(key string, state keyState) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if first, known := w.states[key]; known && first != state {
		w.broken = true
	}
}

// seeRead notes the result of a Read. That a key is of another type than string is
// all that such a result says of it.
func (w *watch) seeRead(key string, r quorum.Result) {
	state, ok := stateRead(r)
	switch {
	case !ok:
	case state.form != formOther:
		w.see(key, state)
	default:
		w.mu.Lock()
		defer w.mu.Unlock()
		first, known := w.states[key]
		w.broken = w.broken || known && first.form != formOther
	}
}

// stateRead is what a Read says. It is false if nothing is known.
func stateRead(r quorum.Result) (keyState, bool) {
	wrongType := r.Reply.Kind == quorum.FailureReply && r.Decision == quorum.Won
	_, failed := failure(r)
	switch {
	case wrongType, !failed && r.Exists && r.Type != "" && r.Type != "string":
		return keyState{form: formOther}, true
	case failed:
		return keyState{}, false
	case !r.Exists:
		return keyState{form: formAbsent}, true
	}
	return keyState{formString, r.Value}, true
}

// known gives the states of all keys, and whether they are still all true; ok is
// false while one is being read.
func (w *watch) known() (keys []string, states map[string]keyState, intact, ok bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.keys.list, w.states, !w.broken, w.pending == 0
}

func (s *Session) watchKeys(c *Command, args []string) Action {
	if s.tx.open {
		return refuse(errWatchInMulti)
	}
	if s.watch == nil {
		s.watch = &watch{db: s.seen.DB}
	}
	if s.watch.db != s.seen.DB {
		return refusef(errWatchDB, s.watch.db)
	}
	added, ok := s.watch.add(args[1:])
	switch {
	case !ok:
		return refusef(errWatchMany, maxWatched)
	case len(added) == 0:
		return Action{Reply: OK}
	}
	requests := forEach(quorum.Read, added)
	for i := range requests {
		requests[i].ValueOnly = true
	}
	return Action{Requests: requests, Render: watching{s.watch, added}, Continues: true}
}

// watches tells whether a key of the selected database is watched.
func (s *Session) watches(key string) bool {
	return s.watch != nil && s.watch.db == s.seen.DB && s.watch.has(key)
}

func (s *Session) unwatch(c *Command, args []string) Action {
	s.watch = nil
	return Action{Reply: OK}
}

// watching is a WATCH whose keys have been read. Those that are no strings are read
// again, for their digest.
type watching struct {
	w    *watch
	keys []string
}

func (w watching) Render(results []quorum.Result) (Reply, Action) {
	reply := OK
	var others []string
	for i, key := range w.keys {
		state, ok := stateRead(results[i])
		if ok && state.form == formOther {
			others = append(others, key)
			continue
		}
		w.w.begin(key, state, ok)
		if !ok {
			reply, _ = failure(results[i])
		}
	}
	if len(others) == 0 {
		return reply, Action{}
	}
	return Reply{}, runOwn(digestScript, others, nil, watchingOthers{w.w, others, reply})
}

// watchingOthers is a WATCH that has the digests of keys that are no strings. reply
// is what the rest of it came to.
type watchingOthers struct {
	w     *watch
	keys  []string
	reply Reply
}

func (w watchingOthers) Render(results []quorum.Result) (Reply, Action) {
	reply := w.reply
	text, failed := failureOfRun(results[0])
	if failed {
		reply = text
	}
	for i, key := range w.keys {
		state := keyState{form: formOther}
		if !failed {
			state.value = digestIn(results[0].Script.Str, i)
		}
		w.w.begin(key, state, !failed)
	}
	return reply, Action{}
}

// noting passes results of Reads of watched keys on to the watch.
type noting struct {
	w        *watch
	requests []quorum.Request
	render   Render
}

func (n noting) Render(results []quorum.Result) (Reply, Action) {
	for i := range n.requests {
		if r := &n.requests[i]; r.Kind == quorum.Read && n.w.has(r.Key) {
			n.w.seeRead(r.Key, results[i])
		}
	}
	return n.render.Render(results)
}

// withWatch has the watch see what an action reads.
func (s *Session) withWatch(a Action) Action {
	if s.watch == nil {
		return a
	}
	for i := range a.Requests {
		if r := &a.Requests[i]; r.Kind == quorum.Read && s.watches(r.Key) {
			a.Render = noting{s.watch, a.Requests, a.Render}
			return a
		}
	}
	return a
}
