package quota

import (
	"hash/maphash"
	"math"
	"sync"
	"time"
)

// Lock names a key of a database.
type Lock struct {
	DB  int
	Key string
}

// Forever is when a lock without a ttl ends.
const Forever = time.Duration(math.MaxInt64)

const (
	// Of locks that may be held no more, this many are looked up at once, and that often: whoever is refused
	// and tries again costs the masters so many reads at most.
	mostDoubts = 64
	doubtSpan  = 100 * time.Millisecond
)

// Use is what a user takes: the locks that he may hold, and how fast his commands come. It has each that he holds,
// if he took or extended it here, and some that he holds no more: so before anybody is refused, those are Doubts
// that the masters are to be asked for. Any number of goroutines may use it; the zero value is ready.
type Use struct {
	mu    sync.Mutex // guards what follows
	locks map[Lock]*hold
	ends  time.Duration // none of the locks ends before
	moves uint64        // what has happened to locks, in order

	asked time.Duration // when doubts were told last
	pace
}

// hold is a lock that is held, or asked for.
type hold struct {
	token, or  uint64        // hashes of what was set, and of what may have been; a token of 0 is any
	ends       time.Duration // 0: it is not held
	asking     int           // how often it is asked for
	move, took uint64        // the last one that was about it, and by which it was taken
}

var seed = maphash.MakeSeed()

func sign(token string) uint64 {
	if token == "" {
		return 0
	}
	return max(maphash.String(seed, token), 1)
}

// lives tells that the lock may be held, or come to be. What is asked for may be carried out at any time until it is
// answered, and last from then on.
func (h *hold) lives(now time.Duration) bool { return h.ends > now || h.asking > 0 }

// Take notes that a lock is asked for. It is false, and nothing noted, if that would be one too many. Else Took or
// NotTook is to follow, whatever becomes of who asks: it counts until then.
func (u *Use) Take(l Lock, most int, now time.Duration) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	h := u.locks[l]
	if h == nil || !h.lives(now) {
		if len(u.locks) >= most && u.ends <= now {
			u.sweep(now)
		}
		h = u.locks[l]
		if h == nil && len(u.locks) >= most {
			return false
		}
	}
	if h == nil {
		if u.locks == nil {
			u.locks = make(map[Lock]*hold)
		}
		h = &hold{}
		u.locks[l] = h
	}
	u.moves++
	h.move = u.moves
	h.asking++
	return true
}

// sweep drops what has ended. mu is held.
func (u *Use) sweep(now time.Duration) {
	u.ends = Forever
	for l, h := range u.locks {
		if !h.lives(now) {
			delete(u.locks, l)
			continue
		}
		if h.ends > now {
			u.ends = min(u.ends, h.ends)
		}
	}
}

// Took notes that what was asked for after the mark is held now, or may be, and when it ends. An empty token is one
// that is not known.
func (u *Use) Took(l Lock, token string, ends time.Duration, mark uint64) {
	u.mu.Lock()
	defer u.mu.Unlock()
	h := u.settle(l)
	switch sum := sign(token); {
	case sum == 0: // an extension may not say
	case sum == h.token && h.or == 0:
	case h.took > mark: // which of the two was later on the masters, nobody knows
		h.token, h.or = 0, 0
	default:
		h.token, h.or = sum, 0
	}
	h.took = h.move
	h.ends = max(h.ends, ends)
	u.ends = min(u.ends, ends)
}

// MayHave notes that of what was asked for nobody knows whether masters have carried it out, or will: it may be held,
// and so may what was before, until it is Looked.
func (u *Use) MayHave(l Lock, token string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	h := u.settle(l)
	switch sum := sign(token); {
	case sum == 0 || sum == h.token:
	case h.ends == 0:
		h.token = sum
	case h.or == 0 && h.token != 0 || sum == h.or:
		h.or = sum
	default:
		h.token, h.or = 0, 0
	}
	h.took, h.ends = h.move, Forever
}

// NotTook notes that what was asked for is certainly not held by that.
func (u *Use) NotTook(l Lock) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if h := u.settle(l); h.asking == 0 && h.ends == 0 {
		delete(u.locks, l)
	}
}

// settle ends one asking for a lock, which the books have had since it began. mu is held.
func (u *Use) settle(l Lock) *hold {
	h := u.locks[l]
	u.moves++
	h.move = u.moves
	h.asking--
	return h
}

// Mark is a moment, for Freed and Looked.
func (u *Use) Mark() uint64 {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.moves++
	return u.moves
}

// Freed notes that a lock is free by what was asked after the mark: if all that was asked for it before had been
// decided by then. Else it may be held by that.
func (u *Use) Freed(l Lock, mark uint64) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if h := u.locks[l]; h != nil && h.asking == 0 && h.move < mark {
		delete(u.locks, l)
	}
}

// Doubts are locks of which the masters are to be asked whether they are still held, before it is said that one
// more is too many. There are none if that was done just now: what is known is as good as it can be.
func (u *Use) Doubts(now time.Duration) (doubts []Lock) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.asked != 0 && now-u.asked < doubtSpan {
		return nil
	}
	u.asked = now
	for l, h := range u.locks { // each time in another order
		if len(doubts) == mostDoubts {
			break
		}
		if h.asking == 0 {
			doubts = append(doubts, l)
		}
	}
	return doubts
}

// Looked notes what the masters hold under a lock that was in doubt, and were asked after the mark.
func (u *Use) Looked(l Lock, there bool, value string, mark uint64) {
	u.mu.Lock()
	defer u.mu.Unlock()
	h := u.locks[l]
	if h == nil || h.move > mark || h.asking > 0 {
		return
	}
	sum := sign(value)
	if !there || h.token != 0 && h.token != sum && (h.or == 0 || h.or != sum) {
		delete(u.locks, l)
		return
	}
	h.token, h.or = sum, 0
}

// Held is how many locks are held, as far as is known: none is left out.
func (u *Use) Held(now time.Duration) int {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.sweep(now)
	return len(u.locks)
}
