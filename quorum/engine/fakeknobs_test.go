package engine

import (
	"fmt"
	"strings"
	"time"
)

// What tests do to a master.

func (m *fakeMaster) locked(f func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	defer m.notice()
	f()
}

func (m *fakeMaster) value(name string) (v string) {
	m.locked(func() { k, _ := m.key(name); v = k.value })
	return v
}

// left is the remaining ttl of a key by the master's clock; -1 without expiry.
func (m *fakeMaster) left(name string) (d time.Duration) {
	m.locked(func() {
		k, _ := m.key(name)
		if d = -1; k.until != 0 {
			d = time.Duration(k.until - m.now())
		}
	})
	return d
}

func (m *fakeMaster) put(name, value string, ttl time.Duration) {
	m.locked(func() {
		k := fakeKey{value: value}
		if ttl > 0 {
			k.until = m.now() + int64(ttl)
		}
		m.keys[name] = k
	})
}

func (m *fakeMaster) forget(name string) { m.locked(func() { delete(m.keys, name) }) }

// commands are those carried out so far whose text begins with prefix.
func (m *fakeMaster) commands(prefix string) (log []string) {
	m.locked(func() {
		for _, c := range m.log {
			if strings.HasPrefix(c, prefix) {
				log = append(log, c)
			}
		}
	})
	return log
}

// set changes the knobs.
func (m *fakeMaster) set(f func(*fakeMaster)) { m.locked(func() { f(m) }) }

func (m *fakeMaster) freeze() {
	m.locked(func() {
		if m.thaw == nil {
			m.thaw = make(chan struct{})
		}
	})
}

func (m *fakeMaster) unfreeze() {
	m.locked(func() {
		if m.thaw != nil {
			close(m.thaw)
			m.thaw = nil
		}
	})
}

// answersLate has what the master says on its present connections be on its way for so
// long. mu is held.
func (m *fakeMaster) answersLate(by time.Duration) {
	for _, c := range m.conns {
		c.out.change(func() { c.out.far = by })
	}
}

// holdBack has the present connections served after all later ones, for ever
// if need be, as it can happen to what waits in a socket.
func (m *fakeMaster) holdBack() (serve func()) {
	m.locked(func() { serve = m.holdBackLocked() })
	return serve
}

func (m *fakeMaster) holdBackLocked() (serve func()) {
	until := make(chan struct{})
	m.behind = make(map[int64]chan struct{})
	for id := range m.conns {
		m.behind[id] = until
	}
	return func() { close(until) }
}

// cut ends all connections, with whatever they held, and refuses new ones
// until rejoin.
func (m *fakeMaster) cut() {
	m.locked(func() {
		m.refuse = true
		for id, c := range m.conns {
			c.Close()
			delete(m.conns, id)
		}
	})
}

// sever breaks all connections in the network: what has arrived is carried out
// all the same, as soon as the master gets to it.
func (m *fakeMaster) sever() {
	m.locked(func() {
		for _, c := range m.conns {
			c.sever()
		}
	})
}

func (m *fakeMaster) rejoin() { m.locked(func() { m.refuse = false }) }

func (m *fakeMaster) durable() (is bool) {
	m.locked(func() { is = m.durableLocked() })
	return is
}

func (m *fakeMaster) durableLocked() bool { return m.settings["appendfsync"] == "always" }

// restartBlank has a new process take the master's place, which knows nothing.
func (m *fakeMaster) restartBlank() {
	m.cut()
	m.locked(func() {
		m.restarts++
		m.replica = false
		m.runID = fmt.Sprintf("%s-%d", m.name, m.restarts)
		m.lastID, m.evicted = 0, 0
		clear(m.subscribers)
		clear(m.watchers)
		clear(m.trackers)
		clear(m.selected)
		m.flushAll()
		clear(m.scripts)
		m.refuse = false
	})
}
