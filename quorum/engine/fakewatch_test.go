package engine

import "strings"

// What a fake master does with WATCH, MULTI and EXEC.

// fakeWatcher is what a connection watches, and what it has queued.
type fakeWatcher struct {
	keys   []fakeWatched
	void   bool // one was written to, or has expired
	multi  bool
	queued [][]string
}

// fakeWatched is a key as it was when it was last looked at.
type fakeWatched struct {
	db    int
	name  string
	was   fakeKey
	there bool
}

// transact carries out what is about a transaction, or queues what is part of one; "" is that
// it does neither.
func (m *fakeMaster) transact(args []string, id int64) string {
	w := m.watchers[id]
	if w == nil {
		w = &fakeWatcher{}
	}
	switch command := strings.ToUpper(args[0]); {
	case command == "EXEC" && !w.multi:
		return "-ERR EXEC without MULTI\r\n"
	case command == "EXEC":
		return m.exec(w, id)
	case w.multi:
		w.queued = append(w.queued, args)
		return "+QUEUED\r\n"
	case command == "MULTI":
		w.multi = true
	case command == "WATCH":
		m.note(args)
		for _, name := range args[1:] {
			k, there := m.key(name)
			w.keys = append(w.keys, fakeWatched{m.using, name, k, there})
		}
	default:
		return ""
	}
	if m.watchers == nil {
		m.watchers = make(map[int64]*fakeWatcher)
	}
	m.watchers[id] = w
	return "+OK\r\n"
}

func (m *fakeMaster) exec(w *fakeWatcher, id int64) string {
	m.notice()
	delete(m.watchers, id)
	if w.void {
		return "*-1\r\n"
	}
	var replies []string
	for _, args := range w.queued {
		replies = append(replies, m.perform(args, id))
	}
	return array(replies...)
}

// notice has those know who watch what has changed.
func (m *fakeMaster) notice() {
	m.tellChanges()
	for _, w := range m.watchers {
		for i := range w.keys {
			k := &w.keys[i]
			m.in(k.db, func() {
				is, there := m.key(k.name)
				w.void = w.void || there != k.there || is != k.was
				k.was, k.there = is, there
			})
		}
	}
}

// touch has those know who watch a key that it is written to, be it with what was there.
func (m *fakeMaster) touch(name string) {
	m.tellOf(name)
	for _, w := range m.watchers {
		for _, k := range w.keys {
			w.void = w.void || k.db == m.using && k.name == name
		}
	}
}

// unwatch forgets what a connection watched that has ended.
func (m *fakeMaster) unwatch(id int64, conn *socket) {
	m.locked(func() {
		if c := m.conns[id]; c == nil || c == conn {
			delete(m.watchers, id)
			delete(m.trackers, id)
		}
	})
}
