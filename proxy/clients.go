package proxy

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"redlock-proxy/commands"
)

// clientList is CLIENT LIST: in the order of the ids asked for, or of age.
func (s *Server) clientList(me *conn, f commands.ClientFilter) string {
	var b strings.Builder
	for _, c := range s.matching(me, f) {
		b.WriteString(c.line())
	}
	return b.String()
}

// clientKill cuts off the connections that match. me says that the one that
// asks is among them: it still gets its reply.
func (s *Server) clientKill(asker *conn, f commands.ClientFilter) (killed int, me bool) {
	for _, c := range s.matching(asker, f) {
		killed++
		if c == asker {
			me = true
			continue
		}
		c.cut()
	}
	return killed, me
}

func (s *Server) matching(me *conn, f commands.ClientFilter) []*conn {
	s.mu.Lock()
	var conns []*conn
	if len(f.IDs) > 0 {
		for _, id := range f.IDs {
			if c := s.conns[id]; c != nil {
				conns = append(conns, c)
			}
		}
	} else {
		conns = s.connections()
		slices.SortFunc(conns, func(a, b *conn) int { return cmp.Compare(a.id, b.id) })
	}
	s.mu.Unlock()
	return slices.DeleteFunc(conns, func(c *conn) bool { return c.gone() || !c.matches(me, f) })
}

// gone tells that the connection is cut off, even if its reader has not left yet.
func (c *conn) gone() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.phase == cutOff
}

func (c *conn) matches(me *conn, f commands.ClientFilter) bool {
	session := c.snapshot.Load()
	kind := "normal"
	if session.Subscribed() {
		kind = "pubsub"
	}
	age := int64((c.srv.clock() - c.created) / time.Second)
	return (f.Type == "" || f.Type == kind) &&
		(f.Addr == "" || f.Addr == c.addr) &&
		(f.LAddr == "" || f.LAddr == c.laddr) &&
		(f.User == "" || f.User == session.User) &&
		(f.MaxAge == 0 || age >= f.MaxAge) &&
		!(f.SkipMe && c == me)
}

// line is a connection in CLIENT LIST. Fields of things that do not exist here
// are what Redis shows of a client that does not use them.
func (c *conn) line() string {
	session := c.snapshot.Load()
	now := c.srv.clock()
	name := "NULL"
	if last := c.last.Load(); last != nil {
		name = last.Name
	}
	c.mu.Lock()
	unread, takes := c.unread, c.takes()
	c.mu.Unlock()
	return fmt.Sprintf("id=%d addr=%s laddr=%s fd=%d name=%s age=%d idle=%d flags=%s db=%d sub=%d psub=%d ssub=0 multi=-1"+
		" qbuf=%d qbuf-free=0 argv-mem=0 multi-mem=0 rbs=0 rbp=0 obl=0 oll=0 omem=%d tot-mem=%d events=r"+
		" cmd=%s user=%s redir=-1 resp=%d lib-name=%s lib-ver=%s\n",
		c.id, c.addr, c.laddr, c.fd, session.Name, (now-c.created)/time.Second,
		c.silence()/time.Second, c.flags(session), session.DB, session.Channels, session.Patterns,
		c.pending.Load(), unread, takes.all(),
		name, session.User, session.Proto, session.LibName, session.LibVer)
}

// flags has a letter for each thing that is so, in Redis's order, and N if
// nothing is.
func (c *conn) flags(session *commands.Snapshot) string {
	var flags strings.Builder
	for _, flag := range []struct {
		letter byte
		set    bool
	}{
		{'O', session.Monitors},
		{'P', session.Subscribed()},
		{'U', strings.HasPrefix(c.addr, "/")},
		{'e', session.NoEvict},
		{'T', session.NoTouch},
	} {
		if flag.set {
			flags.WriteByte(flag.letter)
		}
	}
	if flags.Len() == 0 {
		return "N"
	}
	return flags.String()
}
