package engine

import (
	"slices"
	"time"

	"redlock-proxy/quorum"
	"redlock-proxy/quorum/clock"
	"redlock-proxy/quorum/decide"
	"redlock-proxy/quorum/master"
)

// exchange sends one batch and casts the votes of its answers. An error means
// that the link is of no more use.
func (s *sender) exchange(link *master.Link, b *batch) error {
	if b.stage == fresh {
		s.load(link, b, s.db.Boot())
	}
	switch b.stage {
	case complete:
	case onItsWay:
		b.answers, b.proof, b.err = link.Await(len(b.commands), b.sentAt, b.answers)
	default:
		b.answers, b.proof, b.err = link.Exchange(b.commands, b.answers)
	}
	return s.settle(link, b, s.db.Boot())
}

// load makes the commands of a batch. boot is now by our clock.
func (s *sender) load(link *master.Link, b *batch, boot time.Duration) {
	now := time.Now()
	if b.headed = slices.ContainsFunc(b.ops, (*op).undoable); b.headed {
		b.commands = append(b.commands, master.AskTime)
	}
	b.sent = b.errands[:0:0]
	for rest := b.errands; len(rest) > 0; {
		e, n := together(rest)
		rest = rest[n:]
		if argv := e.argv(b.argv[:0], now); argv != nil {
			b.add(link, argv)
			b.sent = append(b.sent, e)
		} else if d := e.owes(); d != nil {
			s.queue.cannotUndo(*d)
		}
	}
	// Ops that are pointless by now are voted on only after the batch has been
	// answered, as all others are.
	b.asked = slices.Grow(b.asked[:0], len(b.ops))[:len(b.ops)]
	surveys, commands := false, len(b.sent)
	for i, o := range b.ops {
		if b.asked[i] = !o.pointless(); b.asked[i] {
			commands++
			surveys = surveys || o.kind().everyKey
			switch {
			case o.bound():
				b.add(link, o.boundArgv(b.argv[:0], link))
			case o.alike(link.Who.Seven):
				b.commands = append(b.commands, o.command)
			case o.Kind == quorum.Run:
				b.add(link, append(o.runArgv(b.argv[:0], link), s.date(o, now)))
			case o.dated():
				b.add(link, append(o.argv(b.argv[:0], link.Who.Seven), s.date(o, now)))
			default:
				b.add(link, o.argv(b.argv[:0], link.Who.Seven))
			}
		}
	}
	b.empty = commands == 0
	s.countBatch(commands)
	b.looks = s.keeper.looks(boot)
	b.tries = b.looks || s.suspects
	if s.suspects = false; b.tries {
		b.commands = append(b.commands, askRights...)
	}
	if b.asks = b.looks && s.keeper.asksElsewhere(link, b); b.looks {
		b.commands = append(b.commands, master.AskInfo)
	}
	b.commands = slices.Grow(b.commands, len(master.AskProof))
	link.Allow(surveys)
	s.begin(b, now)
}

// span is when a batch was carried out, by the master's clock, and its other answers. It
// is not known where that clock was set meanwhile, nor of what is never taken back.
func (s *sender) span(b *batch) (done clock.Span, answers []decide.Answer) {
	if !b.headed {
		return clock.Span{}, b.answers
	}
	head, _ := master.TimeOf(b.read(0))
	done = clock.Span{From: time.Duration(head.UnixNano()), To: b.proof.Clock.At}
	if s.jumped != 0 || done.From > done.To {
		done = clock.Span{}
	}
	return done, b.answers[1:]
}

// begin and end note what is in flight, for the sweeper and for INFO.
func (s *sender) begin(b *batch, now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	b.began = now
	if s.queue.sent = now; !slices.Contains(s.queue.flying, b) {
		s.queue.flying = append(s.queue.flying, b)
	}
}

func (s *sender) end(b *batch) time.Time {
	now := time.Now()
	s.mu.Lock()
	defer s.mu.Unlock()
	i := slices.Index(s.queue.flying, b)
	s.queue.flying = slices.Delete(s.queue.flying, i, i+1)
	took := now.Sub(b.began)
	b.began = time.Time{}
	if s.trips == 0 {
		s.trips = took
	}
	s.trips += (took - s.trips) / 16
	if s.nearest == 0 || took < s.nearest {
		s.nearest = took
	}
	return now
}
