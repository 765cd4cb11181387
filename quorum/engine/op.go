package engine

import (
	"slices"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/redis/rueidis"

	"redlock-proxy/quorum"
	"redlock-proxy/quorum/clock"
	"redlock-proxy/quorum/decide"
)

// op is one attempt to carry out a Request: it is put to all lanes at once and
// gathers their votes. A split acquire is tried again as a new op.
//
// It has many fields as each is for one kind of request, or for one stage of its life, and
// an op of its own for each would be allocated where this one is used again. Its methods
// mostly say what a master gets of it.
type op struct {
	// What each lane comes to for its vote stands together.
	ballot   decide.Ballot
	deciders atomic.Uint64 // a counted: see bound.go
	refs     atomic.Int32  // see recycle.go
	follows  int32         // how often it has waited behind an acquire
	untold   atomic.Bool   // it was won, and is taken back
	bars     bool          // it is a script that acquires wait for, see bar.go
	long     atomic.Bool   // a value of what was said is long, see longvalue.go
	place    place         // of Key
	weight   int           // in bytes, both ways, as far as that is known
	lock     uint64        // of an Acquire or a Release: of Key with Token
	db       *database
	began    time.Time     // when the request was put, from which its time counts
	put      time.Time     // when this attempt was, from which a lock's validity does
	patience time.Duration // no decision counts that falls later than put + patience
	sleeps   uint64        // how often the machine had slept by put

	command rueidis.Completed // what all masters get, see build
	flight  *flight           // of an acquire: who waits for it
	asker   quorum.Asker
	flusher quorum.Flusher // once the asker has been answered
	ttl     time.Duration  // as the masters get it: padded; 0 is none

	decide.Question
	// sent[i] is written by lane i before it casts its vote, as Said[i] is.
	sent    []sending
	px      string    // ttl in milliseconds, "" if none
	attempt int       // how often the same acquire was put before
	clock   [2]string // of a Run: the seconds and microseconds that its script is told

	// Of a step: its turn, which it keeps while it is tried again, and what its latches
	// hold.
	turn   *turn
	holder string
	left   string       // of its keys' ttls, as its script is to read that; "": as each master has it
	ends   []time.Time  // when these end, as the masters told the try before; nil: this is the first
	before quorum.Tried // the try before, if any master may have done it by that
	holds  bool         // a step: it latches its keys also where it does nothing

	confirmed atomic.Uint32 // the masters that have confirmed all that became of a step there, a bit for each
	metAt     time.Time     // when the sweeper saw that it has met a latch, see stalls

	// first is the acquire without ttl that was won and is now, by this
	// Extend, to lose the short expiry it was set with.
	first *op

	traced *quorum.Attempt // what is noted of it, nil if nothing is: see quorum.Trace

	values longValues
}

// argv appends the command as a master gets it; seven is of its identity.
func (o *op) argv(b []string, seven bool) []string {
	switch o.Kind {
	case quorum.Acquire:
		return o.acquireArgv(b, seven)
	case quorum.Release:
		return o.releaseArgv(b)
	case quorum.Extend:
		return o.extendArgv(b)
	case quorum.Read:
		return o.readArgv(b)
	case quorum.Remove:
		return o.removeArgv(b)
	case quorum.Survey:
		return o.surveyArgv(b)
	}
	return o.writeArgv(b, seven)
}

// pointless tells that an op which has not been sent to a master yet need not
// be any more: an acquire that is lost would only have to be undone, and what
// was answered with "I do not know" should not happen afterwards. Releases are
// always sent, and so is a script that says no where it has removed something: it may be one.
func (o *op) pointless() bool {
	c := o.ballot.Load()
	d := c.Decision()
	switch {
	case o.kind().frees, d == quorum.Contended && o.hasTidied(c):
		return false
	case o.Kind == quorum.Read:
		return d != quorum.Undecided
	}
	return d != quorum.Undecided && d != quorum.Won
}

func (o *op) hasTidied(c decide.Votes) bool {
	for i := range o.Said {
		if o.HasTidied(c, i) {
			return true
		}
	}
	return false
}

