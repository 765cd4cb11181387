package proxy

import (
	"strconv"
	"sync"
	"time"

	"redlock-proxy/commands"
	"redlock-proxy/commands/acl"
)

const (
	// maxACLLog is how many denials ACL LOG remembers, as Redis's acllog-max-len.
	maxACLLog = 128

	// aclLogTogether is for how long denials that are alike are one.
	aclLogTogether = time.Minute
)

// aclDenial is one denial, or several that are alike.
type aclDenial struct {
	denial        acl.Denial
	context, user string
	client        string // the line of CLIENT LIST of the latest one
	id, count     int64
	created, last int64 // Unix milliseconds
}

// aclLog is what ACL LOG tells.
type aclLog struct {
	mu   sync.Mutex // guards what follows
	list []aclDenial
	next int64
}

func wallMillis() int64 { return time.Now().UnixMilli() }

// note remembers a denial, the latest last.
func (l *aclLog) note(d acl.Denial, context, user, client string, now int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i := range l.list {
		e := &l.list[i]
		if e.denial == d && e.context == context && e.user == user && now-e.last < aclLogTogether.Milliseconds() {
			again := *e
			again.count++
			again.last, again.client = now, client
			l.list = append(append(l.list[:i:i], l.list[i+1:]...), again)
			return
		}
	}
	if len(l.list) == maxACLLog {
		l.list = append(l.list[:0], l.list[1:]...)
	}
	l.list = append(l.list, aclDenial{denial: d, context: context, user: user, client: client, id: l.next, count: 1, created: now, last: now})
	l.next++
}

func (l *aclLog) reset() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.list = nil
}

// latest is the reply of ACL LOG.
func (l *aclLog) latest(count, now int64) commands.Reply {
	l.mu.Lock()
	defer l.mu.Unlock()
	var list []commands.Reply
	for i := len(l.list) - 1; i >= 0 && int64(len(list)) < count; i-- {
		e := &l.list[i]
		age := strconv.FormatFloat(float64(max(now-e.last, 0))/1000, 'f', -1, 64)
		list = append(list, commands.Map(
			commands.Bulk("count"), commands.Integer(e.count),
			commands.Bulk("reason"), commands.Bulk(e.denial.Reason.String()),
			commands.Bulk("context"), commands.Bulk(e.context),
			commands.Bulk("object"), commands.Bulk(e.denial.Object),
			commands.Bulk("username"), commands.Bulk(e.user),
			commands.Bulk("age-seconds"), commands.Reply{Kind: commands.DoubleReply, Str: age},
			commands.Bulk("client-info"), commands.Bulk(e.client),
			commands.Bulk("entry-id"), commands.Integer(e.id),
			commands.Bulk("timestamp-created"), commands.Integer(e.created),
			commands.Bulk("timestamp-last-updated"), commands.Integer(e.last),
		))
	}
	return commands.Array(list...)
}

// mostOfObject is how many bytes of what was denied are remembered.
const mostOfObject = 128

// logDenied has ACL LOG tell what the client was denied, and counts it.
func (c *conn) logDenied(a *commands.Action) {
	d, user, context := a.Forbidden, brief(a.DeniedUser), "toplevel"
	if len(d.Object) > mostOfObject {
		d.Object = d.Object[:mostOfObject]
	}
	switch {
	case a.Command != nil && d.Reason == acl.ByCommand && d.Object != a.Command.Name:
		context = "lua"
	case c.snapshot.Load().Multi:
		context = "multi"
	}
	c.srv.stats.denied[d.Reason].Add(1)
	line := c.line()
	d.Object = string([]byte(d.Object)) // of its own
	c.srv.aclLog.note(d, context, user, line[:len(line)-1], wallMillis())
}
