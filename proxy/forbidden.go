package proxy

import (
	"strconv"
	"sync"
	"time"

	"redlock-proxy/commands"
	"redlock-proxy/commands/acl"
)

const (
	// maxForbidden is how many denials ACL LOG remembers, as Redis's acllog-max-len.
	maxForbidden = 128

	// forbiddenTogether is for how long denials that are alike are one.
	forbiddenTogether = time.Minute
)

// forbiddance is one denial, or several that are alike.
type forbiddance struct {
	denial        acl.Denial
	context, user string
	client        string // the line of CLIENT LIST of the latest one
	id, count     int64
	created, last int64 // Unix milliseconds
}

// forbidden is what ACL LOG tells.
type forbidden struct {
	mu   sync.Mutex // guards what follows
	list []forbiddance
	next int64
}

func wallMillis() int64 { return time.Now().UnixMilli() }

// note remembers a denial, the latest last.
func (f *forbidden) note(d acl.Denial, context, user, client string, now int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for i := range f.list {
		e := &f.list[i]
		if e.denial == d && e.context == context && e.user == user && now-e.last < forbiddenTogether.Milliseconds() {
			again := *e
			again.count++
			again.last, again.client = now, client
			f.list = append(append(f.list[:i:i], f.list[i+1:]...), again)
			return
		}
	}
	if len(f.list) == maxForbidden {
		f.list = append(f.list[:0], f.list[1:]...)
	}
	f.list = append(f.list, forbiddance{denial: d, context: context, user: user, client: client, id: f.next, count: 1, created: now, last: now})
	f.next++
}

func (f *forbidden) reset() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.list = nil
}

// latest is the reply of ACL LOG.
func (f *forbidden) latest(count, now int64) commands.Reply {
	f.mu.Lock()
	defer f.mu.Unlock()
	var list []commands.Reply
	for i := len(f.list) - 1; i >= 0 && int64(len(list)) < count; i-- {
		e := &f.list[i]
		age := strconv.FormatFloat(float64(max(now-e.last, 0))/1000, 'f', -1, 64)
		list = append(list, commands.Map(
			commands.Bulk("count"), commands.Integer(e.count),
			commands.Bulk("reason"), commands.Bulk(e.denial.Reason.String()),
			commands.Bulk("context"), commands.Bulk(e.context),
			commands.Bulk("object"), commands.Bulk(e.denial.Object),
			commands.Bulk("username"), commands.Bulk(e.user),
			commands.Bulk("age-seconds"), commands.Bulk(age),
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

// forbade notes that the client was denied something.
func (c *conn) forbade(a *commands.Action) {
	d, user, context := a.Forbidden, brief(a.DeniedUser), "toplevel"
	if len(d.Object) > mostOfObject {
		d.Object = d.Object[:mostOfObject]
	}
	switch {
	case a.Command != nil && d.Reason == acl.ByCommand && d.Object != a.Command.Name:
		context = "lua"
	case c.session.Snapshot().Multi:
		context = "multi"
	}
	line := c.line()
	d.Object = string([]byte(d.Object)) // of its own
	c.srv.forbidden.note(d, context, user, line[:len(line)-1], wallMillis())
}
