package quorum

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// How a lane comes to know whether its master's votes count: the marker is read
// when the connection is new and whenever a batch's proof does not fit.

// proven tells whether what a batch was answered counts: the master's marker is,
// nonce included, the one that this proxy knew when it sent the batch, and its
// clock runs true. Otherwise the lane is in doubt, and examines the master before
// it sends the next batch.
//
// Why a look before the batch would not do:
//
//	1: the marker is there
//	2: FLUSHALL by hand: lock k of A is gone
//	3: SET k for B is granted here, and counted
//
// The marker is read behind the SET: it is either gone, or the keys are there.
func (l *lane) proven(p proof) bool {
	if l.engine.alone() {
		return true
	}
	// Of batches side by side, one may be answered behind a later one that raised the doubt.
	if by := l.moved(p.clock); by != 0 || l.doubt || p.nonce != l.known.nonce {
		l.doubt = true
		return false
	}
	if l.known.nonce == "" && l.engine.installation() != "" {
		l.doubt = true // another master has told meanwhile of which installation this one is
	}
	l.anchor = l.anchor.next(p.clock, l.engine.ProbeInterval)
	l.steady.Store(int64(p.clock.sent))
	return l.known.nonce != "" && !l.known.nonce.provisional()
}

// moved is by how much the master's clock has jumped since it was last known to
// run true. A jump is remembered until it was settled: neither a connection that is
// lost before the marker tells of it, nor a clock that is set back, hides it.
func (l *lane) moved(now sighting) time.Duration {
	if l.anchor == (sighting{}) {
		l.anchor = now
	}
	if by := l.anchor.moved(now); by != 0 {
		l.jumped = by
	}
	return l.jumped
}

// settleJump begins anew with a clock that jumped: the marker tells of it, or it was
// ours.
func (l *lane) settleJump(now sighting) { l.jumped, l.anchor = 0, now }

// tick notes the master's clock for those who ask for the time.
func (l *lane) tick(p proof) {
	l.clock.Store(p.clock.at.Microseconds() - l.engine.elapsed().Microseconds())
}

// errRestless says that a master's marker changed whenever it was looked at.
var errRestless = errors.New("its marker changes all the time")

// stand examines the master and acts on it: its votes count from now on, or are
// withheld. An error means that nothing may be sent to it.
func (l *lane) stand(ctx context.Context, link *link) error {
	l.doubt = false
	if l.engine.alone() {
		l.lift(marker{})
		return nil
	}
	for range 16 {
		a, p, err := link.do("GET", MarkerKey)
		if err != nil {
			return err
		}
		if a.kind == FailureReply {
			return errors.New(a.str)
		}
		l.tick(p)
		if p.nonce != nonceOf(a.str) {
			continue
		}
		m, s, why, err := examine(a.str, link.who, l.master.Name, l.engine.terms, l.engine.installation())
		if err == nil && m.Installation != "" {
			err = l.engine.learn(m.Installation)
		}
		if err != nil {
			return err
		}
		if by := l.moved(p.clock); by != 0 {
			// In a quarantine that another proxy began no vote from before it counts, and
			// this proxy has given the master nothing yet that the jump could have taken.
			another := s == waiting && m.nonce != l.known.nonce
			if s == unmarked || another || l.engine.blameOurs(ctx, l.index, by) {
				l.settleJump(p.clock)
			} else {
				s, why = forgot, fmt.Sprintf("its clock has jumped by %v", by.Round(time.Millisecond))
			}
		}
		if s, err = l.act(ctx, link, nonceOf(a.str), m, s, why); err != nil || s != 0 {
			return err
		}
	}
	return errRestless
}

