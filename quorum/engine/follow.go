package engine

import (
	"iter"
	"slices"
	"time"

	"redlock-proxy/quorum"
)

// What is asked about a key while an acquire of it is in flight: some of it waits for that, and
// some takes what it was granted.

// follow has an op wait that would act on what the acquire in flight has set so far,
// and may have to take back: it is put to the masters right behind the decision.
// Tokens may be constants, and some commands name none. What writes waits for whatever it is
// given: put behind the acquire, it would spoil that. What only reads does neither, or whoever looks
// at a key would keep it from being locked. Nor does who frees a lock, but see flight.shielded: when
// his turn came, his lock might have ended, and the key be another's under the same token. Nothing
// waits for a split acquire to be tried again: that may be after its own lock has ended. If the lock
// ends before the decision all the same, see tooLate. It waits as often as it is about keys, at most, but for a script
// that may use others: that waits for all of its tags (bar.go).
// The shards are locked.
//
//	1: A holds k as "1" on masters 1 and 2; master 2 hangs
//	2: B asks for k as "1": master 3 grants, 1 refuses
//	3: A extends: 1 and 3 say yes, and that would be a quorum
//	4: B is refused, and its "1" taken back from 3: nobody but 1 knows of A
func (db *database) follow(o *op) (waits bool) {
	if o.flight != nil || o.kind().everyKey {
		return false
	}
	reaches := o.Kind == quorum.Run && o.Script.Reaches
	if !reaches && int(o.follows) >= len(o.keys()) {
		return false
	}
	for f := range db.flightsOf(o) {
		if f.bars(o) {
			if o.follows++; reaches {
				db.bar(o)
			}
			f.followers = append(f.followers, o)
			return true
		}
		f.read = f.read || o.reads()
	}
	return false
}

// flightsOf are the acquires in flight of the keys that an op is about, and of all that it may be
// about as a script. The shards are locked.
func (db *database) flightsOf(o *op) iter.Seq[*flight] {
	return func(yield func(*flight) bool) {
		for _, key := range o.keys() {
			if f := db.shards[db.shard(key)].flights[key]; f != nil && !yield(f) {
				return
			}
		}
		if o.Kind != quorum.Run || !o.Script.Reaches {
			return
		}
		for _, tag := range o.tags() {
			for key, f := range db.shards[db.shard(tag)].flights {
				if quorum.Tag(key) == tag && !slices.Contains(o.Keys, key) && !yield(f) {
					return
				}
			}
		}
	}
}

// spoil tells the acquire in flight of a key that another client's command on the key
// is about to be put behind it, which may take what it was granted. If it wins on the
// masters all the same, it counts as split, and is tried again behind that command.
// The shards of its keys are locked, so that no lane sees the two in another order.
//
//	1: A holds k on masters 2 and 3; master 3 is slow
//	2: B asks for k: master 1 grants, 2 refuses
//	3: A deletes k: that of B on 1, its own on 2
//	4: A's k ends on 3, which then grants k to B, and deletes it, too: B would have a
//	   quorum, and no master would hold k
func (db *database) spoil(o *op) {
	switch o.Kind {
	case quorum.Release, quorum.Remove, quorum.Write:
	case quorum.Run:
		if o.Script.Reads || len(o.Keys) == 0 {
			return
		}
	default:
		return
	}
	for f := range db.flightsOf(o) {
		if o.Kind != quorum.Release || o.Token == f.token {
			f.void.Store(true)
		}
	}
}

// spoilFlushed is spoil of a flush, for all keys of the databases that it empties, whose
// shards it locks: to a master the way of another database is another.
func (db *database) spoilFlushed(r *quorum.Request) (unlock func()) {
	list := db.flushedBy(r)
	unlock = lockAll(list)
	for _, db := range list {
		for i := range db.shards {
			for _, f := range db.shards[i].flights {
				f.void.Store(true)
			}
		}
	}
	return unlock
}

