package proxy

import (
	"sync"
	"time"

	"redlock-proxy/quorum"
	"redlock-proxy/quorum/registry"
)

// watched is what was last seen of the masters, by whom their changes become events.
type watched struct {
	mu      sync.Mutex // guards what follows
	masters []seenMaster
	ready   bool
	begun   bool
}

type seenMaster struct {
	name     string
	state    quorum.State
	since    time.Time
	reason   string
	troubles []Trouble // the latest last

	quarantines uint64 // that there were by then
}

// Trouble is a state in which a master did not vote, be it the present one.
type Trouble struct {
	At   time.Time
	Text string
}

const maxTroubles = 8

// watch is called once a second.
func (s *Server) watch() {
	st := s.engine.Status()
	moved := s.see(&st, s.engine.Ready())
	s.blocked.hangsOn(s, len(st.Masters)-st.Quorum+1, moved)
	s.tracking.masters.Store(int64(len(st.Masters)))
	s.tracking.needed.Store(int64(st.Quorum))
	s.tracking.overdue(s)
}

// see makes events of what has changed, and tells whether a master stands otherwise than before.
func (s *Server) see(st *quorum.Status, ready bool) (moved bool) {
	w := &s.watched
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.masters) != len(st.Masters) {
		w.masters = make([]seenMaster, len(st.Masters))
	}
	tell := func(kind, about, text string, trouble bool) {
		s.seen.Events.Tell(registry.Event{At: s.clock(), Kind: kind, About: about, Text: text, Trouble: trouble})
	}
	for i := range st.Masters {
		m, old := &st.Masters[i], &w.masters[i]
		changed := m.State != old.state || !m.Since.Equal(old.since)
		moved = moved || changed
		unseen := w.begun && m.State == quorum.Voting && m.Quarantines > old.quarantines
		old.name, old.since, old.quarantines = m.Name, m.Since, m.Quarantines
		if changed || m.Reason != old.reason {
			text := m.State.String()
			if m.Reason != "" {
				text += ": " + m.Reason
			}
			if unseen {
				text += ", after a quarantine that took less than a second: what it had lost was given back to it"
			}
			bad := ails(m.State) || unseen
			if bad {
				old.trouble(text)
			}
			if changed {
				tell("master", m.Name, text, bad)
			}
		}
		old.state, old.reason = m.State, m.Reason
	}
	if w.begun && ready != w.ready {
		text := "a quorum of masters can vote"
		if !ready {
			text = "no quorum of masters can vote"
		}
		tell("quorum", "", text, !ready)
	}
	w.ready, w.begun = ready, true
	return moved
}

// ails tells that a master does not vote, and is not about to.
func ails(s quorum.State) bool { return s != quorum.Voting && s != quorum.Connecting }

func (m *seenMaster) trouble(text string) {
	if len(m.troubles) == maxTroubles {
		m.troubles = append(m.troubles[:0], m.troubles[1:]...)
	}
	m.troubles = append(m.troubles, Trouble{time.Now(), text})
}

// names are those of the masters, in their order.
func (w *watched) names() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	names := make([]string, len(w.masters))
	for i := range w.masters {
		names[i] = w.masters[i].name
	}
	return names
}

// troublesOf are the last ones of each master.
func (w *watched) troublesOf(i int) []Trouble {
	w.mu.Lock()
	defer w.mu.Unlock()
	if i >= len(w.masters) {
		return nil
	}
	return append([]Trouble(nil), w.masters[i].troubles...)
}
