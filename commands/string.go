package commands

import (
	"slices"
	"strconv"
	"strings"

	"redlock-proxy/quorum"
)

// mget answers each key for itself: what a quorum holds. A key that is named again is not
// asked for again.
func (s *Session) mget(c *Command, args []string) Action {
	var keys []string
	of := make(readValues, len(args)-1)
	seen := make(map[string]int, len(of))
	for i, key := range args[1:] {
		n, again := seen[key]
		if !again {
			n, keys = len(keys), append(keys, key)
			seen[key] = n
		}
		of[i] = n
	}
	requests := forEach(quorum.Read, keys)
	for i := range requests {
		requests[i].ValueOnly = true
	}
	return Action{Requests: requests, Render: of}
}

// readValues is the values of several keys: which result each of them is. A key that is no
// string has none.
type readValues []int

func (of readValues) Render(results []quorum.Result) (Reply, Action) {
	values := make([]Reply, len(of))
	for i, n := range of {
		r := results[n]
		switch text, failed := failure(r); {
		case failed && r.Reply.Kind != quorum.FailureReply:
			return text, Action{}
		case failed, !r.Exists, r.Type != "" && r.Type != "string":
			values[i] = Null
		default:
			values[i] = Bulk(r.Value)
		}
	}
	return Array(values...), Action{}
}

// mset is MSET and MSETNX.
func (s *Session) mset(c *Command, args []string) Action {
	if len(args)%2 == 0 {
		return wrongArity(c)
	}
	if text := s.d.allowNoTTL(); text != "" {
		return refuse(text)
	}
	return s.byScript(c, args)
}

// getrange cuts what a quorum holds.
func (s *Session) getrange(c *Command, args []string) Action {
	from, ok1 := parseInt(args[2])
	to, ok2 := parseInt(args[3])
	if !ok1 || !ok2 {
		return refuse(errNotInteger)
	}
	requests := forEach(quorum.Read, args[1:2])
	requests[0].ValueOnly = true
	return Action{Requests: requests, Render: readRange{from, to}}
}

type readRange struct{ from, to int64 }

func (c readRange) Render(results []quorum.Result) (Reply, Action) {
	r := results[0]
	if text, failed := failure(r); failed {
		return text, Action{}
	}
	if !r.Exists {
		return Bulk(""), Action{}
	}
	reply := stringValue(r)
	if reply.Kind == BulkReply {
		part := c.of(reply.Str)
		if len(part) < len(reply.Str)/2 {
			part = strings.Clone(part) // until it is read it would hold all of the value
		}
		reply.Str = part
	}
	return reply, Action{}
}

// of counts negative ends from the end of the string, as Redis does.
func (c readRange) of(s string) string {
	n := int64(len(s))
	from, to := c.from, c.to
	if from < 0 && to < 0 && from > to {
		return ""
	}
	if from < 0 {
		from = max(n+from, 0)
	}
	if to < 0 {
		to = max(n+to, 0)
	}
	to = min(to, n-1)
	if from > to || n == 0 {
		return ""
	}
	return s[from : to+1]
}

func (s *Session) getex(c *Command, args []string) Action {
	var form *expiryForm
	var number string
	persist := false
	for words := args[2:]; len(words) > 0; {
		f := expiryFormOf(words[0])
		switch {
		case sameWord(words[0], "PERSIST") && form == nil:
			persist = true
			words = words[1:]
		case f != nil && !persist && (form == nil || form == f) && len(words) > 1:
			form, number = f, words[1]
			words = words[2:]
		default:
			return refuse(errSyntax)
		}
	}
	var e expiry
	if form != nil {
		var text string
		if e, text = s.parseSetExpiry(c, number, form.unit, form.absolute); text != "" {
			a := read(readValue, args[1])
			a.Render = refusedIfThere{text}
			return a
		}
	}
	if text := s.d.allowNoTTL(); persist && text != "" {
		return refuse(text)
	}
	key := args[1]
	switch {
	case persist:
		return runOwn(plainStep, []string{key}, []string{"GETEX", key, "PERSIST"}, carried{asItIs})
	case form == nil:
		return read(readValue, key)
	}
	return runOwn(plainStep, []string{key}, slices.Concat([]string{"GETEX", key}, e.words()), carried{asItIs})
}

// refusedIfThere is the error of a GETEX whose number is wrong: Redis looks at the key
// first.
type refusedIfThere struct{ text string }

func (f refusedIfThere) Render(results []quorum.Result) (Reply, Action) {
	reply, _ := readValue.Render(results)
	if reply.Kind == BulkReply {
		reply = Error(f.text)
	}
	return reply, Action{}
}

// words are an expiry as the masters' own option.
func (e expiry) words() []string {
	word := "PX"
	if e.absolute {
		word = "PXAT"
	}
	return []string{word, strconv.FormatInt(e.millis, 10)}
}
