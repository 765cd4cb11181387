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

// undecided counts what leaves keys undecided.
type undecided struct {
	byKey map[string]doubts
	most  int // keys that there were at once since byKey was made
}

// doubts are the commands that leave one key undecided: those that queue in the
// engine, and others.
type doubts struct{ queueing, others int }

// keyMaps spares a client a new map whenever it asks for something. One in which
// there were many keys is not kept.
var keyMaps = sync.Pool{New: func() any { return make(map[string]doubts) }}

// maxKeptKeys bounds the keys of a map that is kept.
const maxKeptKeys = 1024

func (u *undecided) add(key string, queues bool) {
	if u.byKey == nil {
		u.byKey = keyMaps.Get().(map[string]doubts)
	}
	d := u.byKey[key]
	if queues {
		d.queueing++
	} else {
		d.others++
	}
	u.byKey[key] = d
	u.most = max(u.most, len(u.byKey))
}

func (u *undecided) remove(key string, queues bool) {
	d := u.byKey[key]
	if queues {
		d.queueing--
	} else {
		d.others--
	}
	if d != (doubts{}) {
		u.byKey[key] = d
		return
	}
	delete(u.byKey, key)
	if len(u.byKey) == 0 {
		if u.most <= maxKeptKeys {
			keyMaps.Put(u.byKey)
		}
		*u = undecided{}
	}
}

// waits tells that the next command on a key must wait.
func (u *undecided) waits(key string, queues bool) bool {
	d := u.byKey[key]
	return d.others > 0 || d.queueing > 0 && !queues
}

// enter waits until the keys of r are decided (for a survey, all keys) and, if r
// leaves them undecided, says so. It is false if the connection ended meanwhile: what has
// not been put by then is not carried out. mu is held.
func (c *conn) enter(s *slot, r *quorum.Request) bool {
	if r.Kind == quorum.Survey {
		for c.phase != cutOff && len(c.undecided.byKey) > 0 {
			c.waitFlushed()
		}
	}
	one := [1]string{r.Key}
	keys := one[:]
	if r.Kind == quorum.Run {
		keys = r.Keys
	}
	for _, key := range keys {
		if slices.Contains(s.held, key) {
			continue
		}
		for c.phase != cutOff && c.undecided.waits(key, s.queues) {
			c.waitFlushed()
		}
		if c.phase != cutOff && (s.ordered || undecides(r)) {
			s.held = append(s.held, key)
			c.undecided.add(key, s.queues)
		}
	}
	return c.phase != cutOff
}

// undecides tells of a request that it leaves its keys undecided until it is
// answered.
func undecides(r *quorum.Request) bool {
	return r.Kind == quorum.Acquire || r.Kind == quorum.Run || r.Kind == quorum.Extend
}
