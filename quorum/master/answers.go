package master

import (
	"strconv"
	"time"

	"github.com/redis/rueidis"

	"redlock-proxy/quorum"
	"redlock-proxy/quorum/decide"
)

// newAnswer takes over what rueidis read. Status and bulk strings are not told
// apart there; both become BulkReply.
func newAnswer(m rueidis.RedisMessage) decide.Answer {
	switch {
	case m.IsNil():
		return decide.Answer{Kind: quorum.NilReply}
	case m.IsInt64():
		n, _ := m.AsInt64()
		return decide.Answer{Kind: quorum.IntegerReply, Int: n}
	case m.IsString():
		s, _ := m.ToString()
		return decide.Answer{Kind: quorum.BulkReply, Str: s}
	case m.IsArray():
		parts, _ := m.ToArray()
		a := decide.Answer{Kind: quorum.ArrayReply, Elems: make([]decide.Answer, len(parts))}
		for i := range parts {
			a.Elems[i] = newAnswer(parts[i])
		}
		return a
	}
	// Of an error, ToString gives the whole text, and Error one without "ERR ".
	s, _ := m.ToString()
	return decide.Failure(s)
}

// TimeOf reads the reply to TIME, and tells whether it is one.
func TimeOf(a decide.Answer) (time.Time, bool) {
	if len(a.Elems) != 2 {
		return time.Time{}, false
	}
	s, err1 := strconv.ParseInt(a.Elems[0].Str, 10, 64)
	us, err2 := strconv.ParseInt(a.Elems[1].Str, 10, 64)
	if err1 != nil || err2 != nil || s <= 0 || us < 0 || us >= 1e6 {
		return time.Time{}, false
	}
	return time.Unix(s, us*1000), true
}

// elemSize is about what an element of an array takes beside its text.
const elemSize = 128

// CostOf is what an answer takes of its master's room for replies, in bytes, as bill counts it. What is
// small takes nothing.
func CostOf(a *decide.Answer) int {
	if n := size(a); n >= Small {
		return n
	}
	return 0
}

func size(a *decide.Answer) int {
	n := len(a.Str) + elemSize*len(a.Elems)
	for i := range a.Elems {
		n += size(&a.Elems[i])
	}
	return n
}
