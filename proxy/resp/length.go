package resp

import (
	"bytes"
	"math"
)

// length gathers a line "*3" or "$5" up to its CR.
func (s *Scanner) length(p []byte) (took int, end bool, err error) {
	i := bytes.IndexByte(p, '\r')
	took = i + 1
	if i < 0 {
		i, took = len(p), len(p)
	}
	if s.line < len(s.digits) {
		copy(s.digits[s.line:], p[:i])
	}
	s.line += i
	switch {
	case s.line > s.Limits.MaxInline && s.first == '*':
		return 0, false, ProtocolError("too big mbulk count string")
	case s.line > s.Limits.MaxInline:
		return 0, false, ProtocolError("too big bulk count string")
	case took > i && took < len(p) && p[took] == '\n':
		s.size += took // which lengthKnown looks at
		end, err = s.lengthKnown()
		s.size -= took
		return took + 1, end, err
	case took > i:
		s.state = inLengthEnd
	}
	return took, false, nil
}

// lengthKnown acts on a line that is complete with the LF that comes next.
func (s *Scanner) lengthKnown() (end bool, err error) {
	if s.line == 0 {
		s.digits[0] = '\r'
	}
	if s.first == '$' && s.digits[0] != '$' {
		return false, ProtocolError("expected '$', got '" + string(s.digits[:1]) + "'")
	}
	n, ok := s.number()
	if s.first == '*' {
		switch {
		case ok && s.Guest && n > guestMaxArgs && n <= redisMaxArgs:
			return false, ProtocolError("unauthenticated multibulk length")
		case !ok || n > int64(s.Limits.MaxArgs):
			return false, s.invalid()
		}
		s.args = int(max(n, 0))
		s.state, s.first, s.line = inLength, '$', 0
		return s.args == 0, nil
	}
	switch {
	case ok && s.Guest && n > guestMaxBulk && n <= redisMaxBulk:
		return false, ProtocolError("unauthenticated bulk length")
	case !ok || n < 0 || n > int64(s.Limits.MaxBulk):
		return false, s.invalid()
	case int64(s.size)+int64(len("\n"))+n > int64(s.Limits.MaxQuery):
		return false, QueryLimit
	}
	s.body = int(n)
	s.state = inBody
	if n == 0 {
		s.state = inBodyEnd
	}
	return false, nil
}

func (s *Scanner) invalid() error {
	if s.first == '*' {
		return ProtocolError("invalid multibulk length")
	}
	return ProtocolError("invalid bulk length")
}

// number reads the digits as Redis's string2ll does: no plus sign, no zero in
// front, nothing but digits.
func (s *Scanner) number() (n int64, ok bool) {
	if s.line < 2 || s.line > len(s.digits) {
		return 0, false
	}
	digits := s.digits[1:s.line]
	if len(digits) == 1 && digits[0] == '0' {
		return 0, true
	}
	negative := digits[0] == '-'
	if negative {
		digits = digits[1:]
	}
	if len(digits) == 0 || digits[0] == '0' {
		return 0, false
	}
	for _, c := range digits {
		if c < '0' || c > '9' || n > (math.MaxInt64-9)/10 {
			return 0, false
		}
		n = 10*n + int64(c-'0')
	}
	if negative {
		n = -n
	}
	return n, true
}
