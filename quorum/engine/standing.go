package engine

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"redlock-proxy/quorum"
	"redlock-proxy/quorum/catchup"
	"redlock-proxy/quorum/clock"
	"redlock-proxy/quorum/decide"
	"redlock-proxy/quorum/marker"
	"redlock-proxy/quorum/master"
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
func (k *keeper) proven(p master.Proof) bool {
	if k.db.alone() {
		k.doubt = k.doubt || p.Nonce != "" || k.db.engine.trust.metMarker() != nil
		return !k.doubt
	}
	// Of batches side by side, one may be answered behind a later one that raised the doubt.
	if by := k.look(p.Clock); by != 0 || k.doubt || p.Nonce != k.known.Nonce || k.era != k.db.engine.trust.era.Load() {
		k.doubt = true
		return false
	}
	if k.known.Nonce == "" {
		k.doubt = true // what becomes of it depends on what the other lanes have seen
	}
	if p.Clock.Vague(k.db.AcquireTimeout) {
		return false
	}
	k.steady.Store(int64(p.Clock.Sent))
	return k.known.Nonce != "" && !k.known.Nonce.Provisional()
}

// tick notes the master's clock for those who ask for the time.
func (l *lane) tick(p master.Proof) {
	if !p.Clock.Vague(l.db.AcquireTimeout) {
		l.clock.Store(int64(p.Clock.At - (p.Clock.Sent+p.Clock.Read)/2))
		l.clockSeen.Store(int64(p.Clock.Read))
	}
}

// vagueLooks is how often a clock that has jumped is looked at until a look is exact.
const vagueLooks = 4

// errRestless says that a master's marker changed whenever it was looked at.
var errRestless = errors.New("its marker changes all the time")

// stand examines the master and acts on it: its votes count from now on, or are
// withheld. An error means that nothing may be sent to it.
func (k *keeper) stand(ctx context.Context, link *master.Link) error {
	k.doubt, k.era = false, k.db.engine.trust.era.Load()
	if k.db.alone() {
		return k.standAlone(link)
	}
	looked, asked, again := false, false, 0
	for range 16 {
		k.met = k.watch.Found()
		a, p, err := link.Do("GET", quorum.MarkerKey)
		if err != nil {
			return err
		}
		if a.Kind == quorum.FailureReply {
			return errors.New(a.Str)
		}
		k.tick(p)
		if p.Nonce != marker.NonceOf(a.Str) {
			continue
		}
		m, s, why, err := marker.Examine(a.Str, link.Who, k.master.Name, k.master.DB, k.db.engine.trust.terms, k.db.engine.trust.installation(), k.db.engine.trust.from())
		if err != nil {
			if m.OfAnEarlier(link.Who) && !asked {
				asked = true
				k.awaitOthers(ctx)
				continue
			}
			return err
		}
		if k.past.replaced(m.Nonce) && (s == marker.Trusted || s == marker.Waiting) {
			s, why = marker.Forgot, "its marker is one that had been replaced"
		}
		if (s == marker.Forgot || s == marker.Emptied) && !looked {
			// Another proxy may have written the marker since the server was looked at.
			if looked, err = true, link.Look(); err != nil {
				return err
			}
			continue
		}
		if err := k.db.engine.trust.barring(); err != nil {
			k.known = marker.Marker{}
			k.see(marker.Sight{})
			k.withhold(nil, err.Error())
			return k.withdraw(link, m)
		}
		if lost := k.known.Since(link.Who); s == marker.Emptied && lost != "" {
			s, why = marker.Forgot, lost // its marker was among what has gone
		}
		if s == marker.Emptied && !k.anotherVotesNow(ctx) {
			s = marker.Unmarked
		}
		if s != marker.Foreign && s != marker.Outdated && m.Installation != "" && !k.db.learn(m.Installation, m.From) {
			continue // another lane has learned of another one meanwhile
		}
		// After a loss that another proxy tells of no vote from before it counts. It tells of
		// jumps from before as long as the master is quarantined; then it may have granted
		// something since that a later jump has taken. A first one may not be told in all
		// databases.
		told := m.Loss != "" && m.Loss != k.known.Loss && m.Nonce.Provisional() && !m.First
		if by := k.look(p.Clock); by != 0 {
			if k.watch.Found() != k.met {
				continue // this marker may not tell of it
			}
			if again++; k.watch.Latest().Vague && again < vagueLooks {
				continue
			}
			if s == marker.Unmarked || s == marker.Foreign || told || k.db.blameOurs(ctx, k.index, by) {
				k.settleJump(p.Clock)
				k.untold = k.untold || s == marker.Unmarked
			} else {
				s, why = marker.Forgot, fmt.Sprintf("its clock has jumped by %v", by.Round(time.Millisecond))
			}
		}
		if k.untold && (s == marker.Trusted || s == marker.Waiting || s == marker.Emptied || s == marker.Excused) {
			s, why = marker.Forgot, "its clock had jumped while it had no marker"
		}
		if s, err = k.act(ctx, link, marker.NonceOf(a.Str), m, s, why); err != nil || s != 0 {
			return err
		}
	}
	return errRestless
}

