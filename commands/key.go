package commands

import "redlock-proxy/quorum"

func (s *Session) get(c *Command, args []string) Action    { return read(readValue, args[1]) }
func (s *Session) strlen(c *Command, args []string) Action { return read(readLength, args[1]) }
func (s *Session) typeOf(c *Command, args []string) Action { return read(readType, args[1]) }
func (s *Session) ttl(c *Command, args []string) Action    { return read(readSeconds, args[1]) }
func (s *Session) pttl(c *Command, args []string) Action   { return read(readMillis, args[1]) }

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
