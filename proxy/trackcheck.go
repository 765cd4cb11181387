package proxy

import (
	"math/bits"
	"slices"
	"time"

	"redlock-proxy/quorum"
)

// A script that extends a lock for a client who tracks reads it, too, and what masters have told of they tell of no more
// when it is changed by that. So they are asked anew, and when they tell of the next change it is looked whether the lock
// is still the client's. Were he told at once instead, he would extend it again, and again.

// check is such a look. It is its own asker.
type check struct {
	srv        *Server
	id         int64 // of the client
	key, token string
	began, put time.Duration
	request    quorum.Request
}

// check has it be looked soon whether a client still has a lock that he has extended.
func (t *tracking) check(srv *Server, id int64, q *quorum.Request) {
	now := srv.clock()
	c := &check{srv: srv, id: id, key: q.Key, token: q.Token, began: now}
	c.request = quorum.Request{Kind: quorum.Read, DB: q.DB, Key: q.Key, ValueOnly: true, Tracked: true}
	t.mu.Lock()
	k := t.keys[q.Key]
	if k != nil {
		k.checks = append(k.checks, c)
		t.looks++
		k.asked, k.lost = max(now, 1), false
	}
	t.mu.Unlock()
	if k == nil {
		srv.tell(notice{id, q.Key, false})
		return
	}
	srv.engine.Watch(q.DB, q.Key)
}

// ready takes out the checks that can be made: so many masters tell of the next change. mu is held.
func (t *tracking) ready(k *trackedKey, now time.Duration) (ready []*check) {
	needed := int(t.needed.Load())
	for _, c := range k.checks {
		if needed > 0 && bits.OnesCount16(k.tellers(now+1)&^k.tellers(c.began)) >= needed {
			c.put = now + 1
			ready = append(ready, c)
		}
	}
	k.checks = slices.DeleteFunc(k.checks, func(c *check) bool { return c.put > 0 })
	t.looks -= len(ready)
	return ready
}

// endChecks takes out checks that are not made. mu is held.
func (t *tracking) endChecks(key string, k *trackedKey, which func(*check) bool) (all []notice) {
	for _, c := range k.checks {
		if which(c) {
			all = append(all, notice{c.id, key, false})
		}
	}
	k.checks = slices.DeleteFunc(k.checks, which)
	t.looks -= len(all)
	return all
}

func (c *check) read() { c.srv.engine.Put(&c.request, c) }

// Answer is what the masters hold.
func (c *check) Answer(r quorum.Result) quorum.Flusher {
	if r.Decision == quorum.Won && r.Exists && r.Value == c.token {
		if len(c.srv.tracking.answered(c.srv, c.id, []string{c.key}, &said{alike: r.Alike, needed: r.Needed}, c.put)) == 0 {
			return c
		}
	}
	c.srv.tell(notice{c.id, c.key, false})
	return c
}

// Flush has nothing to send.
func (*check) Flush() {}

// overdue tells those whose checks could not be made in time. It is called once a second.
func (t *tracking) overdue(srv *Server) {
	now := srv.clock()
	var all []notice
	t.mu.Lock()
	if t.looks > 0 {
		for key, k := range t.keys {
			all = append(all, t.endChecks(key, k, func(c *check) bool { return now-c.began > lookSpan })...)
		}
	}
	t.tellTaken(srv, all, "")
}