// act does what a master's standing asks for. It returns 0 if the master is to be
// examined again.
func (k *keeper) act(ctx context.Context, link *master.Link, read marker.Nonce, m marker.Marker, s marker.Verdict, why string) (marker.Verdict, error) {
	db := k.db
	switch s {
	case marker.Trusted:
		k.lift(m, link.Who)
		if m.Ghosts && k.haunted != m.Nonce {
			k.haunted = m.Nonce
			own := k.admits == m.Nonce
			db.wait.Go(func() { k.layGhosts(ctx, m.Nonce, own) })
		}
		return s, nil
	case marker.Unmarked:
		k.known.Nonce = "" // what it lost since is told of the whole master all the same
		k.see(marker.Sight{Reached: true})
		return k.markFirst(link)
	case marker.Foreign:
		return k.join(link, read, m)
	case marker.Waiting:
		if k.admitted(m.Nonce) {
			return 0, k.admit(link, read, m)
		}
		k.mu.Lock()
		k.knows(m)
		k.mu.Unlock()
		k.see(marker.Sight{Reached: true, Nonce: m.Nonce, Installation: m.Installation, First: m.First})
		k.quarantine(ctx, m)
		return s, nil
	case marker.Excused:
		log, yes, err := k.wholeLog(ctx, link.Who, m)
		if err != nil {
			return s, err
		}
		if yes {
			next := k.markerOf(link, m.Installation, m.Loss)
			next.Others, next.Ghosts, next.Whole = db.logsBeside(k.lane, m.Others), m.Ghosts, k.master.DB == 0
			if next.Log == "" { // it still writes the log that it has read
				next.Log = log
			}
			return 0, k.mark(link, read, next)
		}
		s, why = marker.Restarted, "its process was started anew, and it is not known that its log is whole"
	case marker.Emptied:
		gone := k.markerOf(link, db.engine.trust.installation(), k.known.Loss)
		gone.Nonce, gone.Why = marker.NewNonce(true), why
		return 0, k.mark(link, read, gone)
	}
	lost := k.markerOf(link, db.engine.trust.installation(), marker.NewInstallation())
	lost.Why, lost.First = why, m.First && !k.anotherVotes()
	spared, of := "", lost.Installation
	if s == marker.Restarted || s == marker.Outdated {
		spared = link.Who.RunID
	}
	if s == marker.Outdated {
		of = m.Installation
	}
	return 0, k.markAll(link, read, lost, of, spared)
}

// awaitOthers waits a little until the marker of another master has told of which installation
// it is, and of which one that was made.
func (k *keeper) awaitOthers(ctx context.Context) {
	db := k.db
	for began := db.Boot(); ctx.Err() == nil && db.Boot()-began < db.ConnectTimeout && db.engine.trust.from() == ""; {
		clock.Pause(ctx, db.ConnectTimeout/50)
	}
}

