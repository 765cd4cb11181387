package registry

import (
	"cmp"
	"slices"
	"strings"
	"time"
)

// topKeys is how many keys of one shard more is known of than of others.
const topKeys = 256 / shards

// pause is for how long a shard that is full takes no new key after one. So a flood of keys that are
// refused once costs nobody much, and what is refused often comes in all the same.
const pause = 50 * time.Millisecond

// top is a sketch of the keys of one shard that are fought for most, as the Space-Saving
// algorithm makes it: a key that comes takes the place of the one that was refused least, and
// counts as much and one more, so that a key that is refused often enough is there. Its shard's lock
// is held in all that it does.
type top struct {
	has         [16]uint64 // a bit for each of its keys, or several of them
	pausedUntil time.Duration
	hashes      [topKeys]uint64 // 0 where there is no key
	hot         [topKeys]hot
}

// bit is where has tells of a key: in which word, and of that which bit.
func bit(h uint64) (word int, bit uint64) { return int(h >> 46 & 15), 1 << (h >> 40 & 63) }

// mayHave is cheap, and true of every key that is there.
func (t *top) mayHave(h uint64) bool {
	word, bit := bit(h)
	return t.has[word]&bit != 0
}

// admits tells that a key that is not there can come.
func (t *top) admits(now time.Duration) bool { return now >= t.pausedUntil }

func (t *top) find(h uint64) *hot {
	if i := slices.Index(t.hashes[:], h); i >= 0 {
		return &t.hot[i]
	}
	return nil
}

func (t *top) note(h uint64, a *Act, fought bool) {
	k := t.find(h)
	if k == nil {
		if !fought {
			return
		}
		k = t.enter(h, a)
	}
	if fought {
		k.weigh(a.At)
	}
	if a.What == Refused {
		k.refused(a)
	}
	k.attempted(a)
}

// enter gives a key its place, maybe that of another one.
func (t *top) enter(h uint64, a *Act) *hot {
	i := slices.Index(t.hashes[:], 0)
	if i < 0 {
		i = t.least(a.At)
		t.pausedUntil = a.At + pause
	}
	t.hashes[i] = h
	clear(t.has[:])
	for _, h := range t.hashes {
		word, bit := bit(h)
		t.has[word] |= bit
	}
	k := &t.hot[i]
	*k = hot{db: a.DB, key: strings.Clone(a.Key), weight: k.weightAt(a.At), weighed: a.At, second: a.At / time.Second, wanting: k.wanting[:0]}
	return k
}

// least is which key was refused least.
func (t *top) least(now time.Duration) (least int) {
	for i := range t.hot {
		if t.hot[i].weightAt(now) < t.hot[least].weightAt(now) {
			least = i
		}
	}
	return least
}

// Hottest are the keys that are fought for most, n at most, and none that nobody was refused in
// as many seconds as are told; with how many clients want any of them.
func (r *Registry) Hottest(n int, now time.Duration) (list []Hot, waiters int) {
	type rank struct {
		db     int
		key    string
		lately uint64
		weight float64
	}
	var ranks []rank
	for i := range r.shards {
		s := &r.shards[i]
		s.mu.Lock()
		for j := range s.top.hot {
			k := &s.top.hot[j]
			k.turn(now)
			if lately := sum(&k.perSecond); lately > 0 {
				ranks = append(ranks, rank{k.db, k.key, lately, k.weightAt(now)})
				waiters += k.waiters(now)
			}
		}
		s.mu.Unlock()
	}
	slices.SortFunc(ranks, func(a, b rank) int {
		return cmp.Or(cmp.Compare(b.lately, a.lately), cmp.Compare(b.weight, a.weight), cmp.Compare(a.key, b.key))
	})
	for _, k := range ranks[:min(n, len(ranks))] {
		if h, ok := r.Hot(k.db, k.key, now); ok { // else another one has taken its place meanwhile
			list = append(list, h)
		}
	}
	return list, waiters
}
