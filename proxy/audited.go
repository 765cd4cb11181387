package proxy

import (
	"net"
	"slices"
	"strconv"
	"strings"

	"redlock-proxy/commands"
	"redlock-proxy/commands/acl"
	"redlock-proxy/proxy/audit"
	"redlock-proxy/proxy/resp"
	"redlock-proxy/quorum"
)

// orders are the commands that the audit log tells of, by the names of their rows, and whether
// everybody may give them: the others need the right to @operate.
var orders = map[string]bool{
	"lock|admit": false, "lock|drain": false, "lock|resume": false, "lock|force": false,
	"flushall": false, "flushdb": false, "monitor": false,
	"config|set": false, "config|rewrite": false, "config|resetstat": false,
	"acl|setuser": false, "acl|deluser": false, "acl|load": false, "acl|save": false,
	"client|kill": true, "script|flush": true, "script|kill": true, "slowlog|reset": true, "latency|reset": true,
}

// ordersByIndex has a row's place in the table for each of them. While nothing is audited it is nil.
func ordersByIndex(on bool) []bool {
	if !on {
		return nil
	}
	rows := commands.Table()
	list := make([]bool, len(rows))
	for i, row := range rows {
		_, list[i] = orders[row.Name]
	}
	return list
}

// isOrder tells that a command is to be audited, at no cost worth the name.
func (s *Server) isOrder(row *commands.Command) bool {
	return s.orders != nil && row != nil && s.orders[row.Index]
}

// The words of denials.
const (
	whyPassword = "wrong password"
	whyNoAuth   = "no password was given" // told once for each connection
	whyRights   = "no right to it"
	whyLimit    = "more than the user may take"
)

// audit tells of a command that asked no master, if it was an order or was denied.
func (c *conn) audit(a *commands.Action) {
	if c.srv.cfg.Audit == nil {
		return
	}
	if a.Reply.Kind != commands.ErrorReply {
		if c.srv.isOrder(a.Command) {
			c.auditOrder(a.Command, c.raw, &a.Reply, nil)
		}
		return
	}
	said := a.Reply.Str
	switch {
	case a.Forbidden != (acl.Denial{}):
		c.auditForbidden(a, c.raw, said)
	case strings.HasPrefix(said, "NOAUTH "):
		if !c.strangerTold {
			c.strangerTold = true
			c.auditDenial(a.Command, whyNoAuth, said)
		}
	case c.srv.isOrder(a.Command) && !a.Rejected: // it has the right form
		c.auditOrder(a.Command, c.raw, &a.Reply, nil)
	}
}

// audit tells of a command that masters were asked for, once it has its reply.
func (s *slot) audit(reply *commands.Reply) {
	if s.by != nil {
		s.conn.auditOrder(s.command, s.raw, reply, s)
	}
}

// auditOrder tells of an order; s is nil if no master was asked.
func (c *conn) auditOrder(row *commands.Command, raw []byte, reply *commands.Reply, s *slot) {
	e := audit.Entry{Event: audit.Order, Open: orders[row.Name]}
	e.Outcome, e.Answer = outcomeOf(reply)
	by := c.snapshot.Load()
	if s != nil {
		by = s.by
		e.Votes = c.srv.votesOn(s.asks[0].request, &s.results[0])
		if e.Outcome != audit.Done {
			e.Outcome = withoutQuorum(e.Votes)
		}
	}
	var p resp.Parser
	args, err := p.Parse(raw, c.srv.cfg.Limits.Input.MaxArgs)
	if err == nil {
		describe(&e, row, args)
	}
	if e.Key != "" || row.Name == "flushdb" {
		e.DB, e.HasDB = by.DB, true
	}
	c.tellAudit(row, by, e)
}

// describe tells what was ordered, by the words of the command.
func describe(e *audit.Entry, row *commands.Command, args []string) {
	shown := commands.Shown(args)
	words := shown[strings.Count(row.Name, "|")+1:]
	switch row.Name {
	case "lock|force":
		e.Key = args[2]
		e.Reason, _ = commands.ReasonOf(args[min(5, len(args)):])
	case "lock|admit", "lock|drain", "lock|resume":
		e.Master = args[2]
		rest := args[3:]
		if len(rest) > 0 && strings.EqualFold(rest[0], "force") {
			e.Args, rest = rest[0], rest[1:]
		}
		e.Reason, _ = commands.ReasonOf(rest)
	case "acl|setuser":
		if e.Outcome != audit.Done {
			e.Args, e.Answer = args[2], "" // what is no rule may have been meant to be a password
			return
		}
		e.Args = strings.Join(commands.ShownRules(args[2:]), " ")
	case "acl|deluser":
		e.Args = strings.Join(args[2:], " ")
	case "config|set":
		if e.Outcome != audit.Done {
			e.Answer = "" // it may quote what is no option's name, but was to be its value
			return
		}
		var names []string
		for i := 2; i < len(args); i += 2 {
			names = append(names, args[i])
		}
		e.Args = strings.Join(names, " ")
	default:
		e.Args = strings.Join(words, " ")
	}
}

