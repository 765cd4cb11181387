package engine

import (
	"context"
	"slices"
	"sync"
	"time"

	"redlock-proxy/quorum"
	"redlock-proxy/quorum/clock"
)

// Whose clock has jumped: a master's, or ours.

// jumps are the last of each master's clock, as the lanes of a database have seen them.
type jumps struct {
	mu   sync.Mutex // guards list
	list []clock.Jump
}

func (j *jumps) note(i int, at clock.Jump) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.list[i] = at
}

func (j *jumps) all() []clock.Jump {
	j.mu.Lock()
	defer j.mu.Unlock()
	return slices.Clone(j.list)
}

// blameOurs tells, when a master's clock seems to have jumped, whether it was ours
// in truth: if a quorum of them seems to have jumped alike, none runs as it did, and our
// own wall clock did not go along. It waits a little for the others to be looked at.
//
// What is excused is not known of any more, so it may be no more than could hide at any
// time. A look that is much less exact than those before it excuses nothing.
func (db *database) blameOurs(ctx context.Context, i int, by time.Duration) bool {
	now := db.lanes[i].watch.Latest()
	if now.Vague {
		return false
	}
	db.jumps.note(i, now)
	ours := by.Abs() // what our wall clock may not have moved by
	if own := db.engine.installation.wallMoved(db.wallClock()).Abs(); own > ours/2 {
		return false
	}
	for deadline := db.Boot() + db.AcquireTimeout; ctx.Err() == nil; clock.Pause(ctx, db.AcquireTimeout/50) {
		for _, l := range db.lanes {
			l.queue.rouseNow()
		}
		last := db.Boot() >= deadline
		if ours, sure := db.jumpedTogether(now); !ours && last {
			break
		} else if ours && (sure || last) {
			db.log.Warn("the clocks of a quorum of masters seem to have jumped together, so it was this machine's that stopped", "by", by.Round(time.Millisecond))
			return true
		}
	}
	return false
}

// jumpedTogether tells whether the masters' clocks seem to have jumped together as one of
// them has, and whether all that can be looked at have been. One that has jumped by more, or
// by less, was set besides.
func (db *database) jumpedTogether(as clock.Jump) (ours, sure bool) {
	now := db.Boot()
	recent := make([]clock.Jump, len(db.lanes))
	first := now
	for i, j := range db.jumps.all() {
		if j != (clock.Jump{}) && now-j.To <= 2*db.ProbeInterval {
			recent[i], first = j, min(first, j.To)
		}
	}
	sure = true
	for i, l := range db.lanes {
		switch {
		case recent[i] != (clock.Jump{}):
		case time.Duration(l.keeper.steady.Load()) > first:
			return false, true // its clock would have jumped as well
		default:
			l.mu.Lock()
			sure = sure && !l.open
			l.mu.Unlock()
		}
	}
	return clock.Together(recent, as, quorum.QuorumOf(len(db.lanes))), sure
}

// wallClock is a look at our own wall clock.
func (c *Config) wallClock() clock.Sample {
	if c.Clock != nil {
		boot, wall := c.Clock()
		return clock.Sample{At: time.Duration(wall.UnixNano()), Sent: boot, Read: boot}
	}
	sent := clock.BootTime()
	at := time.Now().UnixNano()
	return clock.Sample{At: time.Duration(at), Sent: sent, Read: clock.BootTime()}
}

// watchOwnClock notes how our own wall clock runs beside our other one.
func (db *database) watchOwnClock() {
	db.engine.installation.watchWall(db.wallClock(), 2*db.ProbeInterval)
}

// watchWall notes a look at our wall clock, unless the one that is known is younger.
func (i *installation) watchWall(now clock.Sample, younger time.Duration) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.wall == (clock.Sample{}) || now.Read-i.wall.Read >= younger {
		i.wall = now
	}
}

// wallMoved is by how much our wall clock did not run as our other one since it was noted.
func (i *installation) wallMoved(now clock.Sample) time.Duration {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.wall.Moved(now)
}
