package proxy

import (
	"time"

	"redlock-proxy/commands"
	"redlock-proxy/quorum/registry"
)

// lookout is what the dialect is told of by a server.
type lookout struct{ srv *Server }

func (l lookout) Seen() *registry.Registry { return l.srv.seen }
func (l lookout) Clock() time.Duration     { return l.srv.clock() }

// Wall is right while nobody sets this machine's clock; what was before that is told as it would be then.
func (l lookout) Wall(clock time.Duration) time.Time { return time.Now().Add(clock - l.srv.clock()) }

func (l lookout) InLine(db int, key string) int { return l.srv.room.inLine(resource{db, key}) }

func (l lookout) Connected(id int64) bool { return l.srv.conn(id) != nil }

func (l lookout) Masters() []string { return l.srv.watched.names() }

// Self is this proxy, as others are told of it.
func (s *Server) Self() commands.Proxy { return lookout{s}.Self() }

// Colleagues asks the other proxies of the same masters who they are, and waits for them.
func (s *Server) Colleagues() []commands.Proxy { return s.dialect.Colleagues() }

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
	if o.Refused {
		return // or whoever is refused again and again would push out what has happened
	}
	text := o.Name + ": " + o.Answer
	if o.Reason != "" {
		text += ", for: " + o.Reason
	}
	by := from
	if o.By.User != "" {
		by += ", user " + o.By.User
	}
	l.srv.seen.Events.Tell(registry.Event{
		At: l.srv.clock(), Kind: "order", About: o.About, Text: text, Lock: o.Lock, DB: o.By.DB,
		By: by,
	})
}

// addrOf is where a client is connected from, "" once it is gone.
func (s *Server) addrOf(id int64) string {
	if c := s.conn(id); c != nil {
		return c.addr
	}
	return ""
}