// markerOf is a new marker for the lane's master, by which it votes.
func (k *keeper) markerOf(link *master.Link, installation, loss string) marker.Marker {
	m := marker.Marker{
		Nonce:        marker.NewNonce(false),
		Installation: installation,
		Member:       k.master.Name,
		DB:           k.master.DB,
		Terms:        k.db.engine.trust.terms,
		RunID:        link.Who.RunID,
		Durable:      link.Who.Logs(),
		Rewrites:     link.Who.Rewrites,
		Loss:         loss,
		From:         k.db.engine.trust.from(),
		Evicted:      link.Who.Evicted,
		Replication:  link.Who.Replication,
	}
	if m.Durable && m.Rewrites > 0 {
		m.Log = marker.NewInstallation() // others may have been told of this process's first one
	}
	if k.master.DB == 0 {
		m.Others = k.db.logsBeside(k.lane, k.known.Others)
	}
	return m
}

// markAll writes a provisional marker, as lost is but for its nonce, in each database in
// which there is none or one of an installation, if in this one stands what was read.
// What already stands in others of a process that is spared is left there.
func (k *keeper) markAll(link *master.Link, read marker.Nonce, lost marker.Marker, installation, spared string) error {
	of := fmt.Sprintf("%q:%q", "installation", installation)
	if k.untold {
		spared = ""
	}
	if spared != "" {
		spared = fmt.Sprintf("%q:%q", "run_id", spared)
	}
	args := []string{string(read), strconv.Itoa(k.master.DB), of, spared}
	var own marker.Nonce
	for db := range quorum.Databases {
		lost.Nonce, lost.DB = marker.NewNonce(true), db
		if db == 1 {
			lost.Others = nil
		}
		if db == k.master.DB {
			own, lost.Was = lost.Nonce, k.replaces(read)
		} else {
			lost.Was = marker.AnyNonce
		}
		args = append(args, lost.String())
	}
	a, p, err := link.Do(master.LossScript.Eval(quorum.MarkerKey, args...)...)
	if err != nil {
		return err
	}
	k.tick(p)
	if a.Kind == quorum.FailureReply {
		return errors.New(a.Str)
	}
	if marker.NonceOf(a.Str) == own {
		k.settleJump(p.Clock)
		k.untold = false
		k.hearsStandings(decide.Answer{}, p.Clock.Read) // they are others by now
	}
	return nil
}

// replaces is the nonce that a marker is to name as the one before it. One that is gone was
// there a moment ago, and what the master has granted since is undone by that nonce:
//
//	1: master 1 is flushed, and grants k to B, who is refused by 2 and 3
//	2: its marker is written anew; B's grant is to be taken back
//	3: master 3 forgets, and were k still on 1, 3 would be given it: nobody gets k
//
// If copies had been given since this proxy saw it, their lease would still be there.
func (k *keeper) replaces(read marker.Nonce) marker.Nonce {
	if read == "" && k.db.Boot()-time.Duration(k.steady.Load()) < catchup.LeaseTime/2 {
		return k.known.Nonce
	}
	return read
}

// mark writes a marker in the place of the one that was read. If it is another by
// now, nothing is written.
func (k *keeper) mark(link *master.Link, read marker.Nonce, m marker.Marker) error {
	if m.Nonce != read {
		m.Was = k.replaces(read)
	}
	a, p, err := link.Do(master.MarkScript.Eval(quorum.MarkerKey, string(read), m.String())...)
	if err != nil {
		return err
	}
	k.tick(p)
	if a.Kind == quorum.FailureReply {
		return errors.New(a.Str)
	}
	return nil
}

// lift has the master vote. Of a log that was switched off while nobody looked, its marker
// says nothing yet.
func (k *keeper) lift(m marker.Marker, who marker.Identity) {
	k.db.engine.trust.sawVote()
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
		l.vote(o, quorum.Withheld, false, now)
	}
	l.flushAll()
	dropAll(moot)
}

// needsNoVote tells that an op is sent to a master that must not vote, too: it may
// still hold what is to be freed.
func (o *op) needsNoVote() bool {
	return o.Kind == quorum.Release || o.Kind == quorum.Remove || o.Kind == quorum.Survey
}

// withheld is what a vote is worth whose master is not known to remember: nothing,
// but for a release that found the lock there and deleted it.
func (o *op) withheld(v quorum.Vote, did bool) quorum.Vote {
	if v == quorum.Unknown || did && (o.Kind == quorum.Release || o.Kind == quorum.Remove) {
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
