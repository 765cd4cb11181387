package engine

import (
	"time"

	"redlock-proxy/quorum"
	"redlock-proxy/quorum/clock"
	"redlock-proxy/quorum/marker"
)

// What lanes know of their masters' clocks, and a database of the time of day.

// now is Engine.Now.
func (db *database) now() (now time.Time, known bool) {
	var room [quorum.MaxMasters]time.Duration
	boot := db.Boot()
	ahead, known := clock.TimeOfDay(db.clocks(room[:0], boot), quorum.QuorumOf(len(db.lanes)))
	if !known {
		return now, false
	}
	at, known := db.engine.installation.told.Tell(boot + ahead)
	return time.Unix(0, int64(at)), known
}

// clocks appends by how much the clocks of the masters are ahead of ours that were seen
// lately.
func (db *database) clocks(list []time.Duration, boot time.Duration) []time.Duration {
	for _, l := range db.lanes {
		if ahead, known := l.ahead(); known && boot-time.Duration(l.clockSeen.Load()) <= clock.CarriedOn {
			list = append(list, ahead)
		}
	}
	return list
}

// ahead is by how much the master's clock was ahead of ours when it was last seen.
func (l *lane) ahead() (by time.Duration, known bool) {
	known = l.clockSeen.Load() != 0 // first, as it is told last
	return time.Duration(l.clock.Load()), known
}

// sleepNoticed is how long this machine must have slept for anybody to care.
const sleepNoticed = 20 * time.Millisecond

// noticeSleep finds out, by a look at both of our clocks, that the machine slept:
// one of them stood still then.
func (db *database) noticeSleep(boot time.Duration, now time.Time) {
	apart := int64(boot - now.Sub(db.since))
	before := db.apart.Load()
	if apart-before > int64(sleepNoticed) && db.apart.CompareAndSwap(before, apart) {
		db.sleeps.Add(1)
	}
}

// sighted is what is known of the master's clock, for others than the lane's goroutine.
func (l *lane) sighted() clock.Anchor { return l.watch.Anchor(l.settledJumps.Load()) }

// look compares one more look at the master's clock with all before.
func (l *lane) look(now clock.Sample) time.Duration {
	l.jumped = l.watch.Look(now, l.settledJumps.Load())
	return l.jumped
}

// settleJump begins anew with a clock that jumped before the marker was last asked for:
// the marker tells of it, or it was ours. A later jump is not settled by that.
func (k *keeper) settleJump(now clock.Sample) {
	k.watch.Settle(k.met, now)
	k.settledJumps.Store(k.met)
	k.anew = time.Now()
}

// clockTold is what a lane had settled of its master's clock when it last knew its marker.
type clockTold struct {
	jumps uint64
	loss  string // that the marker named
}

// knows notes the marker that stands. mu is held.
func (l *lane) knows(m marker.Marker) {
	l.keeper.known = m
	l.clockTold = clockTold{l.settledJumps.Load(), m.Loss}
}

// follow has the lane of a database that is opened know of its master's clock what that of
// database 0 does: it has been told of no loss that the other has not.
func (l *lane) follow(zero *lane) {
	l.watch = zero.watch
	zero.mu.Lock()
	defer zero.mu.Unlock()
	l.settledJumps.Store(zero.clockTold.jumps)
	l.keeper.known.Loss = zero.clockTold.loss
}

// masterTime is what the master's clock shows when ours shows at, and how vague that is.
// mu is held.
func (l *lane) masterTime(at time.Duration) (t, vagueness time.Duration, ok bool) {
	a := l.sighted()
	return a.When(at)
}