// auditForbidden tells of what a user may not do, or did not show to be.
func (c *conn) auditForbidden(a *commands.Action, raw []byte, said string) {
	e := audit.Entry{Event: audit.Denial, Why: whyRights, Answer: said, Open: true}
	by := *c.snapshot.Load()
	if a.Forbidden.Reason == acl.ByLimit {
		e.Why = whyLimit
	}
	if a.Denied {
		e.Why, by.User = whyPassword, ""
		if c.srv.dialect.HasUser(a.DeniedUser) { // what is no user's name may be a password at its place
			by.User = a.DeniedUser
		}
	} else {
		e.Args = strings.Join(c.toldOf(a.Command, raw), " ")
	}
	c.tellAudit(a.Command, &by, e)
}

// auditDenial tells of a command that was not carried out. Of those who have not shown who they are
// its name says enough.
func (c *conn) auditDenial(row *commands.Command, why, said string, args ...string) {
	c.tellAudit(row, c.snapshot.Load(), audit.Entry{Event: audit.Denial, Why: why, Answer: said, Args: strings.Join(args, " "), Open: true})
}

// deniedLate tells of a command that is denied when masters were asked.
func (c *conn) deniedLate(s *slot, a commands.Action, reply *commands.Reply) {
	a.Command = s.command
	c.logDenied(&a)
	if c.srv.cfg.Audit != nil {
		c.auditForbidden(&a, s.raw, reply.Str)
	}
}

// toldOf are the keys, channels, masters and options in a command.
func (c *conn) toldOf(row *commands.Command, raw []byte) []string {
	if row == nil {
		return nil
	}
	shown := c.shownOf(raw)
	shown = shown[min(strings.Count(row.Name, "|")+1, len(shown)):]
	return slices.DeleteFunc(shown, func(word string) bool { return word == "(redacted)" })
}

// tellAudit tells of something that a client has asked for by a command. It is for denials of any
// kind: who he is it adds by itself, and on what key or channel it was the entry says.
func (c *conn) tellAudit(row *commands.Command, by *commands.Snapshot, e audit.Entry) {
	e.Door, e.From, e.Source, e.ID = audit.Client, c.addr, sourceOf(c.nc.RemoteAddr(), c.addr), c.id
	e.User, e.Name = by.User, by.Name
	if row != nil {
		e.Command = strings.ToUpper(strings.ReplaceAll(row.Name, "|", " "))
	}
	e.Open = e.Open || e.Outcome != audit.Done
	c.srv.cfg.Audit.Tell(e)
}

// auditOperator tells of an order that was given by the page; reply is nil if it was not answered.
func (s *Server) auditOperator(o *commands.Order, reply *commands.Reply, votes map[string]string) {
	if s.cfg.Audit == nil {
		return
	}
	e := audit.Entry{Event: audit.Order, Door: audit.Admin, From: o.From, User: o.By.User, Source: hostOf(o.From),
		Command: o.Name, Reason: o.Reason, Votes: votes}
	if o.Lock {
		e.Key, e.DB, e.HasDB = o.About, o.By.DB, true
	} else {
		e.Master = o.About
	}
	if e.Outcome, e.Answer = audit.Unknown, o.Answer; reply != nil {
		e.Outcome, e.Answer = outcomeOf(reply)
		if e.Outcome != audit.Done {
			e.Outcome = withoutQuorum(votes)
		}
	}
	e.Open = e.Outcome != audit.Done
	s.cfg.Audit.Tell(e)
}

// auditDoor tells of a wrong password at another door than AUTH.
func (s *Server) auditDoor(from net.Addr, door string) {
	s.cfg.Audit.Tell(audit.Entry{Event: audit.Denial, Door: audit.Admin, From: from.String(), Source: sourceOf(from, door), Why: whyPassword, Open: true})
}

// Forbidden tells the audit log of an order by the page that was not even looked at, and why.
func (s *Server) Forbidden(who Operator, why string) {
	s.cfg.Audit.Tell(audit.Entry{Event: audit.Denial, Door: audit.Admin, From: who.From, User: who.User, Source: hostOf(who.From), Why: why, Open: true})
}

func hostOf(address string) string {
	if host, _, err := net.SplitHostPort(address); err == nil {
		return host
	}
	return address
}

// outcomeOf is what an order has come to, by its reply.
func outcomeOf(r *commands.Reply) (outcome audit.Outcome, answer string) {
	switch r.Kind {
	case commands.IntegerReply:
		return audit.Done, strconv.FormatInt(r.Int, 10)
	case commands.ErrorReply:
		return audit.Refused, r.Str
	}
	return audit.Done, r.Str
}

// withoutQuorum is what an order that no quorum has carried out has come to: that no master has said
// yes to it, or that some may have.
func withoutQuorum(votes map[string]string) audit.Outcome {
	for _, v := range votes {
		if v != quorum.Refused.String() && v != quorum.Withheld.String() {
			return audit.Unknown
		}
	}
	return audit.Refused
}

// votesOn are what masters have said to what they were told to do, by their names; nil where they
// were only asked how something stands.
func (s *Server) votesOn(r *quorum.Request, result *quorum.Result) map[string]string {
	flushes := r.Flushes()
	if r.Kind == quorum.Read || r.Kind == quorum.Survey && !flushes {
		return nil
	}
	votes := make(map[string]string)
	for i, name := range s.watched.names() {
		votes[name] = result.Votes.Of(i).String()
		if flushes && i < len(result.Answers) && result.Answers[i].Given && result.Answers[i].Reply.Kind == quorum.FailureReply {
			votes[name] = quorum.Refused.String() // to a survey any answer is a vote
		}
	}
	return votes
}
