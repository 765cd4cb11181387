// Package maxhold keeps locks from being held for longer than the option max-hold says. A proxy
// has no more to go by than what it has seen itself: since when a lock is held is noted by no
// master. So a lock that was let go and taken anew through another proxy may be refused an
// extension until what was seen here would have ended; nothing worse comes of that.
package maxhold

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"redlock-proxy/quorum"
	"redlock-proxy/quorum/clock"
)

// maxHolds and maxHoldBytes bound how many locks max-hold can watch over at once. Beyond it
// some lock's time begins anew.
const (
	maxHolds     = 100_000
	maxHoldBytes = 32 << 20
)

// Locks remembers since when each lock is held, as far as this proxy has seen it, so that
// extensions cannot keep one for ever. What is asked for is judged by it, and what a quorum has
// done is noted.
type Locks struct {
	most time.Duration // max-hold; 0 is off
	late time.Duration // after which masters may still do what they were asked to

	mu    sync.Mutex // guards what follows
	byKey map[string]lock
	bytes int
}

// New is for locks that may be held for most; 0 is for ever, and then nothing is noted. late is
// after how long masters may still do what they were asked to.
func New(most, late time.Duration) *Locks { return &Locks{most: most, late: late} }

// On tells that there is something to note.
func (h *Locks) On() bool { return h.most != 0 }

type lock struct {
	token   string
	since   time.Time
	ends    time.Time // as its holder counts
	until   time.Time // it may be on the masters
	eternal bool      // it has no ttl
}

// lives tells that the lock may still be held.
func (h lock) lives(now time.Time) bool { return h.eternal || !h.until.Before(now) }

// held is what is known of the lock on a key. mu is held.
func (h *Locks) held(key string, now time.Time) (held lock, known bool) {
	held, known = h.byKey[key]
	return held, known && held.lives(now)
}

