package proxy

import (
	"fmt"
	"strings"

	"redlock-proxy/quorum"
)

// Verdict is what somebody who is woken wants to know first.
type Verdict struct {
	Grants  bool   // a quorum of masters can vote, and this proxy serves
	Text    string // why, or why not
	Restart bool   // this proxy may be restarted, and nothing that it knows alone is lost
	Advice  string // on that
}

// Verdict judges what the engine tells of itself.
func (s *Server) Verdict(st *quorum.Status) Verdict {
	v := Verdict{Grants: s.Ready(), Text: s.grants(st)}
	against := againstRestart(st)
	v.Restart = len(against) == 0
	if v.Advice = "this proxy may be restarted, its locks are on the masters"; !v.Restart {
		v.Advice = "better do not restart this proxy now: " + strings.Join(against, ", ")
	}
	return v
}

// verdict is one line for an operator.
func (s *Server) verdict() string {
	st := s.engine.Status()
	v := s.Verdict(&st)
	return v.Text + "; " + v.Advice
}

// grants says whether locks can be had here.
func (s *Server) grants(st *quorum.Status) string {
	var others []string
	for i := range st.Masters {
		m := &st.Masters[i]
		if m.State == quorum.Voting {
			continue
		}
		text := m.Name + " " + m.State.String()
		if m.Reason != "" {
			text += " (" + m.Reason + ")"
		}
		others = append(others, text)
	}
	text := "locks are granted"
	switch {
	case s.draining.Load():
		text = "no locks are granted: this proxy is shutting down"
	case !s.engine.Ready():
		text = "no locks are granted"
	case s.Draining():
		text = "this proxy is shutting down, and grants locks until then"
	case st.CanVote == st.Quorum && len(st.Masters) > 1:
		text = "locks are granted, and will not be if one more master fails"
	}
	text += fmt.Sprintf(", %d of %d masters vote, %d are needed", st.CanVote, len(st.Masters), st.Quorum)
	switch {
	case len(others) > 0:
		text += ": " + strings.Join(others, ", ")
	case st.Shortage != "": // one that votes hangs
		text += ": " + st.Shortage
	}
	if st.Hindrance != "" {
		text += ", " + st.Hindrance
	}
	return text
}

// againstRestart is what nobody else knows of, and would be lost. Locks are on the masters and stay.
func againstRestart(st *quorum.Status) (against []string) {
	for i := range st.Masters {
		switch m := &st.Masters[i]; {
		case m.Debts > 0:
			against = append(against, fmt.Sprintf("%d releases that are owed to %s would be lost, and keep their locks until they end", m.Debts, m.Name))
		case m.State == quorum.CatchingUp:
			against = append(against, m.Name+" is being given what it lost")
		case m.State == quorum.Drained:
			against = append(against, m.Name+" would be asked for votes again, as it is this proxy that has drained it")
		}
	}
	return against
}
