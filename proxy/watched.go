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
	troubles []trouble // the latest last
}

// trouble is a state that was left, or is the present one, in which a master did not vote.
type trouble struct {
	at   time.Time
	text string
}

const maxTroubles = 8

// watch is called once a second.
func (s *Server) watch() {
	st, ready := s.engine.Status(), s.engine.Ready()
	w := &s.watched
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.masters) != len(st.Masters) {
		w.masters = make([]seenMaster, len(st.Masters))
	}
	tell := func(kind, about, text string) {
		s.seen.Events.Tell(registry.Event{At: s.clock(), Kind: kind, About: about, Text: text})
	}
	for i := range st.Masters {
		m, old := &st.Masters[i], &w.masters[i]
		changed := m.State != old.state || !m.Since.Equal(old.since)
		old.name, old.since = m.Name, m.Since
		if changed || m.Reason != old.reason {
			text := m.State.String()
			if m.Reason != "" {
				text += ": " + m.Reason
			}
			if m.State != quorum.Voting {
				old.trouble(text)
			}
			if changed {
				tell("master", m.Name, text)
			}
		}
		old.state, old.reason = m.State, m.Reason
	}
	if w.begun && ready != w.ready {
		text := "a quorum of masters can vote"
		if !ready {
			text = "no quorum of masters can vote"
		}
		tell("quorum", "", text)
	}
	w.ready, w.begun = ready, true
}

func (m *seenMaster) trouble(text string) {
	if len(m.troubles) == maxTroubles {
		m.troubles = append(m.troubles[:0], m.troubles[1:]...)
	}
	m.troubles = append(m.troubles, trouble{time.Now(), text})
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
func (w *watched) troublesOf(i int) []trouble {
	w.mu.Lock()
	defer w.mu.Unlock()
	if i >= len(w.masters) {
		return nil
	}
	return append([]trouble(nil), w.masters[i].troubles...)
}
