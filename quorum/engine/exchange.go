package engine

import (
	"cmp"
	"slices"
	"time"

	"github.com/redis/rueidis"

	"redlock-proxy/quorum"
	"redlock-proxy/quorum/clock"
	"redlock-proxy/quorum/decide"
	"redlock-proxy/quorum/master"
)

// batch is what is sent to a master at once: errands, which go first, and ops. The
// lane's goroutine alone uses it, but for ops, which the sweeper reads.
type batch struct {
	errands []errand
	ops     []*op

	commands []rueidis.Completed
	argv     []string
	sent     []errand // those that have not come too late
	asked    []bool   // which ops are sent
	began    time.Time
	ordinal  ordinal // of the first of the ops is the next
	again    bool    // what it holds was sent before, see mend
	headed   bool    // it begins with a look at the master's clock

	keys     []string // of a batch among others: what it is about
	messages bool     // and whether it publishes
	alone    bool     // nothing goes beside it

	empty bool // there was nothing to send
	looks bool // at the master, behind all else
	tries bool // what is needed of it, too
	asks  bool // and how that stands in all databases, before that

	answers []rueidis.RedisResult
	cost    int // of the master's room, until they are judged
	proof   master.Proof
	err     error
}

// exchange sends one batch and casts the votes of its answers. An error means
// that the link is of no more use.
func (l *lane) exchange(link *master.Link, b *batch) error {
	l.load(link, b)
	b.answers, b.proof, b.err = link.Exchange(b.commands)
	return l.settle(link, b)
}

// load makes the commands of a batch.
func (l *lane) load(link *master.Link, b *batch) {
	now := time.Now()
	if b.headed = slices.ContainsFunc(b.ops, (*op).undoable); b.headed {
		b.commands = append(b.commands, master.AskTime)
	}
	b.sent = b.errands[:0:0]
	for _, e := range b.errands {
		if argv := e.argv(b.argv[:0], now); argv != nil {
			b.add(link, argv)
			b.sent = append(b.sent, e)
		} else if e.pays() {
			l.queue.cannotUndo(e.debt)
		}
	}
	// Ops that are pointless by now are voted on only after the batch has been
	// answered, as all others are.
	b.asked = slices.Grow(b.asked[:0], len(b.ops))[:len(b.ops)]
	surveys := false
	for i, o := range b.ops {
		if b.asked[i] = !o.pointless(); b.asked[i] {
			surveys = surveys || o.Kind == quorum.Survey
			switch {
			case o.bound():
				b.add(link, o.boundArgv(b.argv[:0], link))
			case o.alike(link.Who.Seven):
				b.commands = append(b.commands, o.command)
			case o.Kind == quorum.Run:
				b.add(link, append(o.runArgv(b.argv[:0], link), l.date(o, now)))
			case o.dated():
				b.add(link, append(o.argv(b.argv[:0], link.Who.Seven), l.date(o, now)))
			default:
				b.add(link, o.argv(b.argv[:0], link.Who.Seven))
			}
		}
	}
	b.empty = len(b.sent) == 0 && !slices.Contains(b.asked, true)
	b.looks = l.keeper.looks()
	b.tries = b.looks || l.suspects
	if l.suspects = false; b.tries {
		b.commands = append(b.commands, askRights...)
	}
	if b.asks = b.looks && l.keeper.asksStandings(link, b); b.looks {
		b.commands = append(b.commands, master.AskInfo)
	}
	b.commands = slices.Grow(b.commands, len(master.AskProof))
	link.Allow(surveys)
	l.begin(b, now)
}

