package proxy

import (
	"fmt"
	"strings"
	"time"

	"redlock-proxy/commands"
	"redlock-proxy/quorum"
	"redlock-proxy/quorum/registry"
)

// lookout is what the dialect is told of by a server.
type lookout struct{ srv *Server }

func (l lookout) Seen() *registry.Registry { return l.srv.seen }
func (l lookout) Clock() time.Duration     { return l.srv.clock() }

// Wall is right while nobody sets this machine's clock; what was before that is told as it would be then.
func (l lookout) Wall(clock time.Duration) time.Time { return time.Now().Add(clock - l.srv.clock()) }

func (l lookout) Masters() []string { return l.srv.watched.names() }

func (l lookout) Self() commands.Proxy {
	s := l.srv
	s.mu.Lock()
	clients, address := len(s.conns), s.address
	s.mu.Unlock()
	return commands.Proxy{
		ID: s.runID, Address: address, Version: s.cfg.ProgramVersion, Since: s.started, Clients: clients, Ready: s.Ready(),
	}
}

func (l lookout) Inquire(question string) []string {
	if l.srv.cfg.Inquire == nil {
		return nil
	}
	return l.srv.cfg.Inquire(question)
}

// Ordered logs who has given an order, and what it came to, and has it among the events.
func (l lookout) Ordered(o commands.Order) {
	from := o.From
	if from == "" {
		from = l.srv.addrOf(o.By.ID)
	}
	l.srv.log.Warn("an order was given", "order", o.Name, "about", o.About, "reason", o.Reason,
		"id", o.By.ID, "addr", from, "user", o.By.User, "name", o.By.Name, "answer", o.Answer)
	text := o.Name + ": " + o.Answer
	if o.Reason != "" {
		text += ", for: " + o.Reason
	}
	l.srv.seen.Events.Tell(registry.Event{
		At: l.srv.clock(), Kind: "order", About: o.About, Text: text,
		By: fmt.Sprintf("%s, user %s", from, o.By.User),
	})
}

// addrOf is where a client is connected from, "" once it is gone.
func (s *Server) addrOf(id int64) string {
	if c := s.conn(id); c != nil {
		return c.addr
	}
	return ""
}

// verdict is one line for an operator: whether locks can be had, and whether this proxy may be
// restarted.
func (s *Server) verdict() string {
	st := s.engine.Status()
	return s.grants(&st) + "; " + s.restart(&st)
}

// grants says whether locks can be had here.
func (s *Server) grants(st *quorum.Status) string {
	voting := 0
	var others []string
	for i := range st.Masters {
		m := &st.Masters[i]
		if m.State == quorum.Voting {
			voting++
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
	case voting == st.Quorum && len(st.Masters) > 1:
		text = "locks are granted, and will not be if one more master fails"
	}
	text += fmt.Sprintf(", %d of %d masters vote, %d are needed", voting, len(st.Masters), st.Quorum)
	if len(others) > 0 {
		text += ": " + strings.Join(others, ", ")
	}
	if st.Hindrance != "" {
		text += ", " + st.Hindrance
	}
	return text
}

// restart says whether this proxy may be restarted: what nobody else knows of would be lost.
// Locks are on the masters and stay.
func (s *Server) restart(st *quorum.Status) string {
	var against []string
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
	if len(against) > 0 {
		return "better do not restart this proxy now: " + strings.Join(against, ", ")
	}
	return "this proxy may be restarted, its locks are on the masters"
}