// act does what a master's standing asks for. It returns 0 if the master is to be
// examined again.
func (l *lane) act(ctx context.Context, link *link, read nonce, m marker, s standing, why string) (standing, error) {
	e := l.engine
	switch s {
	case trusted:
		l.lift(m)
		return s, nil
	case unmarked:
		l.known = marker{}
		l.withhold(nil, "it has no marker")
		e.wantsBootstrap()
		return s, nil
	case waiting:
		if l.admitted(m.nonce) {
			return 0, l.mark(link, read, l.markerOf(link, m.Installation, false, ""))
		}
		l.known = m
		l.quarantine(ctx, m)
		return s, nil
	case excused:
		return 0, l.mark(link, read, l.markerOf(link, m.Installation, false, ""))
	}
	return 0, l.mark(link, read, l.markerOf(link, e.installation(), true, why))
}

// markerOf is a new marker for the lane's master.
func (l *lane) markerOf(link *link, installation string, provisional bool, why string) marker {
	return marker{
		nonce:        newNonce(provisional),
		Installation: installation,
		Member:       l.master.Name,
		terms:        l.engine.terms,
		RunID:        link.who.runID,
		Durable:      link.who.durable,
		Why:          why,
	}
}

// mark writes a marker in the place of the one that was read. If it is another by
// now, nothing is written.
func (l *lane) mark(link *link, read nonce, m marker) error {
	m.Was = read
	a, p, err := link.do(markScript.eval(MarkerKey, string(read), m.String())...)
	if err != nil {
		return err
	}
	l.tick(p)
	if a.kind == FailureReply {
		return errors.New(a.str)
	}
	if m.nonce.provisional() && a.str == m.String() {
		l.settleJump(p.clock)
	}
	return nil
}

// lift has the master vote.
func (l *lane) lift(m marker) {
	l.known = m
	l.mu.Lock()
	defer l.mu.Unlock()
	l.endQuarantine()
	l.withheld, l.why, l.nonce, l.sighted = false, "", m.nonce, l.anchor
	l.show()
}

// withhold has the master's votes count for nothing, for a reason, while q lasts
// if there is one. What was queued for it and asks for a vote is answered.
func (l *lane) withhold(q *quarantine, why string) {
	l.mu.Lock()
	if l.ward != q {
		l.endQuarantine()
	}
	l.ward, l.withheld, l.why, l.nonce = q, true, why, ""
	var moot []*op
	kept := l.queue[:0]
	for _, o := range l.queue {
		if o.needsNoVote() {
			kept = append(kept, o)
		} else {
			moot = append(moot, o)
		}
	}
	clear(l.queue[len(kept):])
	l.queue = kept
	l.show()
	l.mu.Unlock()
	now := time.Now()
	for _, o := range moot {
		l.vote(o, Withheld, false, now)
	}
	l.flushAll()
	dropAll(moot)
}

// needsNoVote tells that an op is sent to a master that must not vote, too: it may
// still hold what is to be freed.
func (o *op) needsNoVote() bool {
	return o.Kind == Release || o.Kind == Remove || o.Kind == Survey
}

// withheld is what a vote is worth whose master is not known to remember: nothing,
// but for a release that found the lock there and deleted it.
func (o *op) withheld(v Vote, did bool) Vote {
	if v == Unknown || did && (o.Kind == Release || o.Kind == Remove) {
		return v
	}
	return Withheld
}

// show enters the state that the lane is in while it has a link. mu is held.
func (l *lane) show() {
	was := l.state
	switch {
	case !l.open:
		return
	case !l.withheld:
		l.enter(Voting, "")
	case l.ward != nil && l.ward.catching.Load():
		l.enter(CatchingUp, l.why)
	default:
		l.enter(Quarantined, l.why)
	}
	if was != l.state && !(was == CatchingUp && l.state == Quarantined) {
		l.tell()
	}
}

// tell logs the state that was entered. mu is held.
func (l *lane) tell() {
	switch l.state {
	case Voting:
		l.log.Info("master is voting", "run_id", l.who.runID, "version", l.who.version)
	case Quarantined:
		l.log.Warn("master is quarantined", "reason", l.why)
	case CatchingUp:
		if !l.ward.told {
			l.ward.told = true
			l.log.Info("master is catching up")
		}
	case Drained:
		l.log.Warn("master is drained")
	}
}