// settle casts the votes of a batch that was answered, or was not.
func (l *lane) settle(link *master.Link, b *batch) error {
	boot := l.db.Boot() // a batch may have waited since it was answered
	now := l.end(b)
	if b.err != nil {
		for _, o := range b.ops {
			o.keep()
		}
		l.abandon(b.sent, b.ops, now)
		return b.err
	}
	link.Saw(b.proof.Clock)
	l.db.noticeSleep(boot, now)
	l.tick(b.proof)
	counts := l.keeper.proven(b.proof)
	heard := l.keeper.hears(link, b)
	counts = counts && heard == nil && !l.keeper.doubt
	done, answers := l.span(link, b)
	asked := clock.Span{From: b.proof.Clock.Sent, To: b.proof.Clock.Read}

	var trouble string
	var kept []string // keys that the master was asked to free, and refused to
	var lost again
	for i, e := range b.sent {
		a := link.Read(answers[i], &b.cost)
		if a.Failed("NOSCRIPT") && l.mendable(e.keys(), b.ops, b.asked) {
			lost.errands, lost.unscripted = append(lost.errands, e), true
			continue
		}
		if a.Aside() {
			trouble = a.Str
		}
		l.suspects = l.suspects || a.Kind == quorum.FailureReply && !a.WrongType()
		l.settled(e, a)
	}
	answers = answers[len(b.sent):]
	for i, o := range b.ops {
		v, did := quorum.Unknown, false
		if b.asked[i] {
			a := link.Read(answers[0], &b.cost)
			answers = answers[1:]
			length := a.LeftOut()
			switch {
			case length > 0 && l.fitsAlone(o, length, b.ops[i+1:], b.asked[i+1:]):
				lost.add(o, length)
				continue
			case length > 0:
				l.leftOut(o, length)
			case a.Failed("NOSCRIPT") && l.mendable(o.keys(), b.ops[i+1:], b.asked[i+1:]):
				lost.add(o, 0)
				continue
			}
			if length == 0 {
				l.db.sizes.told(o, a.Bytes())
			}
			v, did, o.Said[l.index] = decide.Judge(&o.Request, a)
			s := &o.Said[l.index]
			switch {
			case v != quorum.Unknown || length > 0:
			case o.Kind == quorum.Run && a.Failed("NOSCRIPT"):
				// Masters from 7.4 on drop what was asked for by EVAL where there is much of
				// it. Whether ours are gone as well shows where they are called.
				link.Forget()
			default:
				trouble = cmp.Or(s.Refusal(), trouble)
			}
			o.sent[l.index] = sending{l.keeper.known.Nonce, b.ordinalOf(i), done, asked}
			if o.Kind == quorum.Survey {
				s.Value = link.Who.RunID
			}
			o.holdsLong(s)
			if !counts || o.put.Before(l.keeper.anew) || slices.Contains(kept, o.Key) {
				v = o.withheld(v, did)
			}
			if v == quorum.Unknown && s.Refusal() != "" && (o.Kind == quorum.Release || o.Kind == quorum.Remove) {
				kept = append(kept, o.Key) // it may be answered with a yes, before the next look
			}
			l.vote(o, v, did, now)
			continue
		}
		l.unasked.Add(1)
		l.cast(o, v, did, now)
	}
	l.flushAll()
	link.Give(b.cost)
	empty := b.empty
	l.recycle(b)
	if err := l.mend(link, lost); err != nil {
		return err
	}
	if empty || heard != nil {
		return heard
	}
	return l.trouble(trouble, now)
}

// ordinalOf is that of an op of the batch.
func (b *batch) ordinalOf(i int) ordinal {
	if b.again {
		return b.ordinal
	}
	return b.ordinal + ordinal(i) + 1
}

// span is when a batch was carried out, by the master's clock, and its other answers. It
// is not known where that clock was set meanwhile, nor of what is never taken back.
func (l *lane) span(link *master.Link, b *batch) (done clock.Span, answers []rueidis.RedisResult) {
	if !b.headed {
		return clock.Span{}, b.answers
	}
	head, _ := master.TimeOf(link.Read(b.answers[0], &b.cost))
	done = clock.Span{From: time.Duration(head.UnixNano()), To: b.proof.Clock.At}
	if l.jumped != 0 || done.From > done.To {
		done = clock.Span{}
	}
	return done, b.answers[1:]
}

// add puts a command into the batch.
func (b *batch) add(link *master.Link, argv []string) {
	b.commands = append(b.commands, link.Command(argv...))
	b.argv = argv
}

// settled looks at what became of an errand.
func (l *lane) settled(e errand, a decide.Answer) {
	switch {
	case e.envelope != "":
	case e.ending != nil:
		if a.Int&saysEnded != 0 {
			switch e.ending.ends {
			case takeBack:
				l.undos.Add(1)
			case bringUp:
				l.heals.Add(1)
			}
		}
		if e.ending.settled(a) {
			l.gather(e.ending.op.flusher)
		}
	case e.heal != nil:
		if a.Kind != quorum.FailureReply {
			l.heals.Add(1)
		}
	case a.Failed("NOSCRIPT"):
		// It was not carried out, and what came after it on the same key was.
		l.queue.cannotUndo(e.debt)
	case a.Kind == quorum.IntegerReply && a.Int == decide.SaysOtherNonce:
		l.queue.cannotUndo(e.debt)
	case a.Kind == quorum.IntegerReply && a.Int == decide.SaysOther:
		l.queue.undoLater(e.debt)
	case a.RefusesToWrite():
		l.mu.Lock()
		if l.queue.mayTry(e.debt) {
			l.queue.oweLocked(e.debt, time.Now())
		}
		l.mu.Unlock()
	case a.Kind == quorum.FailureReply && !a.WrongType():
		l.queue.undoAgain(e.debt)
	default:
		l.queue.undone(e.debt, a.Int)
	}
}

