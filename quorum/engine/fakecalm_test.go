package engine

import (
	"crypto/sha1"
	"encoding/hex"
	"fmt"
	"maps"
	"strings"

	"redlock-proxy/quorum"
	"redlock-proxy/quorum/decide"
)

// What steps have left of keys on a fake master, which has a key for each: what the hash quorum.StepsKey is on a real one.
func leftBySteps(key string) string { return quorum.StepsKey + ":" + key }

// left is what a key's is read as.
func (m *fakeMaster) leftOf(key string) (trail, dump string, since, ends int64, ok bool) {
	n, _ := fmt.Sscanf(m.keys[leftBySteps(key)].value, "%d %d %q %q", &since, &ends, &trail, &dump)
	return trail, dump, since, ends, n == 4
}

func (m *fakeMaster) leaves(key, trail, dump string, since int64) {
	k, _ := m.key(key)
	m.keys[leftBySteps(key)] = fakeKey{value: fmt.Sprintf("%d %d %q %q", since, k.until/1e6, trail, dump)}
}

// calm is for how many milliseconds no more than steps have changed a key, of which one has found what it was, and when that
// was to end, and leaves what it is; and its trail, on which it goes on if it has acted.
func (m *fakeMaster) calm(step, key, before string, ends int64, after string, acted bool) string {
	now := m.now() / 1e6
	since, sign, found := now, "", decide.UndoRecord{Before: before, After: after}
	if before == "" {
		since = -now
	}
	if trail, left, at, until, ok := m.leftOf(key); ok && left == before && max(until-ends, ends-until) <= 10 {
		since, found.Trail = at, trail
	}
	trail, mark := found.Trail, ""
	if k, _ := m.key(key); acted && (before != after || k.until/1e6 != ends) {
		sum := sha1.Sum(fmt.Append(nil, trail[max(len(trail)-9, 0):max(len(trail)-1, 0)], step, len(after)))
		mark = hex.EncodeToString(sum[:4])
		trail = trail[max(len(trail)-7*9, 0):] + mark + "-"
	}
	m.leaves(key, trail, after, since)
	if since < 0 {
		since, sign = -since, "-"
	}
	return fmt.Sprint(sign, max(now-since, 0), "/", found.Trail, "/", mark)
}

// stepsLeave notes what the ending of a step has made of a key.
func (m *fakeMaster) stepsLeave(key, becomes, trail string) {
	if _, _, since, _, ok := m.leftOf(key); ok {
		d, _ := m.dump(key)
		if (d == "") != (becomes == "") {
			trail = ""
		}
		m.leaves(key, trail, d, since)
	}
}

// stepWon has a key have the trail of those who have made the same of it.
func (m *fakeMaster) stepWon(key, trail string) {
	if _, dump, since, _, ok := m.leftOf(key); ok {
		m.leaves(key, trail, dump, since)
	}
}

// breaks forgets keys: something else than a step has written to them, or deleted them.
func (m *fakeMaster) breaks(keys ...string) {
	for _, key := range keys {
		delete(m.keys, leftBySteps(key))
	}
}

// breaksAll forgets all keys of a database: what is told of them is of before a loss.
func (m *fakeMaster) breaksAll() {
	maps.DeleteFunc(m.keys, func(key string, _ fakeKey) bool { return strings.HasPrefix(key, leftBySteps("")) })
}