// Note notes that a lock was won, or kept, by what was put at the time now. padded is its ttl as
// the masters have it, 0 for ever.
func (h *Locks) Note(key, token string, padded time.Duration, now time.Time) {
	if h.most == 0 {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.keep(key, token, padded, now)
}

// keep is Note. mu is held.
func (h *Locks) keep(key, token string, padded time.Duration, now time.Time) {
	held, known := h.held(key, now)
	if !known || held.token != token {
		held = lock{token: token, since: now}
	}
	// It must not seem to end later than it does: else each extension could add the difference.
	held.ends = now.Add(clock.Unpad(padded))
	held.until, held.eternal = now.Add(padded+h.late), padded == 0
	h.put(key, held, now)
}

// Begin is Note of a lock that was acquired.
func (h *Locks) Begin(r *quorum.Request, padded time.Duration, now time.Time) {
	h.End(r)
	h.Note(r.Key, r.Token, padded, now)
}

// Perhaps notes that a lock may have been kept by what was put at the time now, and was not won:
// so long it may be on the masters, where it may have been carried out all the same.
func (h *Locks) Perhaps(r *quorum.Request, padded time.Duration, now time.Time) {
	if h.most == 0 || padded == 0 {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	held, known := h.held(r.Key, now)
	if !known || r.Kind == quorum.Extend && r.Token != held.token || r.Kind == quorum.Write && r.Args[0] == "SET" && r.Args[2] != held.token {
		return
	}
	if until := now.Add(padded + h.late); until.After(held.until) {
		held.until = until
		h.put(r.Key, held, now)
	}
}

// someHeld is how many locks are looked at for one that has run out.
const someHeld = 16

// put stores a hold, in the room of one that has run out if there is no more, and else of any.
func (h *Locks) put(key string, held lock, now time.Time) {
	if h.byKey == nil {
		h.byKey = make(map[string]lock)
	}
	key, held.token = strings.Clone(key), strings.Clone(held.token)
	h.remove(key)
	n := held.size(key)
	for len(h.byKey) > 0 && (len(h.byKey) >= maxHolds || h.bytes+n > maxHoldBytes) {
		evicted, looked := "", 0
		for k, old := range h.byKey {
			evicted = k
			if looked++; looked == someHeld || !old.lives(now) {
				break
			}
		}
		h.remove(evicted)
	}
	h.byKey[key] = held
	h.bytes += n
}

func (h *Locks) remove(key string) {
	if held, ok := h.byKey[key]; ok {
		h.bytes -= held.size(key)
		delete(h.byKey, key)
	}
}

// size is about what a hold takes in memory.
func (h lock) size(key string) int { return len(key) + len(h.token) + 128 }

// Extends tells whether a lock may be kept for another ttl, 0 for ever. One that this proxy
// sees for the first time begins now. What is held under another token is for the masters to say.
func (h *Locks) Extends(r *quorum.Request, ttl time.Duration, now time.Time) bool {
	if h.most == 0 {
		return true
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	held, known := h.held(r.Key, now)
	if !known || held.token != r.Token {
		held = lock{since: now}
	}
	return h.mayLast(held, ttl, now)
}

// mayLast tells whether a lock may be kept for another ttl. What ends it no later than it
// would anyway keeps it not.
func (h *Locks) mayLast(held lock, ttl time.Duration, now time.Time) bool {
	end := now.Add(ttl)
	return ttl != 0 && (held.eternal || !end.After(held.since.Add(h.most)) || !end.After(held.ends))
}

// Keeps is Extends of a write: of EXPIRE and the like, which names no token and so is about
// the lock that is known here, and of a SET that puts the token there again. Of a lock that
// this proxy has not seen it is not known since when it is held: masters do not note that.
func (h *Locks) Keeps(r *quorum.Request, ttl time.Duration, now time.Time) bool {
	if h.most == 0 || ttl < 0 || endsAtOnce(r) {
		return true
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	held, known := h.held(r.Key, now)
	return !known || r.Args[0] == "SET" && r.Args[2] != held.token ||
		slices.ContainsFunc(r.Args[min(len(r.Args), 3):], shortensOnly) || h.mayLast(held, ttl, now)
}

// Wrote notes a write that a quorum has carried out.
func (h *Locks) Wrote(r *quorum.Request, padded time.Duration, now time.Time) {
	if h.most == 0 {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	held, known := h.held(r.Key, now)
	switch {
	case !known:
	case endsAtOnce(r), r.Args[0] == "SET" && r.Args[2] != held.token:
		h.remove(r.Key)
	case r.Has("KEEPTTL"):
	case r.Args[0] == "SET", strings.HasPrefix(r.Args[0], "PEXPIRE"):
		h.keep(r.Key, held.token, padded, now)
	}
}

// endsAtOnce tells of EXPIRE and the like that they only do away with what is there.
func endsAtOnce(r *quorum.Request) bool {
	return strings.HasPrefix(r.Args[0], "PEXPIRE") && r.TTLArg == 0
}

// shortensOnly tells of an option of SET or EXPIRE that no life is made longer with it.
func shortensOnly(option string) bool {
	return option == "KEEPTTL" || option == "LT" || option == "NX" // which is where there is no ttl
}

// Refusal is what a write is answered that would keep a lock for too long: Redis's own no, or
// where there is none an error.
func (h *Locks) Refusal(r *quorum.Request) quorum.Reply {
	switch {
	case r.Args[0] != "SET":
		return quorum.Reply{Kind: quorum.IntegerReply}
	case slices.Contains(r.Args[3:], "XX") && !slices.Contains(r.Args[3:], "GET"):
		return quorum.Reply{Kind: quorum.NilReply}
	}
	return quorum.Reply{Kind: quorum.FailureReply, Str: fmt.Sprintf("ERR this would keep the lock for longer than max-hold (%v)", h.most)}
}

// Forget forgets the lock on a key that holds something else now.
func (h *Locks) Forget(key string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.remove(key)
}

// End forgets a lock that was released.
func (h *Locks) End(r *quorum.Request) {
	if h.most == 0 {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if held, ok := h.byKey[r.Key]; ok && (r.Kind == quorum.Remove || held.token == r.Token) {
		h.remove(r.Key)
	}
}