func (l *lane) vote(o *op, v quorum.Vote, did bool, now time.Time) {
	l.votes[v].Add(1)
	l.cast(o, v, did, now)
}

// cast is vote, of what the master was not asked.
func (l *lane) cast(o *op, v quorum.Vote, did bool, now time.Time) {
	if o.vote(l.index, v, did, now) {
		l.gather(o.flusher)
	}
}

// gather has somebody flushed when the batch is done. Answers to one client mostly
// come one after the other.
func (l *lane) gather(f quorum.Flusher) {
	if n := len(l.flush); n == 0 || l.flush[n-1] != f {
		l.flush = append(l.flush, f)
	}
}

func (l *lane) flushAll() {
	for _, f := range l.flush {
		f.Flush()
	}
	clear(l.flush)
	l.flush = l.flush[:0]
}

// begin and end note what is in flight, for the sweeper and for INFO.
func (l *lane) begin(b *batch, now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	b.began = now
	if l.queue.sent = now; !slices.Contains(l.queue.flying, b) {
		l.queue.flying = append(l.queue.flying, b)
	}
}

func (l *lane) end(b *batch) time.Time {
	now := time.Now()
	l.mu.Lock()
	defer l.mu.Unlock()
	i := slices.Index(l.queue.flying, b)
	l.queue.flying = slices.Delete(l.queue.flying, i, i+1)
	took := now.Sub(b.began)
	b.began = time.Time{}
	if l.trips == 0 {
		l.trips = took
	}
	l.trips += (took - l.trips) / 16
	if l.nearest == 0 || took < l.nearest {
		l.nearest = took
	}
	return now
}

// newBatch is a batch, maybe one that was used before.
func (l *lane) newBatch(errands []errand, ops []*op) *batch {
	b := l.spareBatch
	if l.spareBatch = nil; b == nil {
		b = new(batch)
	}
	b.errands, b.ops = errands, ops
	return b
}

// recycle ends what the lane has to do with a batch, and keeps its array of ops for the
// queue after next.
func (l *lane) recycle(b *batch) {
	ops := b.ops
	dropAll(ops)
	if cap(ops) > 0 && cap(ops) <= maxReleases {
		l.spare = ops[:0]
	}
	*b = batch{commands: b.commands[:0], argv: b.argv[:0], asked: b.asked[:0]}
	l.spareBatch = b
}

// abandon casts the votes of a batch that failed: any of it may have been
// carried out or not.
func (l *lane) abandon(errands []errand, ops []*op, now time.Time) {
	l.mu.Lock()
	l.open, l.queue.carried = false, 0
	for i := range l.queue.errands {
		l.queue.removed(&l.queue.errands[i])
	}
	errands = append(errands, l.queue.errands...)
	l.queue.errands, l.queue.outbox = nil, outbox{}
	for _, e := range errands {
		if e.pays() {
			l.queue.oweLocked(e.debt, now)
		}
	}
	l.queue.later = slices.DeleteFunc(l.queue.later, func(d laterDebt) bool {
		if d.again {
			return false // see undoLater
		}
		l.master.Rooms.Errands.Add(-d.size())
		if l.queue.mayTry(d.debt) {
			l.queue.oweLocked(d.debt, now)
		}
		return true
	})
	queue := l.queue.ops
	l.master.Rooms.Queue.Add(-l.queue.bytes)
	l.queue.ops, l.queue.bytes = nil, 0
	for _, o := range ops {
		l.queue.notSent(o)
	}
	for _, o := range queue {
		l.queue.notSent(o)
	}
	l.mu.Unlock()
	for _, e := range errands {
		if e.ending != nil {
			l.settled(e, decide.Answer{})
		}
	}
	for _, o := range ops {
		l.vote(o, quorum.Unknown, false, now)
	}
	for _, o := range queue {
		l.unasked.Add(1)
		l.cast(o, quorum.Unknown, false, now)
	}
	l.flushAll()
	dropAll(ops)
	dropAll(queue)
}
