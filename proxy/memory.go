package proxy

import (
	"cmp"
	"crypto/tls"
	"slices"
	"sync"
	"sync/atomic"

	"redlock-proxy/proxy/resp"
)

// What all clients take together is bounded, as by Redis's maxmemory-clients: where it is
// too much, those that take most are cut off until it is not. A client by itself is
// bounded by Limits, but many of them are not.

// allotment is what clients take together, in bytes.
type allotment struct {
	most      int64
	used      atomic.Int64
	relieving sync.Mutex // held by who cuts clients off

	masters    func() int  // what they have answered, are asked and are owed
	alarmed    atomic.Bool // that alone was much of late
	remembered func() int  // by the dialect, for all; nil: nothing
	shared     int64       // what that was, the sampler's
}

// all is what is used, for clients and for masters. What masters take is bounded by itself; if
// it is most of it, to cut off clients does not help.
func (m *allotment) all() int64 { return m.used.Load() + min(int64(m.masters()), m.most/2) }

// DefaultMaxClientMemory is what is meant by a MaxClientMemory of 0: room for sixteen
// clients of the most that one may be owed, or for tens of thousands of usual ones.
const DefaultMaxClientMemory = 512 << 20

const (
	// connSize is what a connection takes that does nothing.
	connSize = 8 << 10

	// tlsSize is what it takes besides where its bytes are encrypted.
	tlsSize = 40 << 10

	// chargeStep is by how much what a connection takes may differ from what is counted, so
	// that those that take little do not meet at the counter.
	chargeStep = 4 << 10
)

// inLong is what a connection owes in long replies.
type inLong struct {
	unread  int        // bytes of those that are not written to their end
	held    int        // what these take
	written *resp.Long // the one that is being written
}

// add is called with the connection's mu held, as are all below.
func (n *inLong) add(l *resp.Long) {
	n.unread += l.Size
	n.held += l.Held
}

func (n *inLong) begin(l *resp.Long) { n.written = l }

func (n *inLong) took(bytes int) {
	if n.written != nil {
		n.unread -= bytes
	}
}

func (n *inLong) end() {
	n.held -= n.written.Held
	n.written = nil
}

// taken is what a connection takes, and what for.
type taken struct {
	base    int64 // what it takes that does nothing
	query   int64 // what is there of a command, and what a transaction, WATCH and subscriptions keep
	asked   int64 // commands that masters have been asked, and the lines in which it waits
	replies int64 // what it has not read
}

func (t taken) all() int64 { return t.base + t.query + t.asked + t.replies }

// takes is called with mu held.
func (c *conn) takes() taken {
	encoded := int64(c.unread - c.long.unread)
	replies := encoded + encoded/4 // buffers are longer
	base := int64(connSize)
	if _, over := c.nc.(*tls.Conn); over {
		base += tlsSize
	}
	query := c.held.Load()
	if watched := c.watched.Load(); watched != nil {
		query += watched.Load()
	}
	asked := int64(c.asked)
	if p := c.popper.Load(); p != nil {
		asked += p.takes
	}
	return taken{base: base, query: query, asked: asked, replies: replies + int64(c.long.held+c.gathered)}
}

// charge counts what the connection takes by now. mu is held.
func (c *conn) charge() {
	now := int64(0)
	if c.phase != cutOff {
		now = c.takes().all()
	}
	if d := now - c.charged; d > chargeStep || -d > chargeStep || now == 0 {
		c.charged = now
		c.srv.memory.used.Add(d)
	}
}

// noteKept notes what the reader keeps for the client between commands. What is watched may become
// more until the next one.
func (c *conn) noteKept() {
	room := cap(c.partial) + cap(c.behind.all)
	c.pending.Store(int64(len(c.partial) + c.behind.size()))
	c.room.Store(int64(room))
	held, watched := int64(room+c.session.Memory()), c.session.Watched()
	if watched != nil || c.snapshot.Load().Transacts() {
		c.show() // after a command that masters are asked for, it is not
	}
	if c.held.Load() != held || c.watched.Load() != watched {
		c.held.Store(held)
		c.watched.Store(watched)
		c.mu.Lock()
		c.charge()
		c.mu.Unlock()
	}
}

// relieve cuts off those who take most, where all take too much, until a sixteenth is
// free. Nobody may hold a mutex who calls it. Somebody else may be at it.
func (s *Server) relieve() {
	m := &s.memory
	if m.used.Load() <= m.most/2 && !m.alarmed.Load() || m.all() <= m.most || !m.relieving.TryLock() {
		return
	}
	defer m.relieving.Unlock()
	type client struct {
		*conn
		taken
	}
	s.mu.Lock()
	conns := s.connections()
	s.mu.Unlock()
	clients := make([]client, 0, len(conns))
	for _, c := range conns {
		c.mu.Lock()
		if t := c.takes(); c.phase != cutOff && t.all() > t.base+chargeStep && !c.spared() {
			clients = append(clients, client{c, t})
		}
		c.mu.Unlock()
	}
	slices.SortFunc(clients, func(a, b client) int { return cmp.Compare(b.all(), a.all()) })
	for _, c := range clients {
		if m.all() <= m.most-m.most/16 {
			return
		}
		s.stats.evicted.Add(1)
		s.log.Warn("a client is cut off: all clients take too much memory, and it takes most", "id", c.id, "addr", c.addr,
			"bytes", c.all(), "query", c.query, "asked", c.taken.asked, "replies", c.replies, "max_client_memory", m.most)
		c.cut()
	}
}

// spared tells that the client has asked not to be cut off, and is an operator as of now.
func (c *conn) spared() bool {
	session := c.snapshot.Load()
	return session.NoEvict && c.srv.Operates(session.User)
}

// share counts what is remembered for all clients. It is the sampler's.
func (m *allotment) share() {
	m.alarmed.Store(int64(m.masters()) >= m.most/2)
	if m.remembered == nil {
		return
	}
	now := int64(m.remembered())
	m.used.Add(now - m.shared)
	m.shared = now
}
