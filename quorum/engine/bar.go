package engine

import "redlock-proxy/quorum"

// A script that may use keys that it was not given waits for the acquires in flight of all keys that have a tag of its own
// (follow.go): put behind one, it would spoil that, and what masters had granted would be left there, as the script may
// have told its client that it is his. While it waits, who asks for another such key waits for the script. Else there would
// always be one in flight.
//
//	1: A and B lock two keys of a tag; C's script, which reaches keys of that tag, waits for A's
//	2: D locks a third; A's is decided, and the script is put behind B's and D's
//	3: these have won, and do not count; they are not taken back, for the script's sake, and ask again, and
//	   meet what is theirs: they are refused, and so is everybody until the ttls are over

// bar keeps acquires of keys of one tag waiting. Its shard guards it.
type bar struct {
	scripts  int // that wait for acquires which were there before
	acquires []*op
}

// barred has an acquire wait for the scripts that wait for others of its tag. The shard is locked.
func (db *database) barred(o *op) bool {
	s := &db.shards[o.place.tag%shards]
	if len(s.bars) == 0 || o.Kind != quorum.Acquire {
		return false
	}
	b := s.bars[quorum.Tag(o.Key)]
	if b == nil {
		return false
	}
	o.follows++
	b.acquires = append(b.acquires, o)
	return true
}

// bar has acquires wait for a script, which waits. The shards of its keys are locked.
func (db *database) bar(o *op) {
	if o.bars {
		return
	}
	o.bars = true
	for _, tag := range o.tags() {
		s := &db.shards[db.shard(tag)]
		if s.bars == nil {
			s.bars = make(map[string]*bar)
		}
		if s.bars[tag] == nil {
			s.bars[tag] = new(bar)
		}
		s.bars[tag].scripts++
	}
}

// unbar is called when a script waits no more. It returns the acquires that have waited for it, and for no other. The
// shards are locked.
func (db *database) unbar(o *op) (acquires []*op) {
	if !o.bars {
		return nil
	}
	o.bars = false
	for _, tag := range o.tags() {
		s := &db.shards[db.shard(tag)]
		if s.bars[tag].scripts--; s.bars[tag].scripts == 0 {
			acquires = append(acquires, s.bars[tag].acquires...)
			delete(s.bars, tag)
		}
	}
	return acquires
}

// unbarUnasked is unbar of a script that is put to nobody.
func (db *database) unbarUnasked(o *op) (acquires []*op) {
	if !o.bars {
		return nil
	}
	defer db.lock(&o.Request)()
	return db.unbar(o)
}

func (db *database) tryAllAgain(list []*op) {
	for _, o := range list {
		db.tryAgain(o)
	}
}
