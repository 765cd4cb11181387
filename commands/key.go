package commands

import (
	"time"

	"redlock-proxy/quorum"
)

func (s *Session) get(c *Command, args []string) Action    { return read(readValue, args[1]) }
func (s *Session) strlen(c *Command, args []string) Action { return read(readLength, args[1]) }
func (s *Session) typeOf(c *Command, args []string) Action { return read(readType, args[1]) }
func (s *Session) ttl(c *Command, args []string) Action    { return read(readSeconds, args[1]) }
func (s *Session) pttl(c *Command, args []string) Action   { return read(readMillis, args[1]) }

// expireTime is EXPIRETIME and PEXPIRETIME: the time of day at which it was asked, and what is left then.
// So it tells no later end than there is.
func (s *Session) expireTime(c *Command, args []string) Action {
	now, known := time.Time{}, false
	if s.d.options.Now != nil {
		now, known = s.d.options.Now()
	}
	a := read(readMillis, args[1])
	a.Render = readEnd{now.UnixMilli(), known, c.Name == "expiretime"}
	return a
}

type readEnd struct {
	now     int64 // milliseconds of Unix time
	known   bool
	seconds bool // are asked for, which Redis rounds to the nearest
}

func (e readEnd) Render(results []quorum.Result) (Reply, Action) {
	reply, _ := readMillis.Render(results)
	switch {
	case reply.Kind != IntegerReply || reply.Int < 0:
	case !e.known:
		reply = Error(errNoTime)
	case e.seconds:
		reply.Int = (e.now + reply.Int + 500) / 1000
	default:
		reply.Int += e.now
	}
	return reply, Action{}
}

// exists counts a key once for each time it is named.
func (s *Session) exists(c *Command, args []string) Action {
	return Action{Requests: forEach(quorum.Read, args[1:]), Render: readCount}
}

// del is DEL and UNLINK. A key that is named twice counts once: the second
// request finds it gone.
func (s *Session) del(c *Command, args []string) Action {
	return Action{Requests: forEach(quorum.Remove, args[1:]), Render: removed{}}
}

func read(what readRender, key string) Action {
	requests := forEach(quorum.Read, []string{key})
	requests[0].ValueOnly = what == readValue || what == readLength
	return Action{Requests: requests, Render: what}
}

func forEach(kind quorum.Kind, keys []string) []quorum.Request {
	requests := make([]quorum.Request, len(keys))
	for i, key := range keys {
		requests[i] = quorum.Request{Kind: kind, Key: key}
	}
	return requests
}
