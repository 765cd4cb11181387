package commands

import (
	"slices"

	"redlock-proxy/quorum"
)

// The conditions of Redis 8.4's SET and DELEX. On the masters they are scripts,
// whatever version those are: a compare-and-delete is a release, and a SET of the
// very value that it compares with is an extend.

// condition is IFEQ or IFNE with the value to compare with.
type condition struct {
	word  string // upper case; "" if there is none
	value string
}

// conditionOf is the condition that a word of SET begins, in upper case.
func conditionOf(word string) string {
	for _, known := range [...]string{"IFEQ", "IFNE", "IFDEQ", "IFDNE"} {
		if sameWord(word, known) {
			return known
		}
	}
	return ""
}

// ofDigest tells that it is not the value that is compared, but a digest of it.
func (c condition) ofDigest() bool { return c.word == "IFDEQ" || c.word == "IFDNE" }

// setIfScript sets KEYS[1] to ARGV[4], with the options that follow it, if its
// value is ARGV[2] (ARGV[1] is IFEQ) or another (IFNE; none is another one). It
// answers the old value if ARGV[3] is GET.
var setIfScript = quorum.NewStep(`local v = redis.call('GET', KEYS[1])
local met = v == ARGV[2]
if ARGV[1] == 'IFNE' then met = not met end
if met then redis.call('SET', KEYS[1], unpack(ARGV, 4)) end
if ARGV[3] == 'GET' then return v end
if met then return {ok = 'OK'} end
return false`)

// setIf is a SET with a condition. e is nil if it gives no ttl.
func setIf(key, value string, o setOptions, e *expiry) Action {
	if o.when.word == "IFEQ" && value == o.when.value && !o.get && !o.keepTTL && (e == nil || !e.absolute) {
		r := quorum.Request{Kind: quorum.Extend, Key: key, Token: value}
		if e != nil {
			r.TTL, r.Far = e.ttl(), e.far()
		}
		return Action{Requests: []quorum.Request{r}, Render: comparedAsStatus}
	}
	get := ""
	if o.get {
		get = "GET"
	}
	args := []string{o.when.word, o.when.value, get, value}
	switch {
	case o.keepTTL:
		args = append(args, "KEEPTTL")
	case e != nil:
		args = append(args, e.words()...)
	}
	return runOwn(setIfScript, []string{key}, args, carried{asItIs})
}

// deleteIfNotScript deletes KEYS[1] unless its value is ARGV[1].
var deleteIfNotScript = quorum.NewStep(`local t = redis.call('TYPE', KEYS[1]).ok
if t == 'none' then return 0 end
if t ~= 'string' then return redis.error_reply('` + errDelexType + `') end
if redis.call('GET', KEYS[1]) == ARGV[1] then return 0 end
return redis.call('DEL', KEYS[1])`)

func (s *Session) delex(c *Command, args []string) Action {
	switch {
	case len(args) == 2:
		return Action{Requests: forEach(quorum.Remove, args[1:]), Render: removed{}}
	case len(args) != 4:
		return wrongArity(c)
	}
	key, value := args[1], args[3]
	switch lower(args[2]) {
	case "ifeq":
		r := quorum.Request{Kind: quorum.Release, Key: key, Token: value}
		return Action{Requests: []quorum.Request{r}, Render: comparedAsInteger}
	case "ifne":
		return runOwn(deleteIfNotScript, slices.Clone(args[1:2]), []string{value}, carried{asItIs})
	case "ifdeq", "ifdne":
		return refusef(errNoDigest, conditionOf(args[2]))
	}
	return refuse(errDelexCondition)
}

// compared is how a client wants to hear whether a compare-and-delete or a
// compare-and-expire found the value.
type compared uint8

const (
	comparedAsInteger compared = iota + 1 // DELEX: 1 or 0
	comparedAsStatus                      // SET IFEQ: OK or null
)

func (c compared) Render(results []quorum.Result) (Reply, Action) {
	r := results[0]
	text, failed := failure(r)
	switch {
	case failed && r.Reply.Kind == quorum.FailureReply && c == comparedAsInteger:
		return Error(errDelexType), Action{}
	case failed:
		return text, Action{}
	case c == comparedAsInteger:
		return truth(r.Decision == quorum.Won), Action{}
	case r.Decision == quorum.Won:
		return OK, Action{}
	}
	return Null, Action{}
}
