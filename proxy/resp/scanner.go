package resp

import (
	"bytes"
	"math"
)

// Scanner finds where each command of a stream of bytes ends, without looking
// at a byte twice and without keeping more than a length's digits, however the
// stream is cut. What it lets pass is well formed and within the limits, so
// that a parser behind it need not be safe against anything else.
//
// It is stricter than Redis in one place: Redis skips the two bytes behind a
// length or an argument whatever they are; here they must be CR LF, because a
// client that is out of step with us must not go on to take locks.
type Scanner struct {
	// Limits are without zeros: WithDefaults. They are set before the first call of Next.
	Limits Limits

	// Guest: the client has yet to AUTH. It is set before each call of Next.
	Guest bool

	state  scanState
	first  byte     // '*' or '$': which length the line is
	args   int      // arguments still to come
	body   int      // bytes of the argument still to come
	size   int      // bytes of this command so far
	line   int      // bytes of this line so far
	digits [21]byte // the line's beginning: the longest number, and one byte more
}

type scanState uint8

const (
	atStart      scanState = iota + 1 // before the first byte of a command
	inInline                          // in an inline command
	inLength                          // in a line that holds a length
	inLengthEnd                       // before the LF of such a line
	inBody                            // in an argument
	inBodyEnd                         // before the CR behind an argument
	inBodyEndEnd                      // before the LF behind an argument
)

// Next takes the bytes that follow those it has seen. It returns how many of
// them belong to the command that they begin or go on with, and whether that
// command ends there. If not, n is len(p).
func (s *Scanner) Next(p []byte) (n int, end bool, err error) {
	for n < len(p) && !end && err == nil {
		took := s.small(p[n:])
		if end = took > 0 && s.args == 0; took == 0 {
			rest := p[n:]
			if room := s.Limits.MaxQuery - s.size; room < len(rest) {
				rest = rest[:room+1] // the last byte is one too many, and nothing behind it is looked at
			}
			took, end, err = s.step(rest)
		}
		n += took
		s.size += took
		if s.size > s.Limits.MaxQuery && err == nil {
			err = QueryLimit
		}
	}
	if end {
		s.state, s.size = atStart, 0
	}
	return n, end, err
}

// Left is how many bytes the command still brings, and the largest int where that is not known.
func (s *Scanner) Left() int {
	if s.args == 1 && s.state == inBody {
		return s.body + len("\r\n")
	}
	return math.MaxInt
}

// small takes a whole argument of less than a hundred bytes, as nearly all are. It is
// what step comes to with one, for a fraction of the time; of anything else, and of
// what is wrong, it takes nothing.
func (s *Scanner) small(p []byte) (took int) {
	if s.state != inLength || s.first != '$' || s.line != 0 || len(p) < len("$0\r\n\r\n") || p[0] != '$' {
		return 0
	}
	body, digit := int(p[1]-'0'), int(p[2]-'0')
	head := len("$0\r\n")
	if body > 9 {
		return 0
	}
	if p[2] != '\r' {
		if body == 0 || digit > 9 {
			return 0
		}
		body = 10*body + digit
		head++
	}
	took = head + body + len("\r\n")
	if body > s.Limits.MaxBulk || s.size+took > s.Limits.MaxQuery || took > len(p) ||
		p[head-2] != '\r' || p[head-1] != '\n' || p[took-2] != '\r' || p[took-1] != '\n' {
		return 0
	}
	s.args--
	return took
}

func (s *Scanner) step(p []byte) (took int, end bool, err error) {
	switch s.state {
	default: // atStart, or the zero scanner
		s.line = 0
		s.first = p[0]
		if s.first != '*' {
			s.state = inInline
			return 0, false, nil
		}
		s.state = inLength
		return 0, false, nil
	case inInline:
		return s.inline(p)
	case inLength:
		return s.length(p)
	case inLengthEnd:
		if p[0] != '\n' {
			return 0, false, s.invalid()
		}
		end, err = s.lengthKnown()
		return 1, end, err
	case inBody:
		if s.body+2 <= len(p) {
			end, err = s.bodyKnown(p[s.body], p[s.body+1])
			return s.body + 2, end, err
		}
		took = min(s.body, len(p))
		s.body -= took
		if s.body == 0 {
			s.state = inBodyEnd
		}
		return took, false, nil
	case inBodyEnd:
		if p[0] != '\r' {
			return 0, false, ProtocolError("invalid bulk length")
		}
		s.state = inBodyEndEnd
		return 1, false, nil
	case inBodyEndEnd:
		end, err = s.bodyKnown('\r', p[0])
		return 1, end, err
	}
}

// bodyKnown acts on an argument that is complete, and on what follows it.
func (s *Scanner) bodyKnown(cr, lf byte) (end bool, err error) {
	if cr != '\r' || lf != '\n' {
		return false, ProtocolError("invalid bulk length")
	}
	s.args--
	s.state, s.first, s.line = inLength, '$', 0
	return s.args == 0, nil
}

func (s *Scanner) inline(p []byte) (took int, end bool, err error) {
	took = len(p)
	if i := bytes.IndexByte(p, '\n'); i >= 0 {
		took, end = i+1, true
		s.line--
	}
	s.line += took
	if s.line > s.Limits.MaxInline {
		return 0, false, ProtocolError("too big inline request")
	}
	return took, end, nil
}
