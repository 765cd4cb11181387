package engine

import (
	"fmt"
	"maps"
	"strings"

	"redlock-proxy/quorum"
)

// What steps have left of keys on a fake master, which has a key for each: what the hash quorum.StepsKey is on a real one.
func leftBySteps(key string) string { return quorum.StepsKey + ":" + key }

// left is what a key's is read as.
func (m *fakeMaster) leftOf(key string) (dump string, since, ends int64, ok bool) {
	n, _ := fmt.Sscanf(m.keys[leftBySteps(key)].value, "%d %d %q", &since, &ends, &dump)
	return dump, since, ends, n == 3
}

func (m *fakeMaster) leaves(key, dump string, since int64) {
	k, _ := m.key(key)
	m.keys[leftBySteps(key)] = fakeKey{value: fmt.Sprintf("%d %d %q", since, k.until/1e6, dump)}
}

// calm is for how many milliseconds no more than steps have changed a key, of which one has found what it was, and when that
// was to end, and leaves what it is.
func (m *fakeMaster) calm(key, before string, ends int64, after string) string {
	now := m.now() / 1e6
	since, sign := now, ""
	if before == "" {
		since = -now
	}
	if left, at, until, ok := m.leftOf(key); ok && left == before && max(until-ends, ends-until) <= 10 {
		since = at
	}
	m.leaves(key, after, since)
	if since < 0 {
		since, sign = -since, "-"
	}
	return fmt.Sprint(sign, max(now-since, 0))
}

// stepsLeave notes what the ending of a step has made of a key.
func (m *fakeMaster) stepsLeave(key string) {
	if _, since, _, ok := m.leftOf(key); ok {
		d, _ := m.dump(key)
		m.leaves(key, d, since)
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
