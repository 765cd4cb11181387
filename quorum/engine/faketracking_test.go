package engine

import (
	"io"
	"maps"
	"slices"
	"time"

	"redlock-proxy/quorum"
)

// What a fake master tells of changes: on a connection that tracks once of each key that was read there, in whatever
// database, or of all keys each time. An expiry is told when it is noticed. A master that does not tell refuses to.

// fakeTold is that part of a fake master.
type fakeTold struct {
	tells    bool
	trackers map[int64]*fakeTracker
	seen     fakeData // what there was when it was last looked what has changed

	steps map[string][]fakeStep // by tag, if they are noted
}

// fakeTracker is a connection that is told.
type fakeTracker struct {
	conn *socket
	all  bool
	keys map[string]bool
}

func (m *fakeMaster) track(args []string, id int64) string {
	if m.trackers == nil {
		m.trackers = make(map[int64]*fakeTracker)
		m.seen = m.copyLocked()
	}
	m.trackers[id] = &fakeTracker{conn: m.conns[id], all: slices.Contains(args, "BCAST"), keys: make(map[string]bool)}
	return "+OK\r\n"
}

// watched is PTTL, of a connection that tracks. Its answer goes before whatever is told from then on.
func (m *fakeMaster) watched(name string, id int64) (reply string, ok bool) {
	t := m.trackers[id]
	if t == nil {
		return "", false
	}
	left := int64(-2)
	if k, there := m.key(name); there {
		left = m.pttl(k)
	}
	t.keys[name] = true
	io.WriteString(t.conn, integer(left))
	return silence, true
}

// tellChanges tells of what has changed since it was called last.
func (m *fakeMaster) tellChanges() {
	if m.trackers == nil {
		return
	}
	var changed []string
	for db := range m.databases() {
		m.in(db, func() {
			for name := range m.keys {
				if k, there := m.key(name); there && m.seen[db][name] != k {
					changed = append(changed, name)
					m.seen[db][name] = k
				}
			}
			for name := range m.seen[db] {
				if _, there := m.keys[name]; !there {
					changed = append(changed, name)
					delete(m.seen[db], name)
				}
			}
		})
	}
	slices.Sort(changed)
	for _, name := range changed {
		m.tellOf(name)
	}
}

// tellOf tells that a key is written to.
func (m *fakeMaster) tellOf(name string) {
	for _, id := range slices.Sorted(maps.Keys(m.trackers)) {
		if t := m.trackers[id]; t.all || t.keys[name] {
			delete(t.keys, name)
			t.tell(array(bulk(name)))
		}
	}
}

// tellOfFlush tells that any key may have changed.
func (m *fakeMaster) tellOfFlush() {
	for _, t := range m.trackers {
		clear(t.keys)
		t.tell("_\r\n")
	}
}

func (t *fakeTracker) tell(what string) {
	io.WriteString(t.conn, ">2\r\n"+bulk("invalidate")+what)
}

// fakeStep is one that has acted.
type fakeStep struct {
	holder string
	what   string // it has done, with the element
	at     time.Time
}

// noteStep notes what a step has done to a list, in the order of those on keys of its tag.
func (m *fakeMaster) noteStep(key, holder string, argv, said []string) {
	if m.steps == nil {
		return
	}
	element := said[0]
	switch argv[0] {
	case "RPUSH", "LPUSH":
		element = argv[2]
	case "LMPOP":
		element = said[1]
	}
	tag := quorum.Tag(key)
	m.steps[tag] = append(m.steps[tag], fakeStep{holder, argv[0] + " " + element, time.Now()})
}

// undoStep forgets a step that was taken back.
func (m *fakeMaster) undoStep(key, holder, how string) {
	if tag := quorum.Tag(key); m.steps != nil && how == takeBack.String() {
		m.steps[tag] = slices.DeleteFunc(m.steps[tag], func(s fakeStep) bool { return s.holder == holder })
	}
}
