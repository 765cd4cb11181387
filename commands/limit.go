package commands

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"redlock-proxy/commands/acl"
	"redlock-proxy/commands/quota"
	"redlock-proxy/quorum"
)

// A user's locks may be bounded, by max-ttl and max-locks. What he asks for is judged by what the masters would be
// asked, where that tells which key is set and for how long: what does not tell it, as a script that is not
// recognised, is refused if it may set a key.
//
// What he holds is known from the answers, but not what was freed by others, or on the masters. So before a lock
// is refused for being one too many, the masters are asked whether all those that count are still there.

// limit is the bounds of one user, in a database.
type limit struct {
	d     *Dialect
	user  *acl.User
	db    int
	asked bool // the masters were asked already
}

func (s *Session) limit() *limit { return &limit{d: s.d, user: s.rights.user, db: s.seen.DB} }

// on has an action be within the limit, if it can be.
func (l *limit) on(a Action) Action {
	if text := l.refusal(a.Command, &a); text != "" {
		return l.refuse(a, text, a.Requests[0].Key)
	}
	if !l.counts() && !a.Continues {
		return a
	}
	h := holding{limit: l, command: a.Command, requests: slices.Clone(a.Requests), render: a.Render}
	if l.counts() {
		h.mark = l.user.Use.Mark()
		for i := range h.requests {
			if r := &h.requests[i]; takes(r) && !l.take(r) {
				h.requests = h.requests[:i]
				h.Forgo()
				return l.full(a, r)
			}
		}
	}
	if _, slow := a.Render.(SlowRender); slow {
		return a // it takes no lock
	}
	a.Render = h
	return a
}

// refuse is instead of an action that is not within the limit. Of a transaction nothing is carried out.
func (l *limit) refuse(a Action, text, key string) Action {
	if a.Command.Name == "exec" {
		text = errExecAbortOf + text
	}
	reply := refuse(oneLine(text)).Reply
	return Action{Command: a.Command, Reply: reply, Rejected: true, Forbidden: acl.Denial{Reason: acl.ByLimit, Object: key}, DeniedUser: l.user.Name}
}

// full asks the masters about the locks that leave no room for one more, and refuses it if that is known.
func (l *limit) full(a Action, one *quorum.Request) Action {
	doubts := l.user.Use.Doubts(l.d.lookout.Clock())
	if l.asked || len(doubts) == 0 {
		text := fmt.Sprintf(errManyLocks, l.user.Name, l.user.Limits.Locks)
		return l.refuse(a, text, one.Key)
	}
	l = &limit{l.d, l.user, l.db, true}
	first := a
	first.Requests = slices.Clone(a.Requests)
	// The key that is asked for is among them, so that what comes behind on it waits.
	reads := []quorum.Request{{Kind: quorum.Read, DB: l.db, Key: one.Key, ValueOnly: true}}
	for _, lock := range doubts {
		reads = append(reads, quorum.Request{Kind: quorum.Read, DB: lock.DB, Key: lock.Key, ValueOnly: true})
	}
	a.Requests, a.Render, a.Continues = reads, doubted{l, first, doubts, l.user.Use.Mark()}, true
	a.Anywhere = true
	return a
}

// doubted is an action that goes on when it is known which of a user's locks are still held.
type doubted struct {
	*limit
	first  Action
	doubts []quota.Lock
	mark   uint64
}

func (d doubted) Render(results []quorum.Result) (Reply, Action) {
	for i, lock := range d.doubts {
		switch r := &results[i+1]; {
		case r.Decision == quorum.Won && r.Exists:
			d.user.Use.Looked(lock, true, r.Value, d.mark)
		case r.Decision == quorum.Won, r.Reply.Kind == quorum.FailureReply: // it is no string
			d.user.Use.Looked(lock, false, "", d.mark)
		}
	}
	next := d.on(d.first)
	return next.Reply, next
}

// holding notes what became of the locks that were asked for.
type holding struct {
	*limit
	command  *Command
	requests []quorum.Request
	render   Render
	mark     uint64
}

func (h holding) Render(results []quorum.Result) (Reply, Action) {
	if h.counts() {
		for i := range h.requests {
			h.note(&h.requests[i], &results[i])
		}
	}
	reply, next := h.render.Render(results)
	if len(next.Requests) == 0 {
		return reply, next
	}
	next.Command = h.command
	for i := range next.Requests {
		next.Requests[i].DB = h.db
	}
	next = h.on(next)
	return next.Reply, next
}

// note settles one of the requests.
func (h holding) note(r *quorum.Request, result *quorum.Result) {
	lock := quota.Lock{DB: r.DB, Key: r.Key}
	switch {
	case takes(r) && tookNothing(r, result):
		h.user.Use.NotTook(lock)
	case takes(r) && result.Decision != quorum.Won:
		h.user.Use.MayHave(lock, token(r))
	case takes(r):
		h.user.Use.Took(lock, token(r), h.ends(r), h.mark)
	case r.Kind == quorum.Release && result.Decision == quorum.Won,
		r.Kind == quorum.Remove && (result.Decision == quorum.Won || result.Decision == quorum.Contended):
		h.user.Use.Freed(lock, h.mark)
	}
}

