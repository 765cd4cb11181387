package engine

import (
	"fmt"
	"maps"
	"strconv"
	"strings"

	"redlock-proxy/quorum"
	"redlock-proxy/quorum/marker"
)

// A fake master's databases, and what of them is on its disk.

// fakeData is what is in each database.
type fakeData [quorum.Databases]map[string]fakeKey

func newFakeData() (d fakeData) {
	for db := range d {
		d[db] = make(map[string]fakeKey)
	}
	return d
}

func (d fakeData) clone() fakeData {
	for db := range d {
		d[db] = maps.Clone(d[db])
	}
	return d
}

// use makes keys those of a database, for as long as a command is carried out there.
func (m *fakeMaster) use(db int) {
	m.data[m.using] = m.keys
	m.using, m.keys = db, m.data[db]
}

// in calls f while keys are those of a database.
func (m *fakeMaster) in(db int, f func()) {
	was := m.using
	m.use(db)
	defer m.use(was)
	f()
}

// databases is how many there are.
func (m *fakeMaster) databases() int {
	if m.count != 0 {
		return m.count
	}
	return quorum.Databases
}

// withOneDatabase has the masters have no other than database 0.
func (w *world) withOneDatabase() {
	for _, m := range w.masters {
		m.set(func(m *fakeMaster) { m.count = 1 })
	}
}

// selectable tells which database a text names; false if there is none.
func (m *fakeMaster) selectable(text string) (db int, ok bool) {
	db, err := strconv.Atoi(text)
	return db, err == nil && db >= 0 && db < m.databases()
}

const fakeOutOfRange = "-ERR DB index is out of range\r\n"

// swap is SWAPDB.
func (m *fakeMaster) swap(a, b int) {
	was := m.using
	m.use(a)
	m.data[a], m.data[b] = m.data[b], m.keys
	m.keys = m.data[a]
	m.use(was)
}

// flushAll empties all databases, as FLUSHALL by hand does.
func (m *fakeMaster) flushAll() {
	for db := range m.data {
		m.in(db, func() { clear(m.keys) })
	}
}

// loseAll does what master.LossScript does.
func (m *fakeMaster) loseAll(argv []string) string {
	if string(marker.NonceOf(m.marker())) != argv[0] {
		return bulk(m.marker())
	}
	own, _ := strconv.Atoi(argv[1])
	var said string
	for db, text := range argv[4:] {
		if db >= m.databases() {
			break
		}
		m.in(db, func() {
			stands := m.marker()
			other := stands != "" && !strings.Contains(stands, argv[2]) || strings.Contains(stands, `"changing":true`) ||
				argv[3] != "" && strings.Contains(stands, argv[3])
			if db == own || !other {
				text = strings.Replace(text, `"was":"@"`, fmt.Sprintf("%q:%q", "was", marker.NonceOf(stands)), 1)
				m.keys[quorum.MarkerKey] = fakeKey{value: text}
				m.breaksAll()
			}
			if db == own {
				said = m.marker()
			}
		})
	}
	return bulk(said)
}

// elsewhere does what elsewhereScript does.
func (m *fakeMaster) elsewhere(argv []string) (letters string) {
	for db := range m.databases() {
		m.in(db, func() {
			stands := m.marker()
			letter := "v"
			switch {
			case stands == "":
				letter = "-"
			case !strings.Contains(stands, argv[1]):
				letter = "?"
			case !strings.Contains(stands, argv[0]), strings.Contains(stands, `"db":`) && !strings.Contains(stands, fmt.Sprintf(`"db":%d,`, db)):
				letter = "o"
			case marker.NonceOf(stands).Provisional():
				letter = "q"
			case strings.Contains(stands, `"ghosts":true`):
				letter = "g"
			}
			letters += letter
		})
	}
	return letters
}

// flushUnmarked empties the database in use, or all, but for their markers.
func (m *fakeMaster) flushUnmarked(all bool) {
	for db := range m.data {
		if !all && db != m.using {
			continue
		}
		m.in(db, func() {
			kept := m.marker()
			clear(m.keys)
			if kept != "" {
				m.keys[quorum.MarkerKey] = fakeKey{value: kept}
			}
		})
	}
}

func forgetAll(m *fakeMaster) { m.flushAll() }

// evict has the master throw keys away since its memory is full.
func (m *fakeMaster) evict(names ...string) {
	for _, name := range names {
		if _, ok := m.key(name); ok {
			delete(m.keys, name)
			m.evicted++
		}
	}
}

func (m *fakeMaster) copyLocked() fakeData {
	m.data[m.using] = m.keys
	return m.data.clone()
}

// copy is what the master holds.
func (m *fakeMaster) copy() (data fakeData) {
	m.locked(func() { data = m.copyLocked() })
	return data
}

// remember keeps what the master holds for a restart with an old dump.
func (m *fakeMaster) remember() {
	data := m.copy()
	m.locked(func() { m.dumps = append(m.dumps, data) })
}

func (m *fakeMaster) memories() (dumps []fakeData) {
	m.locked(func() {
		if !m.durableLocked() { // it has a log besides, which it reads instead
			dumps = m.dumps
		}
	})
	return dumps
}

// configure is CONFIG SET of what keeps writes. A log that is switched off stays on
// the disk as it was; switched on again it is written anew.
func (m *fakeMaster) configure(settings map[string]string) {
	m.locked(func() {
		was := m.durableLocked()
		m.settings = settings
		switch is := m.durableLocked(); {
		case was && !is:
			written := m.copyLocked()
			m.written = &written
		case is:
			m.written = nil
		}
	})
}

var durableSettings = map[string]string{"appendonly": "yes", "appendfsync": "always", "no-appendfsync-on-rewrite": "no"}

// restartFromLog has a new process take the master's place, which is durable and reads
// the log.
func (m *fakeMaster) restartFromLog() {
	data := m.copy()
	m.locked(func() {
		if m.written != nil {
			data = m.written.clone()
		}
		m.written, m.settings = nil, durableSettings
	})
	m.restartWith(data)
}

// restartWith has a new process take the master's place, which reads this from its
// disk.
func (m *fakeMaster) restartWith(data fakeData) {
	m.restartBlank()
	m.locked(func() {
		m.data = data.clone()
		m.keys = m.data[m.using]
	})
}

// markerIn is the text of the marker in a database.
func (m *fakeMaster) markerIn(db int) (text string) {
	m.locked(func() { m.in(db, func() { text = m.marker() }) })
	return text
}
