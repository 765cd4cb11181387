// Package glob matches with Redis's patterns, of which none costs more than the product of the lengths.
package glob

import (
	"math/bits"
	"slices"
	"strings"
	"sync/atomic"
)

// MaxLength is the longest pattern in bytes that anything is matched with.
const MaxLength = 1024

// simpleWork is up to which product of the lengths a pattern is gone through byte by byte.
const simpleWork = 1 << 8

// Pattern is one of Redis's patterns: * ? [abc] [^a] [a-z] and \ to take the next byte as it
// is. To match it takes no more steps than the product of the lengths; where that is much,
// a sixty-fourth of it. Any number of goroutines may use it.
type Pattern struct {
	pattern string
	least   int // bytes that it matches, at the least: its elements but the stars

	atOnce atomic.Pointer[allWays] // made where it is first needed
}

// allWays is a pattern as all ways of matching it are followed at once. Each element but the
// stars has a bit, and so has the end.
type allWays struct {
	words   int        // of 64 bits
	row     [256]uint8 // of each byte: neighbours that the same elements match share one
	accepts []uint64   // the elements that match a byte of a row: so many words for each
	stars   []uint64   // the elements that a star stands before
}

// New is for who matches much with one pattern.
func New(pattern string) *Pattern {
	g := &Pattern{pattern: pattern}
	for rest := pattern; rest != ""; {
		if rest[0] == '*' {
			rest = rest[1:]
			continue
		}
		_, rest = element(rest)
		g.least++
	}
	return g
}

// Size is about how many bytes a Pattern of such a pattern takes at the most. Each byte of a
// pattern parts neighbours in two places at the most.
func Size(pattern string) int {
	return 512 + 8*(len(pattern)/64+1)*min(256, 2*len(pattern)+1)
}

// MastersMatch tells that a master may be asked to match a pattern: all that it may have of
// a star is one at its end. Old Redis takes a time that is exponential in how many stars
// there are, and the product of the lengths for one, and does nothing else meanwhile.
func MastersMatch(pattern string) bool {
	star := strings.IndexByte(pattern, '*')
	return len(pattern) <= MaxLength && (star < 0 || star == len(pattern)-1)
}

// Match matches the whole of s.
func (g *Pattern) Match(s string) bool {
	switch {
	case len(s) < g.least:
		return false
	case len(g.pattern)*len(s) <= simpleWork, g.least == 0:
		return matchSimply(g.pattern, s)
	}
	a := g.atOnce.Load()
	if a == nil {
		a = g.compile() // those who are at it at once make the same
		g.atOnce.Store(a)
	}
	return a.match(s, g.least)
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

func (g *Pattern) compile() *allWays {
	words := g.least/64 + 1
	a := &allWays{words: words, stars: make([]uint64, words)}
	most := make([]uint64, words) // the elements that match more bytes than not
	all := make([]uint64, 256*words)
	pattern := g.pattern
	for n := 0; ; n++ {
		bit, w := uint64(1)<<(n%64), n/64
		for len(pattern) > 0 && pattern[0] == '*' {
			a.stars[w] |= bit
			pattern = pattern[1:]
		}
		if pattern == "" {
			break
		}
		var set byteSet
		if set, pattern = element(pattern); set.len() > 128 {
			most[w] |= bit
			set = set.not()
		}
		for i, x := range set {
			for ; x != 0; x &= x - 1 {
				all[(i*64+bits.TrailingZeros64(x))*words+w] |= bit
			}
		}
	}
	rows := 0
	for b := range 256 {
		of := all[b*words:][:words]
		if b == 0 || !slices.Equal(of, all[(rows-1)*words:][:words]) {
			copy(all[rows*words:], of) // where nothing is that is still to be looked at
			rows++
		}
		a.row[b] = uint8(rows - 1)
	}
	a.accepts = slices.Clone(all[:rows*words])
	for i := range a.accepts {
		a.accepts[i] ^= most[i%words]
	}
	return a
}

// match has the end behind so many elements.
func (a *allWays) match(s string, end int) bool {
	var few [MaxLength/64 + 1]uint64
	next := few[:]
	if a.words > len(few) {
		next = make([]uint64, a.words)
	}
	next, stars := next[:a.words], a.stars[:a.words]
	next[0] = 1 // the elements that may be next, after what has been looked at
	top := 1    // words, behind which there are none of them
	for i := range len(s) {
		now := next[:top]
		accepts := a.accepts[int(a.row[s[i]])*a.words:][:len(now)]
		stars := stars[:len(now)] // so that it is known below
		carry := uint64(0)
		for w, x := range now {
			moves := x & accepts[w]
			now[w] = moves<<1 | carry | x&stars[w]
			carry = moves >> 63
		}
		if carry != 0 && top < len(next) {
			next[top] = carry
			top++
		}
		for next[top-1] == 0 {
			if top--; top == 0 {
				return false
			}
		}
	}
	return next[end/64]>>(end%64)&1 != 0
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
