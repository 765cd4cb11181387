package decide

import (
	"errors"
	"strconv"
	"strings"

	"redlock-proxy/quorum"
)

// readShape puts a script's reply together again. The shape has a letter for
// each value: $ string, : integer, t remaining ttl, + status, - error, _ nil,
// and *n; for an array of n; ~n; if that is a set's members, and %n; a map's names and values,
// which masters tell each in an order of its own: they are put into one. It tells apart what a
// reply within an array would not: a status from a string, and a ttl from any other number.
// What is left of the values does not belong to the reply.
func readShape(shape string, values []Answer) (r quorum.ScriptReply, rest []Answer, ok bool) {
	s := shapeReader{shape: shape, values: values}
	r = s.next(8)
	return r, s.values, !s.bad && s.shape == ""
}

// shapeReader is what is still to be read of a shape, and of the values that it is of.
type shapeReader struct {
	shape  string
	values []Answer
	bad    bool // it is none
}

// next reads one value, with arrays in arrays up to depth.
func (s *shapeReader) next(depth int) quorum.ScriptReply {
	if s.shape == "" || depth == 0 {
		s.bad = true
		return quorum.ScriptReply{}
	}
	letter := s.shape[0]
	s.shape = s.shape[1:]
	switch letter {
	case '_':
		return ofKind(quorum.NilReply, "")
	case '*', '~', '%':
		count, rest, _ := strings.Cut(s.shape, ";")
		n, err := strconv.Atoi(count)
		if err != nil || n < 0 || n > MaxElems {
			s.bad = true
			return quorum.ScriptReply{}
		}
		s.shape = rest
		r := ofKind(quorum.ArrayReply, "")
		for range n {
			if s.bad {
				break
			}
			r.Elems = append(r.Elems, s.next(depth-1))
		}
		r.Sort(letter)
		return r
	}
	if len(s.values) == 0 {
		s.bad = true
		return quorum.ScriptReply{}
	}
	told := s.values[0]
	value := told.Str
	s.values = s.values[1:]
	switch letter {
	case '$':
		return ofKind(quorum.BulkReply, value)
	case '+':
		return ofKind(quorum.StatusReply, value)
	case '-':
		return ofKind(quorum.FailureReply, value)
	case ':', 't':
		if told.Kind == quorum.IntegerReply {
			return quorum.ScriptReply{Reply: quorum.Reply{Kind: quorum.IntegerReply, Int: told.Int}, Left: letter == 't'}
		}
		// Lua's numbers go further than 64 bits: such a one is the nearest that fits.
		n, err := strconv.ParseInt(value, 10, 64)
		s.bad = s.bad || err != nil && !errors.Is(err, strconv.ErrRange)
		return quorum.ScriptReply{Reply: quorum.Reply{Kind: quorum.IntegerReply, Int: n}, Left: letter == 't'}
	}
	s.bad = true
	return quorum.ScriptReply{}
}

// ofKind is a value that is told by a text, or by nothing.
func ofKind(kind quorum.ReplyKind, s string) quorum.ScriptReply {
	return quorum.ScriptReply{Reply: quorum.Reply{Kind: kind, Str: s}}
}
