package catchup

import "hash/maphash"

// maxKeySet bounds what a catch-up remembers of keys. What does not fit is given
// again when another source names it.
const maxKeySet = 1 << 20

// keySet is a set of keys, such as those that a catch-up has given: as hashes of 128 bits by
// seeds of its own, so that nobody can make two keys look like one.
type keySet struct {
	seeds [2]maphash.Seed
	known map[[2]uint64]struct{}
}

// newKeySet is an empty set. The zero one has nothing in it, and must not be added to.
func newKeySet() keySet {
	return keySet{
		seeds: [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()},
		known: make(map[[2]uint64]struct{}),
	}
}

func (s *keySet) hash(key string) [2]uint64 {
	return [2]uint64{maphash.String(s.seeds[0], key), maphash.String(s.seeds[1], key)}
}

// add puts a key into it, unless it is full.
func (s *keySet) add(key string) {
	if len(s.known) < maxKeySet {
		s.known[s.hash(key)] = struct{}{}
	}
}

// has tells that a key is in it.
func (s *keySet) has(key string) bool {
	if len(s.known) == 0 {
		return false
	}
	_, ok := s.known[s.hash(key)]
	return ok
}

// without are those of the keys that are not in it. It reuses the slice.
func (s *keySet) without(keys []string) []string {
	rest := keys[:0]
	for _, key := range keys {
		if !s.has(key) {
			rest = append(rest, key)
		}
	}
	return rest
}
