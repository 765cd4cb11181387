package commands

import (
	"strconv"
	"strings"
	"time"

	"redlock-proxy/quorum"
)

// expire is EXPIRE, PEXPIRE, EXPIREAT and PEXPIREAT. The masters get a PEXPIRE,
// whatever the client said.
func (s *Session) expire(c *Command, args []string) Action {
	key := args[1]
	flags, text := parseExpireFlags(args[3:])
	if text != "" {
		return refuse(text)
	}
	n, ok := parseInt(args[2])
	if !ok {
		return refuse(errNotInteger)
	}
	unit := time.Second
	if c.Name[0] == 'p' {
		unit = time.Millisecond
	}
	e, ok := s.d.newExpiry(n, unit, strings.HasSuffix(c.Name, "at"))
	if !ok {
		return refuse(invalidExpire(c.Name))
	}
	if e.past() {
		return endNow(key, e, flags)
	}
	if text := s.d.allowTTL(e); text != "" {
		return refuse(text)
	}
	r := quorum.Request{Kind: quorum.Write, Key: key, TTL: e.ttl(), Far: e.far(), At: e.at(), TTLArg: 2}
	r.Args = append([]string{"PEXPIRE", key, ""}, flags...)
	return Action{Requests: []quorum.Request{r}, Render: written{}}
}

// endNow is an expiry that is over already: Redis deletes the key. Whether flags
// forbid that only the masters know.
func endNow(key string, e expiry, flags []string) Action {
	if len(flags) == 0 {
		return Action{Requests: forEach(quorum.Remove, []string{key}), Render: removed{}}
	}
	name := "PEXPIRE"
	if e.absolute {
		name = "PEXPIREAT"
	}
	args := append([]string{name, key, strconv.FormatInt(e.millis, 10)}, flags...)
	return Action{Requests: []quorum.Request{{Kind: quorum.Write, Key: key, Args: args}}, Render: written{}}
}

// parseExpireFlags reads the flags of the EXPIRE family, or says what is wrong
// with them.
func parseExpireFlags(words []string) (flags []string, text string) {
	var nx, xx, gt, lt bool
	for _, word := range words {
		switch lower(word) {
		case "nx":
			nx = true
		case "xx":
			xx = true
		case "gt":
			gt = true
		case "lt":
			lt = true
		default:
			return nil, oneLine("ERR Unsupported option " + quoted(word, len(word)))
		}
	}
	switch {
	case nx && (xx || gt || lt):
		return nil, errNXAndOthers
	case gt && lt:
		return nil, errGTAndLT
	}
	for _, flag := range []struct {
		set  bool
		word string
	}{{nx, "NX"}, {xx, "XX"}, {gt, "GT"}, {lt, "LT"}} {
		if flag.set {
			flags = append(flags, flag.word)
		}
	}
	return flags, ""
}

func (s *Session) persist(c *Command, args []string) Action {
	if text := s.d.allowNoTTL(); text != "" {
		return refuse(text)
	}
	r := quorum.Request{Kind: quorum.Write, Key: args[1], Args: []string{"PERSIST", args[1]}}
	return Action{Requests: []quorum.Request{r}, Render: written{}}
}
