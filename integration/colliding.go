package integration

import "math/rand/v2"

// Colliding are strings that share all those bits of their hash by which Lua 5.1 puts strings,
// and what has them as keys, into tables.
func Colliding(n int) []string {
	random := rand.New(rand.NewPCG(1, 1))
	var found []string
	for word := make([]byte, 8); len(found) < n; {
		// Lua begins with the last byte, and the first is what makes the hash what it is to be.
		h := uint32(len(word))
		for i := len(word) - 1; i > 0; i-- {
			word[i] = 'a' + byte(random.IntN(26))
			h ^= h<<5 + h>>2 + uint32(word[i])
		}
		if first := (h ^ 0x1234) - (h<<5 + h>>2); 'a' <= first&0xffff && first&0xffff <= 'z' {
			word[0] = byte(first)
			found = append(found, string(word))
		}
	}
	return found
}
