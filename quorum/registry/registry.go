package registry

import (
	"hash/maphash"
	"strings"
	"sync/atomic"
	"time"

	"redlock-proxy/quorum"
)

// Origin is a client as of when it acted: a value that is shared, and never changed.
type Origin struct {
	ID      int64
	Addr    string
	Name    string // of CLIENT SETNAME; "" if there was none
	Library string // and its version, of CLIENT SETINFO
	User    string
}

// What is what has become of one thing that a client asked for about a lock.
type What uint8

const (
	Granted  What = iota + 1 // it has the lock
	Written                  // it has written the key, by a script or a command that names no token
	Extended                 // it has the lock for longer
	Refused                  // somebody else has it, or it is not as asked
	Failed                   // no quorum of masters could say
	NotHeld                  // it was to free or extend its lock, and had none
	Released                 // it has freed its lock
	Undone                   // it was granted, could not be told, and the lock was taken back
	Deleted                  // it has deleted the key, whoever held it
	Forced                   // an operator has freed it
)

var words = [...]string{
	Granted: "granted", Written: "written", Extended: "extended", Refused: "refused", Failed: "failed", NotHeld: "not held",
	Released: "released", Undone: "undone", Deleted: "deleted", Forced: "forced",
}

func (w What) String() string { return words[w] }

// Ends tells that the key is free afterwards.
func (w What) Ends() bool { return w >= Released }

// Act is one thing that a client asked for, and what became of it.
type Act struct {
	What  What
	DB    int
	Key   string
	Signs [2]Sign // SignedBy the token that it names, or SignsOf a script's arguments; zero if there are none
	TTL   time.Duration
	At    time.Duration // when it was asked
	Took  time.Duration // until it was decided
	Votes quorum.Votes
	Why   string // of what was refused or failed; "" if the votes say it
	By    *Origin
}

// NoTTL is the TTL of an act after which the lock ends never, and UnknownTTL of one after which
// it is not known when. SameTTL is of one after which it ends when it would have without it.
const (
	NoTTL      = quorum.NoTTL
	SameTTL    = quorum.SameTTL
	UnknownTTL = SameTTL - 1
)

func (a *Act) until() time.Duration {
	switch a.TTL {
	case NoTTL:
		return noEnd
	case UnknownTTL:
		return unknown
	case SameTTL:
		return same
	}
	return a.At + a.TTL
}

// SignedBy is how a client signs by a token, which may be empty.
func SignedBy(token string) [2]Sign { return [2]Sign{SignOf(token)} }

// SignsOf are those of a script's longest two arguments that are no numbers: what tells one client
// from the others mostly is.
func SignsOf(args []string) (signs [2]Sign) {
	var longest [2]string
	for _, s := range args {
		switch {
		case isNumber(s):
		case len(s) > len(longest[0]):
			longest[0], longest[1] = s, longest[0]
		case len(s) > len(longest[1]):
			longest[1] = s
		}
	}
	for i, s := range longest {
		if s != "" {
			signs[i] = SignOf(s)
		}
	}
	return signs
}

// isNumber is false of what is too long to be one.
func isNumber(s string) bool { return len(s) <= 32 && strings.Trim(s, "0123456789.-") == "" }

// Registry is that of one proxy. Its methods may be called by any number of goroutines.
type Registry struct {
	seed    maphash.Seed
	shards  [shards]shard
	flushed [quorum.Databases]atomic.Int64 // when it was, in nanoseconds
	used    [quorum.Databases]atomic.Bool

	Events Events
}

// DefaultLocks is how many keys a proxy remembers: eight megabytes.
const DefaultLocks = bucketSize << 14

// New has room for about so many keys, at least for a few of each shard.
func New(locks int) *Registry {
	n := 1
	for n*bucketSize*shards < locks {
		n *= 2
	}
	r := &Registry{seed: maphash.MakeSeed()}
	for i := range r.shards {
		s := &r.shards[i]
		s.buckets, s.noted = make([]bucket, n), make([]holding, 0, maxNoted)
	}
	return r
}

func (r *Registry) hash(db int, key string) uint64 {
	h := maphash.String(r.seed, key) + uint64(db)*0x9e3779b97f4a7c15
	if h == 0 {
		return 1
	}
	return h
}

func (r *Registry) shard(h uint64) *shard { return &r.shards[h>>(64-shardBits)] }

