package proxy

import (
	"slices"
	"sync/atomic"
)

// A client who has been taken out of those that are told of a key is not told yet. Who changes that key meanwhile would
// find nobody to tell, and might have his answer before the client knows. So he tells those again who are not told yet.

// batch is who is being told.
type batch struct {
	all  []notice
	told atomic.Int64 // how many of them are
}

// tellTaken unlocks mu, which is held, and tells those that were taken under it.
func (t *tracking) tellTaken(srv *Server, all []notice) {
	if len(all) == 0 {
		t.mu.Unlock()
		return
	}
	b := &batch{all: all}
	t.untold = append(t.untold, b)
	t.mu.Unlock()
	for _, n := range all {
		srv.tell(n)
		b.told.Add(1)
	}
	t.mu.Lock()
	t.untold = slices.DeleteFunc(t.untold, func(other *batch) bool { return other == b })
	t.mu.Unlock()
}

// untoldOf is who was to be told of a key by others, and is not told yet; of all keys, if it is "". mu is held.
func (t *tracking) untoldOf(key string) (all []notice) {
	for _, b := range t.untold {
		for _, n := range b.all[b.told.Load():] {
			switch {
			case key == "", n.key == key:
				all = append(all, n)
			case n.all:
				all = append(all, notice{id: n.id, key: key})
			}
		}
	}
	return all
}