// overdue tells that the decision would come too late to count. The clock that
// patience is measured by stands still while the machine sleeps:
//
//	1: master 1 grants k to A, and this machine sleeps
//	2: master 1 loses k, and catches up with the others, which never had it
//	3: the machine wakes up; master 2 grants k to A: A would have a quorum
func (o *op) overdue(now time.Time) bool {
	return now.Sub(o.put) > o.patience || o.sleeps != o.db.sleeps.Load()
}

// waited is how long the request has waited, or was tried before, when the op was put. It gets
// no more time for that: its client counts from when it has asked.
func (o *op) waited() time.Duration { return o.put.Sub(o.began) }

// decide is what the votes in c amount to. An acquire that was spoiled is not won, see spoil.
func (o *op) decide(c decide.Votes) quorum.Decision {
	d := o.Question.Decide(c)
	switch {
	case d != quorum.Won:
	case o.Kind == quorum.Acquire && o.flight.void.Load():
		return quorum.Split
	case o.Kind == quorum.Extend && o.first != nil && o.flight.void.Load():
		return quorum.Contended
	}
	return d
}

// result is what the asker is told.
func (o *op) result(c decide.Votes) quorum.Result {
	r := o.Question.Result(c)
	if c.Decision() == quorum.Unavailable && c.TimeUp() {
		r.Shortest = o.db.tooShort(o.patience + o.waited())
	}
	return r
}

// vote casts lane i's vote and settles what follows from it. It tells whether
// the asker was answered, so that the caller flushes it when its batch is done.
func (o *op) vote(i int, v quorum.Vote, did bool, now time.Time) (answered bool) {
	if o.overdue(now) {
		answered = o.expire(now)
	}
	if o.traced != nil {
		o.traced.Voted(i, v, !o.sent[i].unsent, now)
	}
	c, decisive := o.ballot.Cast(i, v, did, o.weighLong)
	switch {
	case decisive:
		answered = ruling{o, c, now}.decided()
		o.letGo(c)
	case c.Decision() != quorum.Undecided:
		ruling{o, c, now}.late(i)
		o.letGo(decide.Votes(0).Voted(i, v, did)) // and no other: it may be about to be told
	}
	return answered
}

// expire ends the vote: masters that have not answered yet count as unknown.
func (o *op) expire(now time.Time) (answered bool) {
	if o.ballot.Load().Decision() != quorum.Undecided {
		return false
	}
	c, decisive := o.ballot.Close(o.weighLong)
	if !decisive {
		return false
	}
	answered = ruling{o, c, now}.decided()
	o.letGo(c)
	return answered
}

// millisecondsText is n as the masters get it. Clients ask for one ttl again and
// again, so the latest text is kept.
func (db *database) millisecondsText(n int64) string {
	if latest := db.latestTTL.Load(); latest != nil && latest.milliseconds == n {
		return latest.text
	}
	text := strconv.FormatInt(n, 10)
	db.latestTTL.Store(&ttlText{n, text})
	return text
}

type ttlText struct {
	milliseconds int64
	text         string
}

// alike tells whether a master gets the same command as the others. seven is of argv.
func (o *op) alike(seven bool) bool {
	return o.kind().alike && (seven || o.Kind != quorum.Acquire)
}

// build makes the command that all masters get. Its memory is the op's and not rueidis's,
// and is written again where an earlier command was as long; no lane has the op yet.
func (o *op) build() {
	var room [8]string
	argv := o.argv(room[:0], true)
	if o.command.IsEmpty() || len(o.command.Commands()) != len(argv) {
		o.command = rueidis.Builder{}.Arbitrary(argv...).Build().Pin()
	}
	copy(o.command.Commands(), argv)
}

// prepare computes once what all masters get.
func (o *op) prepare(ttl time.Duration) {
	if o.IsStep() {
		o.holder = o.db.name + ":" + strconv.FormatUint(o.db.steps.Add(1), 10)
	}
	if o.Kind == quorum.Run {
		o.prepareRun()
	}
	switch {
	case ttl > 0:
		o.ttl = clock.Pad(ttl)
		o.px = o.db.millisecondsText(clock.Milliseconds(o.ttl))
	case o.Far > 0:
		o.px = strconv.FormatInt(o.Far, 10)
	}
	if o.px != "" && o.TTLArg > 0 {
		o.Args = slices.Clone(o.Args)
		o.Args[o.TTLArg] = o.px
	}
	if o.alike(true) {
		o.build()
	}
}
