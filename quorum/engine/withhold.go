package engine

import (
	"time"

	"redlock-proxy/quorum"
	"redlock-proxy/quorum/marker"
)

// Whether the votes of a lane count, and what of it is shown and told.

// lift has the master vote. Of a log that was switched off while nobody looked, its marker
// says nothing yet.
func (k *keeper) lift(m marker.Marker, who marker.Identity) {
	k.db.engine.installation.sawVote()
	k.mu.Lock()
	defer k.mu.Unlock()
	k.knows(m)
	k.sight = marker.Sight{Reached: true, Nonce: m.Nonce, Installation: m.Installation, Votes: true}
	k.endQuarantine()
	k.withheld, k.why, k.nonce = false, "", m.Nonce
	k.diskLog, k.rewrites, k.unlogged = m.DiskLog(), m.Rewrites, false
	if !who.Logs() || m.DB == 0 && m.Rewrites != who.Rewrites {
		k.diskLog = marker.NoLog
	}
	k.show()
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
	kept := l.queue.ops[:0]
	for _, o := range l.queue.ops {
		if o.needsNoVote() {
			kept = append(kept, o)
		} else {
			moot = append(moot, o)
			l.queue.unqueued(o)
		}
	}
	clear(l.queue.ops[len(kept):])
	l.queue.ops = kept
	l.show()
	l.mu.Unlock()
	now := time.Now()
	for _, o := range moot {
		o.sent[l.index].unsent = true
		l.sender.vote(o, quorum.Withheld, false, now)
	}
	l.sender.flushAll()
	dropAll(moot)
}

// needsNoVote tells that an op is sent to a master that must not vote, too: it may
// still hold what is to be freed.
func (o *op) needsNoVote() bool {
	return o.kind().frees || o.kind().everyKey
}

// withheld is what a vote is worth whose master is not known to remember: nothing,
// but for a release that found the lock there and deleted it.
func (o *op) withheld(v quorum.Vote, did bool) quorum.Vote {
	if v == quorum.Unknown || did && o.kind().frees {
		return v
	}
	return quorum.Withheld
}

// show enters the state that the lane is in while it has a link. mu is held.
func (l *lane) show() {
	was := l.state
	switch {
	case !l.open:
		return
	case !l.withheld:
		l.enter(quorum.Voting, "")
	case l.ward != nil && l.ward.catching.Load():
		l.enter(quorum.CatchingUp, l.why)
	default:
		l.enter(quorum.Quarantined, l.why)
	}
	if was != l.state && !(was == quorum.CatchingUp && l.state == quorum.Quarantined) {
		l.tell()
	}
}

// tell logs the state that was entered. mu is held.
func (l *lane) tell() {
	switch l.state {
	case quorum.Voting:
		l.log.Info("master is voting", "run_id", l.who.RunID, "version", l.who.Version)
	case quorum.Quarantined:
		l.log.Warn("master is quarantined", "reason", l.why)
	case quorum.CatchingUp:
		if !l.ward.told {
			l.ward.told = true
			l.log.Info("master is catching up")
		}
	case quorum.Drained:
		l.log.Warn("master is drained")
	}
}
