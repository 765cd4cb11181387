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

// line is a connection in CLIENT LIST: the fields of Redis 7.2, and watch and the totals of later
// ones. Fields of things that do not exist here are what Redis shows of a client that does not use
// them; arguments are not apart from the bytes that they came in.
func (c *conn) line() string {
	session := c.snapshot.Load()
	now := c.srv.clock()
	name, multi := "NULL", -1
	if last := c.last.Load(); last != nil {
		name = last.Name
	}
	if session.Multi {
		multi = session.Queued
	}
	pending := c.pending.Load()
	c.mu.Lock()
	takes, owed, closing := c.takes(), c.owes(), c.phase == closing
	c.mu.Unlock()
	return fmt.Sprintf("id=%d addr=%s laddr=%s fd=%d name=%s age=%d idle=%d flags=%s db=%d sub=%d psub=%d ssub=%d multi=%d watch=%d"+
		" qbuf=%d qbuf-free=%d argv-mem=0 multi-mem=%d rbs=%d rbp=%d obl=%d oll=%d omem=%d tot-mem=%d events=%s"+
		" cmd=%s user=%s redir=%d resp=%d lib-name=%s lib-ver=%s tot-net-in=%d tot-net-out=%d tot-cmds=%d\n",
		c.id, c.addr, c.laddr, c.fd, session.Name, (now-c.created)/time.Second,
		c.silence()/time.Second, c.flags(session, closing), session.DB, session.Channels, session.Patterns, session.Shards, multi, session.Watched,
		pending, max(c.room.Load()-pending, 0), session.QueuedBytes, owed.room, owed.widest, owed.first, owed.others, owed.elsewhere, takes.all(), owed.events,
		name, session.User, redirection(&session.Tracking), session.Proto, session.LibName, session.LibVer, c.netIn.Load(), owed.sent, c.commands.Load())
}

// owing is what a client has not taken yet, as CLIENT LIST tells it.
type owing struct {
	room, widest int    // bytes that the buffer has that is written, or will be next, and that the largest had
	first        int    // bytes in it
	others       int    // how many buffers and long replies wait behind it
	elsewhere    int    // bytes in them, and of replies whose turn has not come
	events       string // what is waited for: the client's bytes, or that it takes some
	sent         uint64 // bytes that it took
}

// owes is called with mu held.
func (c *conn) owes() owing {
	o := owing{room: c.latest, widest: c.widest, events: "rw", sent: c.sent}
	behind := c.out
	if !c.writing {
		o.events = "r"
		if o.room = 0; c.out != nil {
			o.room, behind = cap(c.out.b), c.out.next
		}
	}
	o.first = int(c.pushed - c.sent)
	for b := behind; b != nil; b = b.next {
		o.others++
		o.first -= len(b.b)
		if b.long != nil {
			o.others++
			o.first -= b.long.Size
		}
	}
	o.elsewhere = max(c.unread-o.first, 0)
	return o
}

// flags has a letter for each thing that is so, in Redis's order, and N if
// nothing is.
func (c *conn) flags(session *commands.Snapshot, closing bool) string {
	var flags strings.Builder
	for _, flag := range []struct {
		letter byte
		set    bool
	}{
		{'O', session.Monitors},
		{'P', session.Subscribed()},
		{'t', session.Tracking.On},
		{'R', session.Tracking.Redirect != 0 && c.srv.conn(session.Tracking.Redirect) == nil},
		{'B', session.Tracking.Bcast},
		{'b', c.waiter.Load() != nil || c.popper.Load() != nil},
		{'x', session.Multi},
		{'c', closing},
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
