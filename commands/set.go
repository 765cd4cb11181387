package commands

import (
	"time"

	"redlock-proxy/quorum"
)

// setOptions is what follows key and value in a SET.
type setOptions struct {
	nx, xx, get, keepTTL bool

	// How the client says when the key ends, nil if it does not, and the number
	// that goes with it.
	form   *expiryForm
	number string

	when condition
}

// expiryForm is one of SET's words for when a key is to end.
type expiryForm struct {
	word     string
	unit     time.Duration
	absolute bool
}

var expiryForms = [...]expiryForm{
	{"PX", time.Millisecond, false},
	{"EX", time.Second, false},
	{"PXAT", time.Millisecond, true},
	{"EXAT", time.Second, true},
}

func expiryFormOf(word string) *expiryForm {
	for i := range expiryForms {
		if sameWord(word, expiryForms[i].word) {
			return &expiryForms[i]
		}
	}
	return nil
}

// parseSetOptions reads options in any order. It is false for a syntax error. As
// in Redis an option may be repeated, but not contradicted.
func parseSetOptions(words []string) (o setOptions, ok bool) {
	for i := 0; i < len(words); i++ {
		word := words[i]
		form := expiryFormOf(word)
		switch {
		case sameWord(word, "NX") && !o.xx:
			o.nx = true
		case sameWord(word, "XX") && !o.nx:
			o.xx = true
		case sameWord(word, "GET"):
			o.get = true
		case sameWord(word, "KEEPTTL") && o.form == nil:
			o.keepTTL = true
		case conditionOf(word) != "" && o.when.word == "" && i+1 < len(words):
			i++
			o.when = condition{conditionOf(word), words[i]}
		case form != nil && !o.keepTTL && (o.form == nil || o.form == form) && i+1 < len(words):
			i++
			o.form, o.number = form, words[i]
		default:
			return o, false
		}
	}
	return o, o.when.word == "" || !o.nx && !o.xx
}

func (s *Session) set(c *Command, args []string) Action {
	key, value := args[1], args[2]
	o, ok := parseSetOptions(args[3:])
	if !ok {
		return refuse(errSyntax)
	}
	if o.when.ofDigest() {
		return refusef(errNoDigest, o.when.word)
	}
	if o.form == nil {
		return s.setWithoutTTL(key, value, o)
	}
	e, text := s.parseSetExpiry(c, o.number, o.form.unit, o.form.absolute)
	if text != "" {
		return refuse(text)
	}
	if o.nx {
		return s.acquire(quorum.Request{Key: key, Token: value, TTL: e.ttl(), Far: e.far(), At: e.at()}, o.get)
	}
	return overwrite(key, value, o, &e)
}

// setWithoutTTL is a SET that gives no ttl. One that keeps the ttl of a key that
// must exist is not a key without a ttl.
func (s *Session) setWithoutTTL(key, value string, o setOptions) Action {
	if text := s.d.allowNoTTL(); text != "" && !(o.keepTTL && (o.xx || o.when.word == "IFEQ")) {
		return refuse(text)
	}
	if o.nx {
		return s.acquire(quorum.Request{Key: key, Token: value}, o.get)
	}
	return overwrite(key, value, o, nil)
}

func (s *Session) setnx(c *Command, args []string) Action {
	if text := s.d.allowNoTTL(); text != "" {
		return refuse(text)
	}
	return Action{
		Requests: s.one(quorum.Request{Kind: quorum.Acquire, Key: args[1], Token: args[2]}),
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
	e, ok := s.d.newExpiry(n, unit, absolute)
	if !ok || e.past() {
		return expiry{}, invalidExpire(c.Name)
	}
	return e, s.d.allowTTL(e)
}

func (s *Session) acquire(r quorum.Request, get bool) Action {
	r.Kind = quorum.Acquire
	render := acquiredAsStatus
	if get {
		r.TellsValue, render = true, acquiredAsOldValue
	}
	return Action{Requests: s.one(r), Render: render}
}

// overwrite is a SET without NX, in one form: the masters get a ttl as PX.
func overwrite(key, value string, o setOptions, e *expiry) Action {
	if o.when.word != "" {
		return setIf(key, value, o, e)
	}
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
		r.TTLArg, r.TTL, r.Far, r.At = len(r.Args)-1, e.ttl(), e.far(), e.at()
	}
	return Action{Requests: []quorum.Request{r}, Render: written{}}
}
