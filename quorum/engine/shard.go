package engine

import (
	"hash/maphash"
	"slices"
	"sync"

	"redlock-proxy/quorum"
)

// shard makes putting an op into all lanes one step for its keys, so that all
// masters see the commands on keys of one tag in the same order, and two clients of one
// proxy never split a vote.
type shard struct {
	mu      sync.Mutex // also guards what follows
	flights map[string]*flight
	bars    map[string]*bar // by tags
	_       [40]byte        // a cache line of its own
}

// shards is how many there are.
const shards = 256

func (db *database) hash(key string) uint64 { return maphash.String(db.seed, key) }

// shard is that of a key's tag: a script may be about others that have the same.
func (db *database) shard(key string) int { return int(db.hash(quorum.Tag(key)) % shards) }

// lock locks the shards of a request's keys, always in the same order. A survey
// of all masters may be about every key.
func (db *database) lock(r *quorum.Request) (unlock func()) {
	if kinds[r.Kind].everyKey && r.Only == 0 {
		return lockAll([]*database{db})
	}
	if len(r.Keys) < 2 {
		mu := &db.shards[db.shard(r.Key)].mu
		mu.Lock()
		return mu.Unlock
	}
	shards := make([]int, len(r.Keys))
	for i, key := range r.Keys {
		shards[i] = db.shard(key)
	}
	slices.Sort(shards)
	shards = slices.Compact(shards)
	for _, i := range shards {
		db.shards[i].mu.Lock()
	}
	return func() {
		for _, i := range shards {
			db.shards[i].mu.Unlock()
		}
	}
}

// lockAll locks all shards of some databases, which are in the order of their numbers.
func lockAll(list []*database) (unlock func()) {
	for _, db := range list {
		for i := range db.shards {
			db.shards[i].mu.Lock()
		}
	}
	return func() {
		for _, db := range list {
			for i := range db.shards {
				db.shards[i].mu.Unlock()
			}
		}
	}
}
