package proxy

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"redlock-proxy/commands"
	"redlock-proxy/quorum"
	"redlock-proxy/quorum/registry"
)

// Operator is who asks without being a client: by the page.
type Operator struct {
	User string
	From string // his address
}

// Ask carries out a command of an operator in a database, as it would be for a client who may do
// everything: of those that are about keys and locks. An error reply is no error; that is ctx's, or
// that the database is not there.
func (s *Server) Ask(ctx context.Context, who Operator, db int, args ...string) (commands.Reply, error) {
	reply, _, err := s.ask(ctx, who, db, args...)
	return reply, err
}

// ask is Ask, and how masters have voted on the last of it.
func (s *Server) ask(ctx context.Context, who Operator, db int, args ...string) (reply commands.Reply, votes map[string]string, err error) {
	if db < 0 || db >= quorum.Databases {
		return reply, nil, errors.New("there is no such database")
	}
	if err := s.engine.Open(db); err != nil {
		return reply, nil, err
	}
	session := s.dialect.Inside(who.User, who.From, db)
	action := session.Do(args)
	if action.Effect != nil {
		return reply, nil, errors.New("that is not asked of masters: " + args[0])
	}
	n := noting{srv: s, command: action.Command, begun: s.clock(), by: &registry.Origin{Addr: who.From, User: who.User}}
	for len(action.Requests) > 0 {
		asked, answered := action.Requests, make(chan []quorum.Result, 1)
		for i := range asked {
			asked[i].DB = db
		}
		s.putAll(asked, func(results []quorum.Result) { answered <- results })
		var results []quorum.Result
		select {
		case results = <-answered:
		case <-ctx.Done():
			return reply, nil, ctx.Err()
		}
		votes = s.votesOn(&asked[0], &results[0])
		reply, next := action.Render.Render(results)
		n.now = s.clock()
		for i := range asked {
			n.note(&asked[i], &results[i], &reply)
			s.room.freedBy(&asked[i], &results[i], n.now)
			s.blocked.stirredBy(s, &asked[i], &results[i], 0)
			s.tracking.changedBy(s, &asked[i], &results[i])
			results[i].Lock.Told()
		}
		if action = next; len(next.Requests) == 0 {
			return reply, votes, nil
		}
	}
	return action.Reply, nil, nil
}

// putAll puts requests of nobody's connection. Whoever brings the last answer gives them all to
// answered, which must not block.
func (s *Server) putAll(requests []quorum.Request, answered func(results []quorum.Result)) {
	g := &gathering{results: make([]quorum.Result, len(requests)), answered: answered}
	g.missing.Store(int32(len(requests)))
	for i := range requests {
		s.engine.Put(&requests[i], gatheredAs{g, i})
	}
}

// gathering is what answers are waited for together.
type gathering struct {
	results  []quorum.Result
	missing  atomic.Int32
	answered func(results []quorum.Result)
}

// gatheredAs is one of them.
type gatheredAs struct {
	*gathering
	i int
}

// Answer is the engine's.
func (a gatheredAs) Answer(r quorum.Result) quorum.Flusher {
	if a.results[a.i] = r; a.missing.Add(-1) == 0 {
		a.answered(a.results)
	}
	return a.gathering
}

// Flush has nothing to send: who waits is woken already.
func (g *gathering) Flush() {}

// Order has an operator drain, resume or admit a master: LOCK DRAIN, LOCK RESUME, LOCK ADMIT.
func (s *Server) Order(who Operator, name, master, reason string, force bool) commands.Reply {
	var reply commands.Reply
	switch name {
	case "LOCK DRAIN":
		reply = s.drainMaster(master, force)
	case "LOCK RESUME":
		reply = s.resumeMaster(master)
	case "LOCK ADMIT":
		reply = s.admitMaster(master)
	default:
		reply = commands.Error("ERR there is no order " + name)
	}
	o := commands.Order{Name: name, About: master, Reason: reason, Answer: reply.Str, Refused: reply.Kind == commands.ErrorReply,
		By: commands.Snapshot{User: who.User}, From: who.From}
	lookout{s}.Ordered(o)
	s.auditOperator(&o, &reply, nil)
	return reply
}

// Free has an operator free a lock, if the holder that he has seen still has it, or whoever does
// where he names none.
func (s *Server) Free(ctx context.Context, who Operator, db int, key, holder, reason string) (commands.Reply, error) {
	o := commands.Order{Name: "DEL", About: key, Lock: true, Reason: reason, By: commands.Snapshot{User: who.User, DB: db}, From: who.From}
	args := []string{"DEL", key}
	if holder != "" {
		o.Name, args = "LOCK FORCE", []string{"LOCK", "FORCE", key, "HOLDER", holder}
		if reason != "" {
			args = append(args, "REASON", reason)
		}
	}
	reply, votes, err := s.ask(ctx, who, db, args...)
	told := &reply
	switch o.Answer = reply.Str; {
	case err != nil:
		o.Answer, told = unanswered, nil
	case reply.Kind == commands.IntegerReply:
		o.Answer = fmt.Sprintf("%d deleted", reply.Int)
	}
	s.auditOperator(&o, told, votes)
	if holder == "" || err != nil { // else the command has told of it
		lookout{s}.Ordered(o)
	}
	return reply, err
}

// unanswered is of an order that may yet be carried out.
const unanswered = "no answer in time, it may be carried out all the same"

// Troubles are the last times at which master i did not vote, the latest first.
func (s *Server) Troubles(i int) []Trouble {
	list := s.watched.troublesOf(i)
	slices.Reverse(list)
	return list
}

// Asked answers what another proxy asks: quorum.Colleague.
func (s *Server) Asked(question string) (answer string) { return s.dialect.Asked(question) }

// Seen is what this proxy remembers of locks, with the time by its clock, and what was then by
// the clock on the wall.
func (s *Server) Seen() (seen *registry.Registry, now time.Duration, wall func(time.Duration) time.Time) {
	return s.seen, s.clock(), lookout{s}.Wall
}
