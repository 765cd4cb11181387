package commands

import (
	"strings"
	"time"

	"redlock-proxy/quorum"
)

// setOptions is what follows key and value in a SET.
type setOptions struct {
	nx, xx, get, keepTTL bool

	// The word that says when the key ends, lower case, and its argument.
	// There is none if unit is zero.
	number   string
	unit     time.Duration
	absolute bool
	form     string
}

// parseSetOptions reads options in any order. It is false for a syntax error. As
// in Redis an option may be repeated, but not contradicted.
func parseSetOptions(words []string) (o setOptions, ok bool) {
	for i := 0; i < len(words); i++ {
		switch form := strings.ToLower(words[i]); {
		case form == "nx" && !o.xx:
			o.nx = true
		case form == "xx" && !o.nx:
			o.xx = true
		case form == "get":
			o.get = true
		case form == "keepttl" && o.form == "":
			o.keepTTL = true
		case expiryForms[form].unit != 0 && !o.keepTTL && (o.form == "" || o.form == form) && i+1 < len(words):
			o.form, o.unit, o.absolute = form, expiryForms[form].unit, expiryForms[form].absolute
			i++
			o.number = words[i]
		default:
			return o, false
		}
	}
	return o, true
}

// expiryForms are the words of SET for when a key is to end.
var expiryForms = map[string]struct {
	unit     time.Duration
	absolute bool
}{
	"ex":   {time.Second, false},
	"px":   {time.Millisecond, false},
	"exat": {time.Second, true},
	"pxat": {time.Millisecond, true},
}

func (s *Session) set(c *Command, args []string) Action {
	key, value := args[1], args[2]
	o, ok := parseSetOptions(args[3:])
	if !ok {
		return refuse(errSyntax)
	}
	if o.unit == 0 {
		return s.setWithoutTTL(key, value, o)
	}
	e, text := s.parseSetExpiry(c, o.number, o.unit, o.absolute)
	if text != "" {
		return refuse(text)
	}
	if o.nx {
		return acquire(quorum.Request{Key: key, Token: value, TTL: e.ttl(), At: e.at()}, o.get)
	}
	return overwrite(key, value, o, &e)
}

// setWithoutTTL is a SET that gives no ttl. One that keeps the ttl of a key that
// must exist is not a key without a ttl.
func (s *Session) setWithoutTTL(key, value string, o setOptions) Action {
	if text := s.d.allowNoTTL(); text != "" && !(o.keepTTL && o.xx) {
		return refuse(text)
	}
	if o.nx {
		return acquire(quorum.Request{Key: key, Token: value}, o.get)
	}
	return overwrite(key, value, o, nil)
}

func (s *Session) setnx(c *Command, args []string) Action {
	if text := s.d.allowNoTTL(); text != "" {
		return refuse(text)
	}
	return Action{
		Requests: []quorum.Request{{Kind: quorum.Acquire, Key: args[1], Token: args[2]}},
		Render:   acquiredAsInteger,
	}
}

// setex is SETEX and PSETEX.
func (s *Session) setex(c *Command, args []string) Action {
	unit := time.Second
	if c.Name == "psetex" {
		unit = time.Millisecond
	}
	e, text := s.parseSetExpiry(c, args[2], unit, false)
	if text != "" {
		return refuse(text)
	}
	return overwrite(args[1], args[3], setOptions{}, &e)
}

// parseSetExpiry reads the number of a SET, SETEX or PSETEX, or says what is wrong
// with it.
func (s *Session) parseSetExpiry(c *Command, number string, unit time.Duration, absolute bool) (expiry, string) {
	n, ok := parseInt(number)
	if !ok {
		return expiry{}, errNotInteger
	}
	e, ok := newExpiry(n, unit, absolute)
	if !ok || e.past() {
		return expiry{}, invalidExpire(c.Name)
	}
	return e, s.d.allowTTL(e)
}

func acquire(r quorum.Request, get bool) Action {
	r.Kind = quorum.Acquire
	render := acquiredAsStatus
	if get {
		render = acquiredAsOldValue
	}
	return Action{Requests: []quorum.Request{r}, Render: render}
}

// overwrite is a SET without NX, in one form: the masters get a ttl as PX.
func overwrite(key, value string, o setOptions, e *expiry) Action {
	r := quorum.Request{Kind: quorum.Write, Key: key, Args: append(make([]string, 0, 7), "SET", key, value)}
	if o.xx {
		r.Args = append(r.Args, "XX")
	}
	if o.get {
		r.Args = append(r.Args, "GET")
	}
	if o.keepTTL {
		r.Args = append(r.Args, "KEEPTTL")
	}
	if e != nil {
		r.Args = append(r.Args, "PX", "")
		r.TTLArg, r.TTL, r.At = len(r.Args)-1, e.ttl(), e.at()
	}
	return Action{Requests: []quorum.Request{r}, Render: written{}}
}
