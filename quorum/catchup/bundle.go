package catchup

import "redlock-proxy/quorum/master"

// PageKeys is how many keys one script is about, at most.
const PageKeys = 400

// bundle is how many of the items, which are about these keys, one script is to be about: one at
// least.
func bundle[T any](list []T, keyOf func(T) string) (n int) {
	for bytes := 0; n < min(len(list), PageKeys) && bytes < master.PageBytes; n++ {
		bytes += len(keyOf(list[n]))
	}
	return n
}

// keysOf are the keys that the items are about.
func keysOf[T any](list []T, keyOf func(T) string) []string {
	keys := make([]string, len(list))
	for i, item := range list {
		keys[i] = keyOf(item)
	}
	return keys
}

func itself(key string) string  { return key }
func keyOfGiven(g given) string { return g.key }
func keyOfGhost(g ghost) string { return g.key }
func keyOfOrder(o order) string { return o.key }
