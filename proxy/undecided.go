package proxy

import (
	"slices"
	"sync"

	"redlock-proxy/quorum"
)

// A client's commands on a key wait here while an earlier one leaves the key
// undecided: until it is answered it may be undone and tried again, or, of an
// extension, it gives the key again to masters that have lost it.
//
// Acquires behind acquires need not wait here: the engine has them wait in the same
// order, and lets them share an answer. A client that polls a lock in a pipeline is
// so answered as one that does not.
//
// A script that may use keys that it was not given waits for what leaves any key of its tags
// undecided, and all of these for it. No others wait for each other by their tags: their keys go
// their own ways.

// undecided counts what leaves keys undecided. A connection that leaves none has no list.
type undecided struct{ *doubtful }

// doubtful are the keys, in no order, and where each is, once they are many.
type doubtful struct {
	keys  []doubts
	where map[string]int
}

// doubts are the commands that leave one key undecided: those that queue in the
// engine, and others.
type doubts struct {
	key              string
	queueing, others int
}

// fewKeys are looked through in less time than a map takes. Of manyKeys none are kept
// for another client.
const (
	fewKeys  = 32
	manyKeys = 1024
)

var doubtfuls = sync.Pool{New: func() any { return new(doubtful) }}

// find is where a key is, or -1.
func (u *undecided) find(key string) int {
	switch {
	case u.doubtful == nil:
		return -1
	case u.where != nil:
		if i, ok := u.where[key]; ok {
			return i
		}
		return -1
	}
	return slices.IndexFunc(u.keys, func(d doubts) bool { return d.key == key })
}

func (u *undecided) add(key string, queues bool) {
	if u.doubtful == nil {
		u.doubtful = doubtfuls.Get().(*doubtful)
	}
	i := u.find(key)
	if i < 0 {
		i = len(u.keys)
		u.keys = append(u.keys, doubts{key: key})
		u.note(i)
	}
	if queues {
		u.keys[i].queueing++
	} else {
		u.keys[i].others++
	}
}

// note has the i-th key be found.
func (u *undecided) note(i int) {
	switch {
	case u.where != nil:
		u.where[u.keys[i].key] = i
	case len(u.keys) > fewKeys:
		u.where = make(map[string]int, 2*len(u.keys))
		for i, d := range u.keys {
			u.where[d.key] = i
		}
	}
}

func (u *undecided) remove(key string, queues bool) {
	i := u.find(key)
	d := &u.keys[i]
	if queues {
		d.queueing--
	} else {
		d.others--
	}
	if d.queueing+d.others > 0 {
		return
	}
	last := len(u.keys) - 1
	if u.where != nil {
		delete(u.where, key)
	}
	if i < last {
		u.keys[i] = u.keys[last]
		u.note(i)
	}
	u.keys[last] = doubts{}
	u.keys = u.keys[:last]
	if last == 0 {
		if cap(u.keys) <= manyKeys {
			u.where = nil
			doubtfuls.Put(u.doubtful)
		}
		u.doubtful = nil
	}
}

// any tells that some key is undecided.
func (u *undecided) any() bool { return u.doubtful != nil }

// waits tells that the next command on a key must wait.
func (u *undecided) waits(key string, queues bool) bool {
	i := u.find(key)
	return i >= 0 && (u.keys[i].others > 0 || u.keys[i].queueing > 0 && !queues)
}

// enter waits until the keys of r are decided (for a survey, all keys) and, if r
// leaves them undecided, says so. It is false if the connection ended meanwhile: what has
// not been put by then is not carried out. mu is held.
func (c *conn) enter(s *slot, r *quorum.Request) bool {
	if r.Kind == quorum.Survey {
		for c.phase != cutOff && c.undecided.any() {
			c.waitFlushed()
		}
	}
	one := [1]string{r.Key}
	keys := one[:]
	if r.Kind == quorum.Run {
		keys = r.Keys
	}
	if r.Kind == quorum.Run && r.Script.Reaches {
		c.enterTags(s, keys)
	}
	for _, key := range keys {
		if s.holds.has(key) {
			continue
		}
		tag := quorum.Tag(key)
		for c.phase != cutOff && (c.undecided.waits(key, s.queues) || c.reached.waits(tag, true) && !slices.Contains(s.reaches, tag)) {
			c.waitFlushed()
		}
		if c.phase != cutOff && (s.ordered || s.behind > 0 || r.Undecides()) {
			s.holds.add(key)
			c.undecided.add(key, s.queues)
			if tag != key {
				c.reached.add(tag, true)
			}
		}
	}
	return c.phase != cutOff
}

// enterTags waits until all keys of the tags of some are decided, and leaves all undecided from then
// on. What the slot has left undecided itself is not waited for: it was for all that it named then.
// mu is held.
func (c *conn) enterTags(s *slot, keys []string) {
	for _, key := range keys {
		tag := quorum.Tag(key)
		if slices.Contains(s.reaches, tag) {
			continue
		}
		own := slices.ContainsFunc(s.held, func(key string) bool { return quorum.Tag(key) == tag })
		for c.phase != cutOff && !own && (c.reached.waits(tag, false) || c.undecided.waits(tag, false)) {
			c.waitFlushed()
		}
		if c.phase != cutOff {
			s.reaches = append(s.reaches, tag)
			c.reached.add(tag, false)
		}
	}
}

// decided takes what a slot has left undecided out of the way of later commands. mu is held.
func (c *conn) decided(s *slot) {
	for _, key := range s.held {
		c.undecided.remove(key, s.queues)
		if tag := quorum.Tag(key); tag != key {
			c.reached.remove(tag, true)
		}
	}
	for _, tag := range s.reaches {
		c.reached.remove(tag, false)
	}
}

// holds is what keeps later commands of its connection waiting for a slot.
type holds struct {
	// ordered: the keys of all requests are undecided until the reply is known,
	// because Render may come to more requests.
	ordered bool

	// queues: it is an acquire and nothing else.
	queues bool

	// held are the keys that this slot leaves undecided, as it is ordered or because a
	// request does.
	held    []string
	holding map[string]struct{} // the same, once they are many
	reaches []string            // the tags of which it leaves all keys undecided
}

// has tells that a key is left undecided by this slot already.
func (h *holds) has(key string) bool {
	if h.holding != nil {
		_, ok := h.holding[key]
		return ok
	}
	return slices.Contains(h.held, key)
}

func (h *holds) add(key string) {
	h.held = append(h.held, key)
	switch {
	case h.holding != nil:
		h.holding[key] = struct{}{}
	case len(h.held) > fewKeys:
		h.holding = make(map[string]struct{}, 2*len(h.held))
		for _, key := range h.held {
			h.holding[key] = struct{}{}
		}
	}
}
