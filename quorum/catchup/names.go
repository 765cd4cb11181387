package catchup

import (
	"hash/maphash"

	"redlock-proxy/quorum/master"
)

// PageKeys is how many keys one script is about, at most.
const PageKeys = 400

// maxNames bounds what a catch-up remembers of keys. What does not fit is given
// again when another source names it.
const maxNames = 1 << 20

// names are a set of keys, such as those that a catch-up has given: as hashes of 128 bits by
// seeds of its own, so that nobody can make two keys look like one.
type names struct {
	seeds [2]maphash.Seed
	known map[[2]uint64]struct{}
}

// newNames is an empty set. The zero one has nothing in it, and must not be added to.
func newNames() names {
	return names{
		seeds: [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()},
		known: make(map[[2]uint64]struct{}),
	}
}

func (n *names) hash(key string) [2]uint64 {
	return [2]uint64{maphash.String(n.seeds[0], key), maphash.String(n.seeds[1], key)}
}

// add puts a key into it, unless it is full.
func (n *names) add(key string) {
	if len(n.known) < maxNames {
		n.known[n.hash(key)] = struct{}{}
	}
}

// has tells that a key is in it.
func (n *names) has(key string) bool {
	if len(n.known) == 0 {
		return false
	}
	_, ok := n.known[n.hash(key)]
	return ok
}

// without are those of the keys that are not in it.
func (n *names) without(keys []string) []string {
	rest := keys[:0]
	for _, key := range keys {
		if !n.has(key) {
			rest = append(rest, key)
		}
	}
	return rest
}

// bundle is how many of the items, which are named so, one script is to be about: one at
// least.
func bundle[T any](list []T, name func(T) string) (n int) {
	for bytes := 0; n < min(len(list), PageKeys) && bytes < master.PageBytes; n++ {
		bytes += len(name(list[n]))
	}
	return n
}

func itself(key string) string   { return key }
func nameOfGiven(g given) string { return g.key }
func nameOfGhost(g ghost) string { return g.key }
func nameOfOrder(o order) string { return o.key }

func namesOf[T any](list []T, name func(T) string) []string {
	all := make([]string, len(list))
	for i, item := range list {
		all[i] = name(item)
	}
	return all
}
