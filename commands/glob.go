package commands

import (
	"math/bits"
	"strings"
)

// maxPattern is the longest pattern in bytes that anything is matched with.
const maxPattern = 1024

// simpleWork is up to which product of the lengths a pattern is gone through byte by byte.
const simpleWork = 1 << 12

// Glob is one of Redis's patterns: * ? [abc] [^a] [a-z] and \ to take the next byte as it
// is. To match it takes no more steps than the product of the lengths; where that is much,
// a sixty-fourth of it.
type Glob struct {
	pattern string

	// What follows is made where it is first needed, of what stands from the first star on.
	// Each element but the stars has a bit, and so has the end.
	words   int      // of 64 bits
	accepts []uint64 // the elements that match a byte: so many words for each byte
	stars   []uint64 // the elements that a star stands before
	next    []uint64 // the elements that may be next, after what has been looked at
	end     int
}

// NewGlob is for who matches much with one pattern. It is one goroutine's at a time.
func NewGlob(pattern string) *Glob { return &Glob{pattern: pattern} }

// GlobMatch matches s with a pattern.
func GlobMatch(pattern, s string) bool {
	g := Glob{pattern: pattern}
	return g.Match(s)
}

// mastersMatch tells that a master may be asked to match a pattern: all that it may have of
// a star is one at its end. Old Redis takes a time that is exponential in how many stars
// there are, and the product of the lengths for one, and does nothing else meanwhile.
func mastersMatch(pattern string) bool {
	star := strings.IndexByte(pattern, '*')
	return len(pattern) <= maxPattern && (star < 0 || star == len(pattern)-1)
}

// Match matches the whole of s.
func (g *Glob) Match(s string) bool {
	pattern := g.pattern
	for len(pattern) > 0 && len(s) > 0 && pattern[0] != '*' {
		rest, ok := matchByte(pattern, s[0])
		if !ok {
			return false
		}
		pattern, s = rest, s[1:]
	}
	if len(pattern)*len(s) > simpleWork && strings.Trim(pattern, "*") != "" {
		if g.accepts == nil {
			g.compile(pattern)
		}
		return g.matchAbreast(s)
	}
	return matchSimply(pattern, s)
}

// matchSimply tries only the last star again where that does not fit.
func matchSimply(pattern, s string) bool {
	starPattern, starRest := "", ""
	starred := false
	for len(s) > 0 {
		if len(pattern) > 0 && pattern[0] == '*' {
			pattern = pattern[1:]
			starPattern, starRest, starred = pattern, s, true
			continue
		}
		if rest, ok := matchByte(pattern, s[0]); ok {
			pattern, s = rest, s[1:]
			continue
		}
		if !starred {
			return false
		}
		starRest = starRest[1:]
		pattern, s = starPattern, starRest
	}
	return strings.Trim(pattern, "*") == ""
}

func (g *Glob) compile(pattern string) {
	g.words = len(pattern)/64 + 1
	g.accepts, g.stars, g.next = make([]uint64, 256*g.words), make([]uint64, g.words), make([]uint64, g.words)
	most := make([]uint64, g.words) // the elements that match more bytes than not
	for n := 0; ; n++ {
		bit, w := uint64(1)<<(n%64), n/64
		for len(pattern) > 0 && pattern[0] == '*' {
			g.stars[w] |= bit
			pattern = pattern[1:]
		}
		if g.end = n; pattern == "" {
			break
		}
		var set byteSet
		if set, pattern = element(pattern); set.len() > 128 {
			most[w] |= bit
			set = set.not()
		}
		for i, x := range set {
			for ; x != 0; x &= x - 1 {
				g.accepts[(i*64+bits.TrailingZeros64(x))*g.words+w] |= bit
			}
		}
	}
	for i := range g.accepts {
		g.accepts[i] ^= most[i%g.words]
	}
}

// matchAbreast follows all ways of matching s at once, a bit for each.
func (g *Glob) matchAbreast(s string) bool {
	next, stars := g.next, g.stars
	clear(next)
	next[0] = 1
	for i := range len(s) {
		accepts := g.accepts[int(s[i])*g.words:][:len(next)]
		stars := stars[:len(next)] // so that it is known below
		carry, left := uint64(0), uint64(0)
		for w, x := range next {
			moves := x & accepts[w]
			x = moves<<1 | carry | x&stars[w]
			carry = moves >> 63
			left |= x
			next[w] = x
		}
		if left == 0 {
			return false
		}
	}
	return next[g.end/64]>>(g.end%64)&1 != 0
}

// matchByte matches one byte with the first element of a pattern, which is not a
// star, and gives the rest of the pattern.
func matchByte(pattern string, b byte) (rest string, ok bool) {
	if pattern == "" {
		return "", false
	}
	if pattern[0] == '[' {
		set, rest := element(pattern)
		return rest, set.has(b)
	}
	if pattern[0] == '\\' && len(pattern) > 1 {
		return pattern[2:], pattern[1] == b
	}
	return pattern[1:], pattern[0] == '?' || pattern[0] == b
}

// element is the bytes that the first element of a pattern matches, which is not a star,
// and the rest of the pattern. As in Redis, a set that is not closed ends with the pattern.
func element(pattern string) (set byteSet, rest string) {
	switch first := pattern[0]; {
	case first == '?':
		return set.not(), pattern[1:]
	case first == '\\' && len(pattern) > 1:
		set.add(pattern[1], pattern[1])
		return set, pattern[2:]
	case first != '[':
		set.add(first, first)
		return set, pattern[1:]
	}
	pattern = pattern[1:]
	not := len(pattern) > 0 && pattern[0] == '^'
	if not {
		pattern = pattern[1:]
	}
	for len(pattern) > 0 && pattern[0] != ']' {
		switch {
		case pattern[0] == '\\' && len(pattern) > 1:
			set.add(pattern[1], pattern[1])
			pattern = pattern[2:]
		case len(pattern) > 2 && pattern[1] == '-':
			set.add(min(pattern[0], pattern[2]), max(pattern[0], pattern[2]))
			pattern = pattern[3:]
		default:
			set.add(pattern[0], pattern[0])
			pattern = pattern[1:]
		}
	}
	if len(pattern) > 0 {
		pattern = pattern[1:]
	}
	if not {
		set = set.not()
	}
	return set, pattern
}

// byteSet has a bit for each byte that there is.
type byteSet [4]uint64

func (s *byteSet) has(b byte) bool { return s[b/64]>>(b%64)&1 != 0 }

func (s *byteSet) not() byteSet { return byteSet{^s[0], ^s[1], ^s[2], ^s[3]} }

func (s *byteSet) len() (n int) {
	for _, x := range s {
		n += bits.OnesCount64(x)
	}
	return n
}

// add adds the bytes from low to high.
func (s *byteSet) add(low, high byte) {
	for w := low / 64; w <= high/64; w++ {
		x := ^uint64(0)
		if w == low/64 {
			x &= ^uint64(0) << (low % 64)
		}
		if w == high/64 {
			x &= ^uint64(0) >> (63 - high%64)
		}
		s[w] |= x
	}
}