// Forgo is instead of Render where the locks are not asked for after all. An action takes one, or none.
func (h holding) Forgo() {
	for i := range h.requests {
		if r := &h.requests[i]; h.counts() && takes(r) {
			h.user.Use.NotTook(quota.Lock{DB: r.DB, Key: r.Key})
		}
	}
}

// own is a lock that can be kept: its key holds no other memory.
func own(l quota.Lock) quota.Lock { return quota.Lock{DB: l.DB, Key: strings.Clone(l.Key)} }

// take notes that a lock is asked for. It is false if that is one too many.
func (l *limit) take(r *quorum.Request) bool {
	lock, now := own(quota.Lock{DB: r.DB, Key: r.Key}), l.d.lookout.Clock()
	return l.user.Use.Take(lock, l.user.Limits.Locks, now)
}

// takes tells that a request sets a key, or moves its end further.
func takes(r *quorum.Request) bool {
	switch r.Kind {
	case quorum.Acquire, quorum.Extend:
		return true
	case quorum.Write:
		return r.Args[0] != "PEXPIREAT" // which is one that has passed
	}
	return false
}

// tookNothing tells that by a request that takes nobody has got a lock, or kept one.
func tookNothing(r *quorum.Request, result *quorum.Result) bool {
	switch {
	case r.Kind == quorum.Acquire:
		return result.Decision != quorum.Won || result.Reply.Kind == quorum.FailureReply
	case r.Kind == quorum.Extend:
		return result.Decision == quorum.Contended
	case result.Decision != quorum.Won || r.Has("GET"):
		return false // it may have
	}
	reply := &result.Reply
	return reply.Kind == quorum.NilReply || reply.Kind == quorum.FailureReply || reply.Kind == quorum.IntegerReply && reply.Int == 0
}

// token is what a request sets a lock to, "" if it does not say.
func token(r *quorum.Request) string {
	if r.Kind == quorum.Write && r.Args[0] == "SET" {
		return r.Args[2]
	}
	return r.Token
}

// longer is by how much a lock may outlast its ttl, with all that masters add to it and what it is on its way.
const longer = time.Second

// ends is when a lock that is taken now is over, at the latest.
func (l *limit) ends(r *quorum.Request) time.Duration {
	ttl, known := l.ttl(r)
	if !known || ttl == 0 {
		return quota.Forever
	}
	return l.d.lookout.Clock() + ttl + ttl/50 + longer
}

// ttl is that of a request that takes, 0 for none. It is not known where it stays as it was, or is given as a time
// of day that nobody knows.
func (l *limit) ttl(r *quorum.Request) (ttl time.Duration, known bool) {
	switch {
	case r.At != 0:
		if l.d.options.Now == nil {
			return 0, false
		}
		now, known := l.d.options.Now()
		return max(time.UnixMilli(r.At).Sub(now), 1), known
	case r.Kind == quorum.Write && r.Has("KEEPTTL"):
		return 0, false
	}
	return r.TTL, true
}

// longestCounted is how long the name of a lock may be that is counted: so ten thousand take some 12 MB.
const longestCounted = 1024

// counts tells that it is bounded how many locks there are.
func (l *limit) counts() bool { return l != nil && l.user.Limits.Locks != 0 }

// refusal is why the user may not have this, "" if he may: but for how many locks he holds.
func (l *limit) refusal(c *Command, a *Action) string {
	if l == nil {
		return ""
	}
	if l.setsUntold(c, a) {
		return fmt.Sprintf(errUntoldLock, l.user.Name, strings.Join(l.user.Limits.Words(), " "))
	}
	for i := range a.Requests {
		r := &a.Requests[i]
		if !takes(r) {
			continue
		}
		switch ttl, known := l.ttl(r); {
		case l.counts() && len(r.Key) > longestCounted:
			return fmt.Sprintf(errLongLockName, l.user.Name, longestCounted)
		case l.user.Limits.TTL == 0:
		case !known && r.At != 0:
			return errNoTime
		case !known || ttl == 0 || ttl > l.user.Limits.TTL:
			return fmt.Sprintf(errLongLock, l.user.Name, l.user.Limits.TTL)
		}
	}
	return ""
}

// setsUntold tells that an action may set a key, or move its end, and does not tell which or to when. What a
// transaction does was looked at command by command.
func (*limit) setsUntold(c *Command, a *Action) bool {
	if c == nil || c.Name == "exec" || len(a.Requests) == 0 {
		return false
	}
	switch r := &a.Requests[0]; {
	case r.Kind == quorum.Read && a.Continues:
		return c.Name == "getset"
	case r.Kind != quorum.Run || r.Script.Reads:
		return false
	case c.runsScript():
		j, ok := a.Render.(journaled)
		return !ok || j.sc.sets(r.Keys, r.Args)
	}
	return setsKeys(c.Name)
}

// sets tells that a script may call, with these keys and arguments, what sets a key.
func (sc *script) sets(keys, argv []string) bool {
	return slices.ContainsFunc(sc.calls(), func(called scriptCall) bool {
		name, known := called.command.in(keys, argv)
		return !known || len(name) <= longestName && setsKeys(lower(name))
	})
}

// setsKeys tells that a command may set a key, or move its end.
func setsKeys(name string) bool {
	row := byName[name]
	if row == nil {
		return false
	}
	flags := row.KeyFlags + " " + row.SecondKey
	return hasWord(flags, "insert") || hasWord(flags, "update")
}
