package engine

import (
	"cmp"
	"slices"
	"time"

	"redlock-proxy/quorum"
	"redlock-proxy/quorum/clock"
	"redlock-proxy/quorum/decide"
	"redlock-proxy/quorum/master"
)

// settling is what becomes of a batch that was answered: of its errands first, then of its ops.
type settling struct {
	*sender
	link  *master.Link
	batch *batch
	now   time.Time

	counts  bool            // the votes do
	done    clock.Span      // when it was carried out, by the master's clock
	asked   clock.Span      // and by ours
	answers []decide.Answer // that are not read yet
	trouble string          // what the master says of itself, if it does
	kept    []string        // keys that the master was asked to free, and refused to
	lost    again           // what is to be sent again
}

// settle casts the votes of a batch that was answered, or was not. boot is now by our clock: it may have waited since it was answered.
func (s *sender) settle(link *master.Link, b *batch, boot time.Duration) error {
	w := settling{sender: s, link: link, batch: b, now: s.end(b)}
	if b.err != nil {
		for _, o := range b.ops {
			o.retainForever()
		}
		s.abandon(b.sent, b.ops, w.now)
		return b.err
	}
	link.NoteTrip(b.proof.Clock)
	s.db.noticeSleep(boot, w.now)
	s.tick(b.proof)
	w.counts = s.keeper.proven(b.proof)
	heard := s.keeper.hears(link, b)
	w.counts = w.counts && heard == nil && !s.keeper.doubt
	w.done, w.answers = s.span(b)
	w.asked = clock.Span{From: b.proof.Clock.Sent, To: b.proof.Clock.Read}
	w.errands()
	w.ops()
	s.flushAll()
	link.Give(b.cost)
	empty := b.empty
	s.recycle(b)
	if err := s.resend(link, w.lost); err != nil {
		return err
	}
	if empty || heard != nil {
		return heard
	}
	return s.connector.trouble(w.trouble, w.now)
}

// next reads an answer.
func (s *settling) next() decide.Answer {
	a := s.answers[0]
	s.batch.cost += master.CostOf(&a)
	s.answers = s.answers[1:]
	return a
}

func (s *settling) errands() {
	for _, e := range s.batch.sent {
		a := s.next()
		if a.Failed("NOSCRIPT") && s.resendable(e.remains(), s.batch.ops, s.batch.asked) {
			s.lost.errands, s.lost.unscripted = append(s.lost.errands, e), true
			continue
		}
		if a.Aside() {
			s.trouble = a.Str
		}
		s.suspects = s.suspects || a.Kind == quorum.FailureReply && !a.WrongType()
		e.carriedOut(s.sender, a)
	}
}

// verdict is what a master's answer to an op has told.
type verdict struct {
	vote  quorum.Vote
	did   bool
	again bool // it is sent once more
	does  deed // idle or declines, if it has done nothing there, and within
}

// ops casts the votes of a batch when all of it was read: what a lost op has left is taken back
// behind later ones that have done nothing.
func (s *settling) ops() {
	verdicts := s.verdicts[:0]
	for i, o := range s.batch.ops {
		verdicts = append(verdicts, s.judge(i, o))
	}
	s.verdicts = verdicts
	s.noteIdle()
	for i, o := range s.batch.ops {
		switch v := &verdicts[i]; {
		case !s.batch.asked[i]:
			s.unasked.Add(1)
			s.cast(o, quorum.Unknown, false, s.now)
		case !v.again:
			s.vote(o, v.vote, v.did, s.now)
		}
	}
}

// judge reads the answer to op i of the batch.
func (s *settling) judge(i int, o *op) verdict {
	if !s.batch.asked[i] {
		o.sent[s.index].unsent = true
		return verdict{does: idle}
	}
	a := s.next()
	if s.again(i, o, a) {
		return verdict{again: true}
	}
	return s.op(i, o, a)
}

// noteIdle has the queue know what of the batch has done nothing.
func (s *settling) noteIdle() {
	if s.batch.again || !slices.ContainsFunc(s.verdicts, func(v verdict) bool { return v.does != 0 }) {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.queue.sentSo.answered(s.batch.ordinal, len(s.verdicts), func(i int) answered {
		a := answered{does: s.verdicts[i].does}
		if a.does&declines != 0 {
			o := s.batch.ops[i]
			a.said, a.names = o.saying(s.index), o.names()
		}
		return a
	})
}

// nothing tells that an op has done nothing on the master: it came too late, or lets go of a
// token that is not there, but another; or it is a script that has declined, or a write that was
// answered with no. An acquire that may tell its client that the lock is his is as good as another
// one in its place.
func nothing(o *op, a decide.Answer, v quorum.Vote, did bool, said *decide.Said) deed {
	switch {
	case a.TooLate(), o.Kind == quorum.Release && v == quorum.Refused && !said.Absent:
		return idle
	case o.Kind == quorum.Write && v != quorum.Unknown && !did:
		return idle
	case o.Kind == quorum.Acquire && o.TellsValue && v == quorum.Refused && said.Value == o.Token:
		return frees
	case o.Kind == quorum.Run && v == quorum.Refused && said.Journal.Declined():
		no := said.Journal.Reply.SaysNo()
		switch {
		case o.isOurStep() && (no || said.Journal.Reply.Kind == quorum.FailureReply): // ours have no other word for it
			return idle
		case o.isOurStep():
			return declines | plain
		case no && o.Script.Frees:
			return declines | spares
		}
		return declines
	}
	return 0
}

// again tells that op i of the batch is to be sent once more.
func (s *settling) again(i int, o *op, a decide.Answer) bool {
	later, sent := s.batch.ops[i+1:], s.batch.asked[i+1:]
	switch length := a.LeftOut(); {
	case length > 0 && s.fitsAlone(o, length, later, sent):
		s.lost.add(o, length)
		return true
	case length > 0:
		s.leftOut(o, length)
	case a.Failed("NOSCRIPT") && s.resendable(o.keys(), later, sent):
		s.lost.add(o, 0)
		return true
	default:
		s.db.sizes.told(o, a.Bytes())
	}
	return false
}

// op is the master's vote on op i of the batch.
func (s *settling) op(i int, o *op, a decide.Answer) verdict {
	v, did, said := decide.Judge(&o.Request, a)
	does := nothing(o, a, v, did, &said)
	if o.Kind == quorum.Run && said.Journal.KeptToItsKeys() {
		does |= within
	}
	if o.Kind == quorum.Survey {
		said.Value = s.link.Who.RunID
	}
	o.holdsLong(&said)
	if said != (decide.Said{}) { // each lane's is beside the others', in one line of a cache
		o.Said[s.index] = said
	}
	switch {
	case v != quorum.Unknown || a.LeftOut() > 0:
	case o.Kind == quorum.Run && a.Failed("NOSCRIPT"):
		// Masters from 7.4 on drop what was asked for by EVAL where there is much of
		// it. Whether ours are gone as well shows where they are called.
		s.link.Forget()
	default:
		s.trouble = cmp.Or(said.Refusal(), s.trouble)
	}
	o.sent[s.index] = sending{nonce: s.keeper.known.Nonce, ordinal: s.batch.ordinalOf(i), done: s.done, asked: s.asked}
	if !s.counts || o.put.Before(s.keeper.anew) || slices.Contains(s.kept, o.Key) {
		v = o.withheld(v, did)
	}
	if v == quorum.Unknown && said.Refusal() != "" && o.kind().frees {
		s.kept = append(s.kept, o.Key) // it may be answered with a yes, before the next look
	}
	return verdict{vote: v, did: did, does: does}
}