// Note notes what has become of what a client asked for. It keeps no string of a but copies, and
// allocates nothing but for keys that are fought for.
func (r *Registry) Note(a *Act) {
	h := r.hash(a.DB, a.Key)
	if !r.used[a.DB].Load() {
		r.used[a.DB].Store(true)
	}
	fought := a.What == Refused || a.What == Failed
	s := r.shard(h)
	s.mu.Lock()
	if a.What != Failed && a.What != NotHeld { // after which whoever holds it goes on
		s.note(h, a)
	}
	if s.top.mayHave(h) || fought && s.top.admits(a.At) {
		s.top.note(h, a, fought)
	}
	s.mu.Unlock()
}

// Databases are 0, and those in which something was noted.
func (r *Registry) Databases() []int {
	list := []int{0}
	for db := 1; db < len(r.used); db++ {
		if r.used[db].Load() {
			list = append(list, db)
		}
	}
	return list
}

// Flush notes that all keys of a database, or of all of them if db is negative, are gone.
func (r *Registry) Flush(db int, at time.Duration) {
	for i := range r.flushed {
		if db < 0 || i == db {
			r.flushed[i].Store(int64(at))
		}
	}
}

// Holding is what is known here of a key's holder.
type Holding struct {
	What       What
	By         Origin // who holds it, or did this to it
	Since      time.Duration
	Until      time.Duration // when it ends, or has ended
	Endless    bool          // it has no ttl, and Until is none
	EndUnknown bool          // Until is none either
	Extensions int
	Refusals   int // while it was held; as many and more from 65535 on
	Votes      quorum.Votes
}

// Ended tells that as far as is known here nobody holds the key.
func (h *Holding) Ended(now time.Duration) bool {
	return h.What.Ends() || !h.Endless && !h.EndUnknown && h.Until <= now
}

// Holder is the holder of a key whose value bears one of these signs and that lives for so long from
// now on, NoTTL for ever, if that is known here. Tokens may be constants: who has taken it here to
// another time than it ends at has lost it to somebody who came elsewhere, or it was extended there.
func (r *Registry) Holder(db int, key string, signs []Sign, left, now time.Duration) (Holding, bool) {
	h, signed, ok := r.last(db, key)
	if !ok || h.What.Ends() || !h.endsIn(left, now) { // the masters, who heard of it later, end it later, too
		return Holding{}, false
	}
	for _, s := range signs {
		if s != 0 && (s == signed[0] || s == signed[1]) {
			return h, true
		}
	}
	return Holding{}, false
}

// endsIn tells that a holding may be what ends so much later than now, by the masters' clocks.
func (h *Holding) endsIn(left, now time.Duration) bool {
	switch {
	case h.EndUnknown:
		return true
	case h.Endless || left == NoTTL:
		return h.Endless && left == NoTTL
	}
	return (h.Until - now - left).Abs() <= slack(h.Until-h.Since)
}

// Last is what was done last to a key through this proxy, whatever stands there by now.
func (r *Registry) Last(db int, key string) (Holding, bool) {
	h, _, ok := r.last(db, key)
	return h, ok
}

func (r *Registry) last(db int, key string) (Holding, [2]Sign, bool) {
	hash := r.hash(db, key)
	s := r.shard(hash)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.settle()
	b := s.bucket(hash)
	i := b.find(hash)
	if i < 0 || b.holdings[i].since < time.Duration(r.flushed[db].Load()) {
		return Holding{}, [2]Sign{}, false
	}
	known := &b.holdings[i]
	h := Holding{
		What: known.what, By: *known.by, Since: known.since, Until: known.until,
		Endless: known.until == noEnd, EndUnknown: known.until == unknown,
		Extensions: int(known.extensions), Refusals: int(known.refusals), Votes: known.votes,
	}
	return h, known.signs, true
}

// Held counts the keys that are held as far as is known here, but for what scripts wrote, of which it
// is not known when that ends. It goes through all of the room: a few milliseconds.
func (r *Registry) Held(now time.Duration) (n int) {
	for i := range r.shards {
		s := &r.shards[i]
		s.mu.Lock()
		s.settle()
		for j := range s.buckets {
			n += r.heldIn(&s.buckets[j], now)
		}
		s.mu.Unlock()
	}
	return n
}

func (r *Registry) heldIn(b *bucket, now time.Duration) (n int) {
	for i := range b.holdings {
		h := &b.holdings[i]
		if h.key != 0 && !h.what.Ends() && h.until > now && h.until != unknown && h.since >= time.Duration(r.flushed[h.db].Load()) {
			n++
		}
	}
	return n
}
