package engine

import "hash/maphash"

// maxNoted bounds what a catch-up remembers of keys. What does not fit is given
// again when another source names it.
const maxNoted = 1 << 20

// noted are the keys that a catch-up has given: as hashes of 128 bits by seeds of
// its own, so that nobody can make two keys look like one.
type noted struct {
	seeds [2]maphash.Seed
	known map[[2]uint64]struct{}
}

func newNoted() noted {
	return noted{
		seeds: [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()},
		known: make(map[[2]uint64]struct{}),
	}
}

func (n *noted) hash(key string) [2]uint64 {
	return [2]uint64{maphash.String(n.seeds[0], key), maphash.String(n.seeds[1], key)}
}

func (n *noted) note(key string) {
	if len(n.known) < maxNoted {
		n.known[n.hash(key)] = struct{}{}
	}
}

// has tells that a key was noted.
func (n *noted) has(key string) bool {
	if len(n.known) == 0 {
		return false
	}
	_, ok := n.known[n.hash(key)]
	return ok
}

// unnoted are those of the keys that were not noted.
func (n *noted) unnoted(keys []string) []string {
	rest := keys[:0]
	for _, key := range keys {
		if !n.has(key) {
			rest = append(rest, key)
		}
	}
	return rest
}
