package quorum

// Lua keeps each string once. A master that is given one looks for it among those of the same
// hash, and compares it with each that is as long: so what it takes of n that collide grows
// with n times n, before the script has begun that is to count its steps. Strings that collide
// are soon thought of.

const (
	// compared is what it takes to look at a string before its first byte is compared, in bytes.
	compared = 64

	// internedLittle is what no string need be hashed for: about a millisecond.
	internedLittle = 8 << 20

	// luaBits are those of a hash that say where a string is kept: more where masters keep
	// more than so many, but these in any case.
	luaBits = 10
)

// Interning is about how many bytes a master compares to take in the keys and arguments of
// a Run, 0 if they are few enough. A millisecond is some ten million.
func (r *Request) Interning() int {
	n, longest := len(r.Keys)+len(r.Args), 0
	if n <= fewInterned {
		return 0
	}
	for _, texts := range [...][]string{r.Keys, r.Args} {
		for _, text := range texts {
			longest = max(longest, len(text))
		}
	}
	if n*n/2*(longest+compared) <= internedLittle {
		return 0
	}
	type place struct {
		length int
		hash   uint32
	}
	sum, there, seen := 0, make(map[place]int, n), make(map[string]place, n)
	for _, texts := range [...][]string{r.Keys, r.Args} {
		for _, text := range texts {
			p, again := seen[text]
			if again {
				sum += (there[p] - 1) * (len(text) + compared) // it may be behind all others
				continue
			}
			p = place{len(text), luaHash(text) % (1 << luaBits)}
			seen[text] = p
			sum += there[p] * (len(text) + compared)
			there[p]++
		}
	}
	return sum
}

// fewInterned are no burden however long they are, beyond what it takes to send them.
const fewInterned = 32

// luaHash is Lua's hash of a string, as Redis builds it: of all its bytes.
func luaHash(s string) uint32 {
	h := uint32(len(s))
	for i := len(s) - 1; i >= 0; i-- {
		h ^= h<<5 + h>>2 + uint32(s[i])
	}
	return h
}
