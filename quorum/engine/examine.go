package engine

import (
	"context"
	"errors"
	"fmt"
	"time"

	"redlock-proxy/quorum"
	"redlock-proxy/quorum/clock"
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
		k.doubt = k.doubt || p.Nonce != "" || k.db.engine.installation.metMarker() != nil
		return !k.doubt
	}
	// Of batches side by side, one may be answered behind a later one that raised the doubt.
	if by := k.look(p.Clock); by != 0 || k.doubt || p.Nonce != k.known.Nonce || k.outdated() {
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

// outdated tells that all masters are to be looked at anew, and this one was not yet.
func (k *keeper) outdated() bool {
	return !k.db.alone() && k.era != k.db.engine.installation.era.Load()
}

// examine looks at the master and acts on it: its votes count from now on, or are
// withheld. An error means that nothing may be sent to it.
func (k *keeper) examine(ctx context.Context, link *master.Link) error {
	k.doubt, k.era = false, k.db.engine.installation.era.Load()
	if k.db.alone() {
		return k.standAlone(link)
	}
	e := examination{keeper: k, link: link}
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
		if p.Nonce != marker.NonceOf(a.Str) || !e.reads(ctx, a.Str) {
			continue
		}
		if e.err != nil {
			return e.err
		}
		if err := k.db.engine.installation.barring(); err != nil {
			k.known = marker.Marker{}
			k.see(marker.Sight{})
			k.withhold(nil, err.Error())
			return k.withdraw(link, e.marker)
		}
		if !e.compares(ctx) || !e.clocks(ctx, p.Clock) {
			continue
		}
		if s, err := k.act(ctx, link, marker.NonceOf(a.Str), e.marker, e.verdict, e.why); err != nil || s != 0 {
			return err
		}
	}
	return errRestless
}

// examination is what a master's marker, which was just read, makes of it. Each of its steps
// tells whether it is over, or the marker is to be read again.
type examination struct {
	*keeper
	link *master.Link

	marker  marker.Marker
	verdict marker.Verdict
	why     string
	err     error

	looked bool // at the server itself
	asked  bool // the others
	vague  int  // looks at its clock
}

// reads judges the marker by itself.
func (e *examination) reads(ctx context.Context, text string) bool {
	ours := &e.db.engine.installation
	e.marker, e.verdict, e.why, e.err = marker.Examine(text, e.link.Who, e.master.Name, e.master.DB, ours.terms, ours.name(), ours.from())
	if e.err != nil {
		again := e.marker.OfAnEarlier(e.link.Who) && !e.asked
		if again {
			e.asked = true
			e.awaitOthers(ctx)
		}
		return !again
	}
	if e.past.replaced(e.marker.Nonce) && (e.verdict == marker.Trusted || e.verdict == marker.Waiting) {
		e.verdict, e.why = marker.Forgot, "its marker is one that had been replaced"
	}
	if (e.verdict == marker.Forgot || e.verdict == marker.Emptied) && !e.looked {
		// Another proxy may have written the marker since the server was looked at.
		e.looked, e.err = true, e.link.Info()
		return e.err != nil
	}
	return true
}

// compares holds it against what was known of the master, and is of the others.
func (e *examination) compares(ctx context.Context) bool {
	if lost := e.known.Since(e.link.Who); e.verdict == marker.Emptied && lost != "" {
		e.verdict, e.why = marker.Forgot, lost // its marker was among what has gone
	}
	if e.verdict == marker.Emptied && !e.anotherVotesNow(ctx) {
		e.verdict = marker.Unmarked
	}
	// If it is not the one, another lane has learned of another one meanwhile.
	return e.verdict == marker.Foreign || e.verdict == marker.Outdated || e.marker.Installation == "" ||
		e.db.learn(e.marker.Installation, e.marker.From)
}

// clocks judges it by how the master's clock has run.
func (e *examination) clocks(ctx context.Context, now clock.Sample) bool {
	// After a loss that another proxy tells of no vote from before it counts. It tells of
	// jumps from before as long as the master is quarantined; then it may have granted
	// something since that a later jump has taken. A first one may not be told in all
	// databases.
	m := e.marker
	told := m.Loss != "" && m.Loss != e.known.Loss && m.Nonce.Provisional() && !m.First
	if by := e.look(now); by != 0 {
		if e.watch.Found() != e.met {
			return false // this marker may not tell of it
		}
		if e.vague++; e.watch.Latest().Vague && e.vague < vagueLooks {
			return false
		}
		if e.verdict == marker.Unmarked || e.verdict == marker.Foreign || told || e.db.blameOurs(ctx, e.index, by) {
			e.settleJump(now)
			e.untold = e.untold || e.verdict == marker.Unmarked
		} else {
			e.verdict, e.why = marker.Forgot, fmt.Sprintf("its clock has jumped by %v", by.Round(time.Millisecond))
		}
	}
	if e.untold && (e.verdict == marker.Trusted || e.verdict == marker.Waiting || e.verdict == marker.Emptied || e.verdict == marker.Excused) {
		e.verdict, e.why = marker.Forgot, "its clock had jumped while it had no marker"
	}
	return true
}

// act does what a master's state asks for. It returns 0 if the master is to be
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
		gone := k.markerOf(link, db.engine.installation.name(), k.known.Loss)
		gone.Nonce, gone.Why = marker.NewNonce(true), why
		return 0, k.mark(link, read, gone)
	}
	lost := k.markerOf(link, db.engine.installation.name(), marker.NewInstallation())
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
	for began := db.Boot(); ctx.Err() == nil && db.Boot()-began < db.ConnectTimeout && db.engine.installation.from() == ""; {
		clock.Pause(ctx, db.ConnectTimeout/50)
	}
}