// bars tells that an op has to wait for the attempt that is made. Once one that a client may put
// others behind does so, all others wait, too: the order on a key is kept. The shard is locked.
func (f *flight) bars(o *op) bool {
	waits := f.barred || f.asking && o.actsOn(f.token) && (f.shielded || !o.kind().frees)
	f.barred = f.barred || waits && !o.Undecides()
	return waits
}

// putFollowers puts those that have waited for an acquire. The first of them came when a lock of
// theirs may still have been there, which had ended by the time the acquire was won: that they can
// not keep any more, see tooLate. What one of them has set they can, and what somebody has read
// meanwhile they can give a ttl, which names no token: it may have been the same client.
func (db *database) putFollowers(followers []*op, first int, read bool) {
	set := false
	for i, o := range followers {
		if i < first && !set && o.keepsLocks() && (o.Kind == quorum.Extend || !read) {
			db.tooLate(o)
			continue
		}
		set = set || o.Kind == quorum.Write && !o.Undecides()
		read = read || o.reads()
		db.goOn(o)
	}
}

// reads tells that it tells who asks what his key is.
func (o *op) reads() bool { return o.Kind == quorum.Read || o.Kind == quorum.Run && o.Script.Reads }

// keepsLocks tells that an op may extend a lock, and does nothing if there is none. What is to end
// at some time may be to end one.
func (o *op) keepsLocks() bool {
	switch {
	case o.Kind != quorum.Write:
		return o.Kind == quorum.Extend
	case o.Args[0] == "SET":
		return slices.Contains(o.Args[3:], "XX")
	}
	return o.At == 0 && (o.TTL > 0 || o.Args[0] == "PERSIST")
}

// goOn puts one that has waited. A SET, a read or a release has as much time as if it had not: it
// would have been put at once, were the key not about to be locked.
func (db *database) goOn(o *op) {
	if !o.Undecides() {
		o.began = time.Now()
	}
	db.tryAgain(o)
}

// letFollow puts those that have followed an attempt which is to be made once more.
func (db *database) letFollow(o *op) {
	f, s := o.flight, &db.shards[db.shard(o.Key)]
	s.mu.Lock()
	defer s.mu.Unlock()
	f.asking = false
	spoiled := f.void.Load()
	db.putBehind(s, f)
	f.shielded = spoiled
}

// putBehind puts those that have followed, and those who come meanwhile and may not pass
// them. The shard is locked, and is not while they are put.
func (db *database) putBehind(s *shard, f *flight) {
	for len(f.followers) > 0 {
		followers := f.followers
		f.followers = nil
		s.mu.Unlock()
		for _, o := range followers {
			db.goOn(o)
		}
		s.mu.Lock()
	}
	f.barred = false
}

// actsOn tells that what an op does to its key may be different if it holds the token.
func (o *op) actsOn(token string) bool {
	switch o.Kind {
	case quorum.Extend, quorum.Release:
		return o.Token == token
	case quorum.Run:
		return !o.Script.Reads
	}
	return o.Kind != quorum.Read
}

// tooLate says no to an extension that has waited behind an acquire which is won: the lock
// that it was to extend had ended, or this would not have been free. Who asked is not who
// has won: a client that knows of its lock no more waits for it, and the proxy puts what
// one connection asks about a key one after the other. So it is with EXPIRE and the like, and SET
// XX: there was nothing that they could have been about.
//
//	1: A's "1" on k ends in 50 ms; B asks for k as "1": master 1 refuses, 2 and 3 are slow
//	2: A extends, and waits for B's decision; meanwhile its k ends
//	3: B is granted k by 2 and 3. A would extend that: both would hold k, and by A's ttl
func (db *database) tooLate(o *op) {
	r := quorum.Result{Decision: quorum.Contended, Absent: true}
	if o.Kind == quorum.Write {
		r = quorum.Result{Decision: quorum.Won, Reply: quorum.Reply{Kind: quorum.IntegerReply}}
		if o.Args[0] == "SET" {
			r.Reply.Kind = quorum.NilReply
		}
	}
	db.inFlight.Add(-1)
	db.decisions[o.Kind][r.Decision].Add(1)
	db.answer(o, r)
	o.flusher.Flush()
	o.drop()
}
