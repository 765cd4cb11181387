package proxy

import (
	"slices"
	"sync/atomic"
)

// A client who has been taken out of those that are told of a key is not told yet. Who changes that key meanwhile would
// find nobody to tell, and might have his answer before the client knows; and if he is such a client himself, and is not
// to be told of his own changes, he would be told of this one behind his answer. So he tells them, too.

// batch is who is being told.
type batch struct {
	all  []notice
	key  string       // that a master has told of; "" if somebody else waits until all are told
	next atomic.Int64 // how many are told; the last of them may be being told yet
}

// tellTaken unlocks mu, which is held, and tells those that were taken under it, as a master has told of a key if there
// is one.
func (t *tracking) tellTaken(srv *Server, all []notice, key string) {
	if len(all) == 0 {
		t.mu.Unlock()
		return
	}
	b := &batch{all: all, key: key}
	t.untold = append(t.untold, b)
	t.mu.Unlock()
	b.tell(srv)
	t.mu.Lock()
	t.untold = slices.DeleteFunc(t.untold, func(other *batch) bool { return other == b })
	t.mu.Unlock()
}

// tell tells those whom nobody else does.
func (b *batch) tell(srv *Server) {
	for i := b.next.Add(1); i <= int64(len(b.all)); i = b.next.Add(1) {
		srv.tell(b.all[i-1])
	}
}

// rest are those that may not be told yet. Of a master's they are the caller's to tell from now on.
func (b *batch) rest() []notice {
	end := int64(len(b.all))
	next := b.next.Load()
	if b.key != "" && next < end {
		next = b.next.Swap(end)
	}
	return b.all[max(min(next, end+1)-1, 0):]
}

// untoldOf is who was to be told of a key by others, and is not told yet; of all keys, if it is "". mu is held.
func (t *tracking) untoldOf(key string) (all []notice) {
	for _, b := range t.untold {
		if key != "" && b.key != "" && b.key != key {
			continue
		}
		for _, n := range b.rest() {
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
