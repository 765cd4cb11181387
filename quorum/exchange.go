package quorum

import (
	"github.com/redis/rueidis"
	"time"
)

// exchange sends one batch and casts the votes of its answers. sha is false for
// commands that are sent once more with their scripts' texts.
func (l *lane) exchange(link *link, errands []errand, ops []*op, sha bool) error {
	now := time.Now()
	l.commands = l.commands[:0]
	sentErrands := errands[:0:0]
	for _, e := range errands {
		if argv := e.argv(l.argv[:0], sha, now); argv != nil {
			l.commands = append(l.commands, link.client.B().Arbitrary(argv...).Build())
			sentErrands = append(sentErrands, e)
			l.argv = argv
		} else if e.heal == nil {
			l.dropped.Add(1)
		}
	}
	// Ops that are pointless by now are voted on only after the batch has left
	// l.batch, as all others are.
	skipped := 0
	sent := make([]bool, len(ops))
	for i, o := range ops {
		if o.pointless() {
			skipped++
			continue
		}
		sent[i] = true
		l.argv = o.argv(l.argv[:0], link.who.nxGet, sha)
		l.commands = append(l.commands, link.client.B().Arbitrary(l.argv...).Build())
	}
	l.begin(ops, now)
	answers, clock, err := link.exchange(l.commands)
	now = l.end(now)
	if err != nil {
		l.abandon(sentErrands, ops, now)
		return err
	}
	l.tick(clock)

	var again []errand
	var opsAgain []*op
	var trouble string
	for i, e := range sentErrands {
		a := l.read(answers[i])
		switch {
		case a.failed("NOSCRIPT") && sha:
			again = append(again, e)
		case e.heal != nil:
			l.heals.Add(1)
		default:
			l.paid.Add(1)
			if a.int > 0 {
				l.undos.Add(1)
			}
		}
	}
	answers = answers[len(sentErrands):]
	for i, o := range ops {
		v, did := Unknown, false
		if sent[i] {
			a := l.read(answers[0])
			answers = answers[1:]
			if a.failed("NOSCRIPT") && sha {
				opsAgain = append(opsAgain, o)
				continue
			}
			if a.aside() {
				trouble = a.str
			}
			v, did, o.said[l.index] = o.judge(a, link.who.nxGet)
		}
		l.vote(o, v, did, now)
	}
	l.flushAll()
	l.recycle(ops)
	if len(again)+len(opsAgain) > 0 {
		// The master has lost our scripts (SCRIPT FLUSH). Nothing was carried out.
		return l.exchange(link, again, opsAgain, false)
	}
	if len(ops) == 0 {
		return nil
	}
	return l.trouble(trouble)
}

func (l *lane) read(r rueidis.RedisResult) answer {
	m, _ := r.ToMessage()
	return newAnswer(m)
}

func (l *lane) vote(o *op, v Vote, did bool, now time.Time) {
	l.votes[v].Add(1)
	if o.vote(l.index, v, did, now) {
		l.flush = append(l.flush, o.asker)
	}
}

func (l *lane) flushAll() {
	for _, a := range l.flush {
		a.Flush()
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
	l.batch = nil
	if l.trips == 0 {
		l.trips = now.Sub(began)
	}
	l.trips += (now.Sub(began) - l.trips) / 16
	return now
}

// recycle keeps the array of a batch for the queue after next.
func (l *lane) recycle(ops []*op) {
	if cap(ops) >= maxBatch/16 && cap(ops) <= maxReleases {
		clear(ops)
		l.spare = ops[:0]
	}
}

// abandon casts the votes of a batch that failed: any of it may have been
// carried out or not.
func (l *lane) abandon(errands []errand, ops []*op, now time.Time) {
	l.mu.Lock()
	l.open = false
	errands = append(errands, l.errands...)
	l.errands = nil
	for _, e := range errands {
		if e.heal == nil {
			l.owed.Add(1)
			l.dropped.Add(uint64(l.debts.add(e.debt, now)))
		}
	}
	queue := l.queue
	l.queue = nil
	l.mu.Unlock()
	for _, o := range ops {
		l.vote(o, Unknown, false, now)
	}
	for _, o := range queue {
		l.vote(o, Unknown, false, now)
	}
	l.flushAll()
}

// tick notes the master's clock.
func (l *lane) tick(clock time.Time) {
	l.clock.Store(clock.UnixMicro() - l.engine.elapsed().Microseconds())
}
