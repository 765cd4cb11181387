package proxy

import (
	"strings"
	"time"

	"redlock-proxy/commands"
	"redlock-proxy/quorum"
	"redlock-proxy/quorum/registry"
)

// noting is about one command, of which the registry is to remember what became of locks. It is
// on the way of each command that takes a lock, and allocates nothing.
type noting struct {
	srv        *Server
	command    *commands.Command
	by         *registry.Origin
	begun, now time.Duration
}

// mostNoted is how many keys of one script are noted.
const mostNoted = 16

func (c *conn) note(s *slot, reply *commands.Reply, now time.Duration) {
	n := noting{srv: c.srv, command: s.command, by: s.origin, begun: s.begun, now: now}
	for i := range s.results {
		if !s.asks[i].noted {
			n.note(s.asks[i].request, &s.results[i], reply)
		}
	}
}

// noteFreed notes that one of several keys is freed: somebody else may have it before all are.
func (a *ask) noteFreed(result *quorum.Result) {
	s := a.slot
	if len(s.asks) == 1 || a.request.Kind != quorum.Remove || result.Decision != quorum.Won {
		return
	}
	n := noting{srv: s.conn.srv, command: s.command, by: s.origin, begun: s.begun, now: s.conn.srv.clock()}
	n.note(a.request, result, &commands.Reply{})
	a.noted = true
}

// note notes one of its requests, of which this was the result; reply is empty where more follow.
func (n *noting) note(r *quorum.Request, result *quorum.Result, reply *commands.Reply) {
	what := noted(r, result)
	if what == 0 {
		return
	}
	a := registry.Act{What: what, DB: r.DB, Key: r.Key, At: n.begun, Took: n.now - n.begun, Votes: result.Votes, By: n.by}
	switch {
	case what == registry.Failed && reply.Kind == commands.ErrorReply:
		a.Why = reply.Str
	case what == registry.Released && n.command.Name == "lock|force", what == registry.Deleted && n.by.ID == 0: // by Free
		a.What = registry.Forced
	}
	switch r.Kind {
	case quorum.Survey:
		if r.Args[0] == "FLUSHALL" {
			a.DB = -1
		}
		n.srv.seen.Flush(a.DB, a.At)
		return
	case quorum.Run:
		n.noteRun(&a, r, result)
		return
	case quorum.Write:
		if r.Args[0] == "SET" {
			a.Signs = registry.SignedBy(r.Args[2])
		}
	case quorum.Acquire, quorum.Release, quorum.Extend:
		a.Signs = registry.SignedBy(r.Token)
	}
	a.TTL = n.ttl(r)
	n.srv.seen.Note(&a)
}

// noteRun notes a script, as to the keys that it was given, and those that it has written to besides.
func (n *noting) noteRun(a *registry.Act, r *quorum.Request, result *quorum.Result) {
	args := r.Args
	if r.Script.Printed == nil { // one of ours, which is told the command
		for len(args) > 0 && (args[0] == r.Key || strings.EqualFold(args[0], n.command.Name)) {
			args = args[1:]
		}
	}
	switch n.command.Name {
	case "exec":
		args = nil // what was watched is among them, and may be another's
	case "getex": // which writes an end alone
		if args = nil; a.What == registry.Written {
			a.What = registry.Extended
		}
	}
	a.Signs = registry.SignsOf(args)
	if a.TTL = result.TTL; a.TTL == 0 {
		a.TTL = registry.UnknownTTL
	}
	for _, a.Key = range r.Keys[:min(len(r.Keys), mostNoted)] {
		n.srv.seen.Note(a)
		a.TTL = registry.UnknownTTL
	}
	if a.What == registry.Refused {
		return // what was written to besides is put back
	}
	for _, a.Key = range result.Others[:min(len(result.Others), mostNoted)] {
		n.srv.seen.Note(a)
	}
}

// noted is what has become of a request, 0 if that says nothing of a lock.
func noted(r *quorum.Request, result *quorum.Result) registry.What {
	won := result.Decision == quorum.Won
	switch r.Kind {
	case quorum.Read:
		return 0
	case quorum.Survey:
		if r.Flushes() && won {
			return registry.Deleted
		}
		return 0
	case quorum.Run:
		if r.Script.Reads {
			return 0
		}
	}
	switch {
	case !won && result.Decision != quorum.Contended:
		return registry.Failed
	case result.Reply.Kind == quorum.FailureReply:
		return 0
	}
	switch r.Kind {
	case quorum.Acquire:
		return either(won, registry.Granted, registry.Refused)
	case quorum.Release:
		return either(won, registry.Released, registry.NotHeld)
	case quorum.Extend:
		return either(won, registry.Extended, registry.NotHeld)
	case quorum.Remove:
		return either(won, registry.Deleted, 0)
	case quorum.Run:
		return either(won, registry.Written, registry.Refused)
	}
	return notedWrite(r, &result.Reply)
}

// notedWrite is noted of a Write that a quorum has answered alike.
func notedWrite(r *quorum.Request, reply *quorum.Reply) registry.What {
	if r.Args[0] == "SET" {
		refused := reply.Kind == quorum.NilReply && (r.Has("XX") || !r.Has("GET"))
		return either(!refused, registry.Granted, registry.Refused)
	}
	switch ends := r.TTLArg == 0 && r.Args[0] != "PERSIST"; {
	case reply.Kind != quorum.IntegerReply || reply.Int == 0:
		return 0
	case ends: // an expiry that is over already
		return registry.Deleted
	}
	return registry.Extended
}

func either(yes bool, one, other registry.What) registry.What {
	if yes {
		return one
	}
	return other
}

// ttl is how long a lock lives from when it was asked for, as its client counts. The time of day is the
// masters': our own wall clock may be off.
func (n *noting) ttl(r *quorum.Request) time.Duration {
	switch {
	case r.At != 0:
		now, known := n.srv.engine.Now()
		if !known {
			return registry.UnknownTTL
		}
		return max(time.UnixMilli(r.At).Sub(now)+n.now-n.begun, 0)
	case r.TTL > 0:
		return r.TTL
	case r.Kind == quorum.Write && r.Has("KEEPTTL"):
		return registry.UnknownTTL
	}
	return registry.NoTTL
}

// noteUndone notes that a lock is taken back, whose client could not be told.
func (c *conn) noteUndone(s *slot) {
	r := s.asks[0].request
	c.srv.seen.Note(&registry.Act{
		What: registry.Undone, DB: r.DB, Key: r.Key, Signs: registry.SignedBy(r.Token), At: c.srv.clock(), By: s.origin,
	})
}

// originOf is a client as the registry names it.
func (c *conn) originOf(s *commands.Snapshot) *registry.Origin {
	library := brief(s.LibName)
	if s.LibVer != "" {
		library += " " + brief(s.LibVer)
	}
	return &registry.Origin{ID: c.id, Addr: c.addr, Name: brief(s.Name), Library: library, User: brief(s.User)}
}

// mostOfName is how many bytes of a name are remembered with each lock that a client took.
const mostOfName = 96

func brief(s string) string {
	if len(s) > mostOfName {
		s = s[:mostOfName]
	}
	return strings.Clone(s)
}
