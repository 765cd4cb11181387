package engine

import (
	"hash/maphash"
	"slices"
	"sync"

	"redlock-proxy/quorum"
)

// shard makes putting an op into all lanes one step for its keys, so that all
// masters see the commands on a key in the same order, and two clients of one
// proxy never split a vote.
type shard struct {
	mu      sync.Mutex // also guards flights
	flights map[string]*flight
	_       [48]byte // a cache line of its own
}

// shards is how many there are.
const shards = 256

func (e *Engine) hash(key string) uint64 { return maphash.String(e.seed, key) }

func (e *Engine) shard(key string) int { return int(e.hash(key) % shards) }

// lock locks the shards of a request's keys, always in the same order. A survey
// of all masters may be about every key.
func (e *Engine) lock(r *quorum.Request) (unlock func()) {
	if r.Kind == quorum.Survey && r.Only == 0 {
		return lockAll([]*Engine{e})
	}
	if len(r.Keys) < 2 {
		mu := &e.shards[e.shard(r.Key)].mu
		mu.Lock()
		return mu.Unlock
	}
	shards := make([]int, len(r.Keys))
	for i, key := range r.Keys {
		shards[i] = e.shard(key)
	}
	slices.Sort(shards)
	shards = slices.Compact(shards)
	for _, i := range shards {
		e.shards[i].mu.Lock()
	}
	return func() {
		for _, i := range shards {
			e.shards[i].mu.Unlock()
		}
	}
}

// lockAll locks all shards of some engines, which are in the order of their databases.
func lockAll(list []*Engine) (unlock func()) {
	for _, e := range list {
		for i := range e.shards {
			e.shards[i].mu.Lock()
		}
	}
	return func() {
		for _, e := range list {
			for i := range e.shards {
				e.shards[i].mu.Unlock()
			}
		}
	}
}
