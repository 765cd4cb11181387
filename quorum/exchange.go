package quorum

import (
	"slices"
	"time"

	"github.com/redis/rueidis"
)

// exchange sends one batch and casts the votes of its answers. An error means
// that the link is of no more use.
func (l *lane) exchange(link *link, errands []errand, ops []*op) error {
	now := time.Now()
	l.commands = l.commands[:0]
	sentErrands := errands[:0:0]
	for _, e := range errands {
		if argv := e.argv(l.argv[:0], now); argv != nil {
			l.add(link, argv)
			sentErrands = append(sentErrands, e)
		} else if e.heal == nil {
			l.dropped.Add(1)
		}
	}
	// Ops that are pointless by now are voted on only after the batch has left
	// l.batch, as all others are.
	l.asked = slices.Grow(l.asked[:0], len(ops))[:len(ops)]
	sent := l.asked
	surveys := false
	for i, o := range ops {
		if sent[i] = !o.pointless(); sent[i] {
			surveys = surveys || o.Kind == Survey
			if o.Kind == Run {
				l.add(link, o.runArgv(l.argv[:0], link.knows(o.Script.wrapped.sha)))
				continue
			}
			l.add(link, o.argv(l.argv[:0], link.who.nxGet))
		}
	}
	l.commands = slices.Grow(l.commands, proofSize)
	link.guard.allow(surveys)
	l.begin(ops, now)
	answers, p, err := link.exchange(l.commands)
	now = l.end(now)
	if err != nil {
		l.abandon(sentErrands, ops, now)
		return err
	}
	l.engine.noticeSleep(p.clock.read, now)
	l.tick(p)
	counts := l.proven(p)

	var trouble string
	var lost unscripted
	for i, e := range sentErrands {
		a := l.read(answers[i])
		if a.failed("NOSCRIPT") && l.mendable(e.keys(), ops, sent) {
			lost.errands = append(lost.errands, e)
			continue
		}
		if a.aside() {
			trouble = a.str
		}
		l.settled(e, a)
	}
	answers = answers[len(sentErrands):]
	for i, o := range ops {
		v, did := Unknown, false
		if sent[i] {
			a := l.read(answers[0])
			answers = answers[1:]
			if a.failed("NOSCRIPT") && l.mendable(o.keys(), ops[i+1:], sent[i+1:]) {
				o.hold()
				lost.ops = append(lost.ops, o)
				continue
			}
			if a.aside() {
				trouble = a.str
			}
			v, did, o.said[l.index] = o.judge(a, link.who.nxGet)
			o.said[l.index].nonce = l.known.nonce
			if o.Kind == Survey {
				o.said[l.index].value = link.who.runID
			}
			if !counts {
				v = o.withheld(v, did)
			}
		}
		l.vote(o, v, did, now)
	}
	l.flushAll()
	l.recycle(ops)
	empty := len(l.commands) == 0
	if err := l.mend(link, lost); err != nil {
		return err
	}
	if empty {
		return nil
	}
	return l.trouble(trouble)
}

// add puts a command into the batch.
func (l *lane) add(link *link, argv []string) {
	l.commands = append(l.commands, link.client.B().Arbitrary(argv...).Build())
	l.argv = argv
}

// settled looks at what became of an errand.
func (l *lane) settled(e errand, a answer) {
	switch {
	case e.envelope != "":
	case e.ending != nil:
		if a.int&saysEnded != 0 {
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
		l.heals.Add(1)
	case a.failed("NOSCRIPT"):
		// It was not carried out, and what came after it on the same key was.
		l.dropped.Add(1)
	case a.kind == IntegerReply && a.int == saysOtherNonce:
		l.dropped.Add(1)
	default:
		l.paid.Add(1)
		if a.int > 0 {
			l.undos.Add(1)
		}
	}
}

func (l *lane) read(r rueidis.RedisResult) answer {
	m, _ := r.ToMessage()
	return newAnswer(m)
}

func (l *lane) vote(o *op, v Vote, did bool, now time.Time) {
	l.votes[v].Add(1)
	if o.vote(l.index, v, did, now) {
		l.gather(o.flusher)
	}
}

// gather has somebody flushed when the batch is done. Answers to one client mostly
// come one after the other.
func (l *lane) gather(f Flusher) {
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
func (l *lane) begin(ops []*op, now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.batch, l.sent = ops, now
}

func (l *lane) end(began time.Time) time.Time {
	now := time.Now()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.batch, l.sighted = nil, l.anchor
	if l.trips == 0 {
		l.trips = now.Sub(began)
	}
	l.trips += (now.Sub(began) - l.trips) / 16
	return now
}

// recycle ends what the lane has to do with the ops of a batch, and keeps the array
// for the queue after next.
func (l *lane) recycle(ops []*op) {
	dropAll(ops)
	if cap(ops) > 0 && cap(ops) <= maxReleases {
		l.spare = ops[:0]
	}
}

// abandon casts the votes of a batch that failed: any of it may have been
// carried out or not.
func (l *lane) abandon(errands []errand, ops []*op, now time.Time) {
	l.mu.Lock()
	l.open, l.carried = false, 0
	errands = append(errands, l.errands...)
	l.errands, l.outbox = nil, outbox{}
	for _, e := range errands {
		if e.pays() {
			l.owed.Add(1)
			l.dropped.Add(uint64(l.debts.add(e.debt, now)))
		}
	}
	queue := l.queue
	l.queue = nil
	l.mu.Unlock()
	for _, e := range errands {
		if e.ending != nil {
			l.settled(e, answer{})
		}
	}
	for _, o := range ops {
		l.vote(o, Unknown, false, now)
	}
	for _, o := range queue {
		l.vote(o, Unknown, false, now)
	}
	l.flushAll()
	dropAll(ops)
	dropAll(queue)
}
