package commands

import (
	"strings"

	"redlock-proxy/quorum"
)

// acquireRender is how a client wants to hear whether an acquire was won.
type acquireRender uint8

const (
	acquiredAsStatus   acquireRender = iota + 1 // SET NX: OK or null
	acquiredAsInteger                           // SETNX: 1 or 0
	acquiredAsOldValue                          // SET NX GET: null, or the value that is there
)

func (a acquireRender) Render(results []quorum.Result) (Reply, Action) {
	return a.reply(results[0]), Action{}
}

func (a acquireRender) reply(r quorum.Result) Reply {
	// A key of another type is there, and that is all SET NX wants to know.
	wrongType := r.Reply.Kind == quorum.FailureReply && strings.HasPrefix(r.Reply.Str, "WRONGTYPE")
	switch {
	case r.Decision == quorum.Unavailable:
		return unavailable(r)
	case r.Reply.Kind == quorum.FailureReply && (!wrongType || a == acquiredAsOldValue):
		return Error(r.Reply.Str)
	case a == acquiredAsInteger:
		return truth(r.Decision == quorum.Won && !wrongType)
	case a == acquiredAsStatus && r.Decision == quorum.Won && !wrongType:
		return OK
	case a == acquiredAsOldValue && r.Decision != quorum.Won:
		return oldValue(r)
	}
	return Null
}

// oldValue is the value that SET NX GET has met. Null would say that there was none, and
// so that the lock is won; a value that no quorum holds would say who has it, and nobody
// may. So of what is not known, that is said.
func oldValue(r quorum.Result) Reply {
	if !r.Exists {
		r.Decision = quorum.Split
		return unavailable(r)
	}
	return stringValue(r)
}

// readRender is what of a key a client asked for.
type readRender uint8

const (
	readValue readRender = iota + 1
	readLength
	readType
	readSeconds
	readMillis
	readCount // of the keys that exist
)

func (read readRender) Render(results []quorum.Result) (Reply, Action) {
	if read == readCount {
		return countOf(results, func(r quorum.Result) bool { return r.Exists }), Action{}
	}
	if text, failed := failure(results[0]); failed {
		return text, Action{}
	}
	return read.reply(results[0]), Action{}
}

func (read readRender) reply(r quorum.Result) Reply {
	switch read {
	case readValue:
		if !r.Exists {
			return Null
		}
		return stringValue(r)
	case readLength:
		if !r.Exists {
			return Integer(0)
		}
		if value := stringValue(r); value.Kind == ErrorReply {
			return value
		}
		return Integer(int64(len(r.Value)))
	case readType:
		if !r.Exists {
			return Simple("none")
		}
		return Simple(r.Type)
	}
	return read.remaining(r)
}

// remaining rounds seconds as Redis does, to the nearest.
func (read readRender) remaining(r quorum.Result) Reply {
	switch {
	case !r.Exists:
		return Integer(-2)
	case r.Far > 0 && read == readSeconds:
		return Integer((r.Far + 500) / 1000)
	case r.Far > 0:
		return Integer(r.Far)
	case r.TTL == quorum.NoTTL:
		return Integer(-1)
	case read == readSeconds:
		return Integer((r.TTL.Milliseconds() + 500) / 1000)
	}
	return Integer(r.TTL.Milliseconds())
}

// removed counts the keys that a quorum held.
type removed struct{}

func (removed) Render(results []quorum.Result) (Reply, Action) {
	return countOf(results, func(r quorum.Result) bool { return r.Decision == quorum.Won }), Action{}
}

// written passes on what a quorum of masters answered.
type written struct{}

func (written) Render(results []quorum.Result) (Reply, Action) {
	r := results[0]
	if text, failed := failure(r); failed {
		return text, Action{}
	}
	return plainReply(r.Reply), Action{}
}

// plainReply is a master's reply as the client gets it.
func plainReply(r quorum.Reply) Reply {
	switch r.Kind {
	case quorum.StatusReply:
		return Simple(r.Str)
	case quorum.IntegerReply:
		return Integer(r.Int)
	case quorum.BulkReply:
		return Bulk(r.Str)
	case quorum.FailureReply:
		return Error(r.Str)
	}
	return Null
}

// scriptReply is plainReply of one that may be an array.
func scriptReply(r quorum.ScriptReply) Reply {
	if r.Kind != quorum.ArrayReply {
		return plainReply(r.Reply)
	}
	elems := make([]Reply, len(r.Elems))
	for i := range r.Elems {
		elems[i] = scriptReply(r.Elems[i])
	}
	return Array(elems...)
}

// failure is the error of a result that is none: too few masters, no two alike,
// or a refusal that a quorum of masters gave in the same words.
func failure(r quorum.Result) (Reply, bool) {
	switch {
	case r.Decision == quorum.Unavailable, r.Decision == quorum.Split:
		return unavailable(r), true
	case r.Reply.Kind == quorum.FailureReply:
		return Error(r.Reply.Str), true
	}
	return Reply{}, false
}

// countOf counts the results that hold, unless one of them is a failure.
func countOf(results []quorum.Result, holds func(quorum.Result) bool) Reply {
	n := int64(0)
	for _, r := range results {
		if text, failed := failure(r); failed {
			return text
		}
		if holds(r) {
			n++
		}
	}
	return Integer(n)
}

func stringValue(r quorum.Result) Reply {
	if r.Type != "" && r.Type != "string" {
		return Error(errWrongType)
	}
	return Bulk(r.Value)
}

func truth(yes bool) Reply {
	if yes {
		return Integer(1)
	}
	return Integer(0)
}
