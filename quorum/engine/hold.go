package engine

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"redlock-proxy/quorum"
)

// maxHolds and maxHoldBytes bound how many locks max-hold can watch over at once. Beyond it
// some lock's time begins anew.
const (
	maxHolds     = 100_000
	maxHoldBytes = 32 << 20
)

// holds remembers since when each lock is held, as far as this proxy has seen
// it, so that extensions cannot keep one for ever. It is only used if max-hold
// is on.
type holds struct {
	most time.Duration // max-hold; 0 is off

	mu    sync.Mutex // guards what follows
	byKey map[string]hold
	bytes int
}

type hold struct {
	token        string
	since, until time.Time
}

// begin notes that a lock was won at the time now.
func (h *holds) begin(r *quorum.Request, ttl time.Duration, now time.Time) {
	if h.most == 0 {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.put(r.Key, hold{token: r.Token, since: now, until: now.Add(ttl)}, now)
}

// put stores a hold, in the room of one that has run out if there is no more.
func (h *holds) put(key string, held hold, now time.Time) {
	if h.byKey == nil {
		h.byKey = make(map[string]hold)
	}
	key, held.token = strings.Clone(key), strings.Clone(held.token)
	h.remove(key)
	n := held.size(key)
	for len(h.byKey) > 0 && (len(h.byKey) >= maxHolds || h.bytes+n > maxHoldBytes) {
		var victim string
		for k, old := range h.byKey {
			victim = k
			if old.until.Before(now) {
				break
			}
		}
		h.remove(victim)
	}
	h.byKey[key] = held
	h.bytes += n
}

func (h *holds) remove(key string) {
	if held, ok := h.byKey[key]; ok {
		h.bytes -= held.size(key)
		delete(h.byKey, key)
	}
}

// size is about what a hold takes in memory.
func (h hold) size(key string) int { return len(key) + len(h.token) + 128 }

// extends tells whether the lock may be kept for another ttl (0: for ever). A
// lock that this proxy sees for the first time begins now.
func (h *holds) extends(r *quorum.Request, ttl time.Duration, now time.Time) bool {
	if h.most == 0 {
		return true
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	held, ok := h.byKey[r.Key]
	if !ok || held.token != r.Token || held.until.Before(now) {
		held = hold{token: r.Token, since: now}
	}
	if !h.mayLast(held, ttl, now) {
		return false
	}
	held.until = now.Add(ttl)
	h.put(r.Key, held, now)
	return true
}

// mayLast tells whether a lock may be kept for another ttl. What ends it no later than it
// would anyway keeps it not.
func (h *holds) mayLast(held hold, ttl time.Duration, now time.Time) bool {
	end := now.Add(ttl)
	return ttl != 0 && !(end.After(held.since.Add(h.most)) && end.After(held.until))
}

// keeps is extends of a write: of EXPIRE and the like, which names no token and so is about
// the lock that is known here, and of a SET that puts the token there again. Of a lock that
// this proxy has not seen it is not known since when it is held: masters do not note that.
func (h *holds) keeps(r *quorum.Request, ttl time.Duration, now time.Time) bool {
	if h.most == 0 || ttl < 0 || r.Args[0] == "PEXPIREAT" { // which is over already
		return true
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	held, ok := h.byKey[r.Key]
	switch options := r.Args[min(len(r.Args), 3):]; {
	case !ok || held.until.Before(now):
		return true
	case r.Args[0] == "SET" && r.Args[2] != held.token:
		if !slices.Contains(options, "XX") {
			h.remove(r.Key) // the lock is no more
		}
		return true
	case slices.ContainsFunc(options, shortensOnly):
		return true
	case !h.mayLast(held, ttl, now):
		return false
	}
	if end := now.Add(ttl); end.After(held.until) { // else it may not be carried out
		held.until = end
		h.put(r.Key, held, now)
	}
	return true
}

// shortensOnly tells of an option of SET or EXPIRE that no life is made longer with it.
func shortensOnly(option string) bool {
	return option == "KEEPTTL" || option == "LT" || option == "NX" // which is where there is no ttl
}

// refusal is what a write is answered that would keep a lock for too long: Redis's own no, or
// where there is none an error.
func (h *holds) refusal(r *quorum.Request) quorum.Reply {
	switch {
	case r.Args[0] != "SET":
		return quorum.Reply{Kind: quorum.IntegerReply}
	case slices.Contains(r.Args[3:], "XX") && !slices.Contains(r.Args[3:], "GET"):
		return quorum.Reply{Kind: quorum.NilReply}
	}
	return quorum.Reply{Kind: quorum.FailureReply, Str: fmt.Sprintf("ERR this would keep the lock for longer than max-hold (%v)", h.most)}
}

// end forgets a lock that was released.
func (h *holds) end(r *quorum.Request) {
	if h.most == 0 {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if held, ok := h.byKey[r.Key]; ok && (r.Kind == quorum.Remove || held.token == r.Token) {
		h.remove(r.Key)
	}
}
