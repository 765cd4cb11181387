package quorum

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// trust is what the lanes of one engine know together of their masters.
type trust struct {
	terms

	mu           sync.Mutex // guards what follows
	installation string     // "" until a marker was seen
	refusal      error      // the first master that is not ours
	asked        bool       // bootstrap was asked for
	wall         sighting   // of our own wall clock
	jumps        []jump     // the last of each master's clock
}

// jump is by how much a master's clock seems to have jumped, and when.
type jump struct{ by, at time.Duration }

// alone tells that there is one master only: the proxy is then a plain lock on a
// single instance, and what that forgets is forgotten.
func (e *Engine) alone() bool { return len(e.lanes) == 1 }

// boot is our clock, for what must go on while the machine sleeps.
func (e *Engine) boot() time.Duration {
	if e.Clock != nil {
		boot, _ := e.Clock()
		return boot
	}
	return bootTime()
}

// wallClock is a look at our own wall clock.
func (e *Engine) wallClock() sighting {
	if e.Clock != nil {
		boot, wall := e.Clock()
		return sighting{at: time.Duration(wall.UnixNano()), sent: boot, read: boot}
	}
	sent := bootTime()
	at := time.Now().UnixNano()
	return sighting{at: time.Duration(at), sent: sent, read: bootTime()}
}

func (e *Engine) installation() string {
	t := e.trusts()
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.installation
}

// trusts is what is known of the masters: the same for all databases.
func (e *Engine) trusts() *trust {
	if e.root != nil {
		return &e.root.trust
	}
	return &e.trust
}

// learn notes the installation that a marker names. Masters of two are no set.
func (e *Engine) learn(installation string) error {
	t := e.trusts()
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.installation == "" {
		t.installation = installation
	}
	if t.installation != installation {
		return fmt.Errorf("its marker is of installation %s, the other masters' is of %s", installation, t.installation)
	}
	return nil
}

// refuse notes why a master is not ours, or can be none at all.
func (e *Engine) refuse(name string, err error) {
	t := e.trusts()
	t.mu.Lock()
	defer t.mu.Unlock()
	var other *errOtherTerms
	var unfit *errUnfit
	if t.refusal == nil && (errors.As(err, &other) || errors.As(err, &unfit)) {
		t.refusal = fmt.Errorf("master %s: %w", name, err)
	}
}

// Refusal tells of the first master that can be none of this proxy's, and what
// cures that: its marker was written for other terms, it is another one of the
// masters, a replica or a cluster node, or it evicts keys. A proxy that meets such
// a one when it starts must not serve: with another set of masters its quorums need
// not meet those of the others, and the rest is easily mended now. Of a master that
// becomes such a one later, it is why it is down.
func (e *Engine) Refusal() error {
	e.trust.mu.Lock()
	defer e.trust.mu.Unlock()
	return e.refusal
}

// wantsBootstrap says once what a proxy needs that has found no marker yet.
func (e *Engine) wantsBootstrap() {
	t := e.trusts()
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.asked && t.installation == "" && e.root == nil {
		t.asked = true
		e.log.Warn("no marker was found, so it cannot be told whether the masters remember what they granted: " +
			"if this set of masters is new, run redlock-proxy bootstrap with the same options once")
	}
}

// blameOurs tells, when a master's clock seems to have jumped, whether it was ours
// in truth: if a quorum of them seems to have jumped alike, none runs as it did, and our
// own wall clock did not go along. It waits a little for the others to be looked at.
func (e *Engine) blameOurs(ctx context.Context, i int, by time.Duration) bool {
	e.trust.mu.Lock()
	if e.jumps == nil {
		e.jumps = make([]jump, len(e.lanes))
	}
	e.jumps[i] = jump{by, e.boot()}
	ours := by.Abs() // what our wall clock may not have moved by
	own := e.wall.moved(e.wallClock()).Abs()
	e.trust.mu.Unlock()
	if own > ours/2 {
		return false
	}
	for deadline := e.boot() + e.AcquireTimeout; ctx.Err() == nil; pause(ctx, e.AcquireTimeout/50) {
		for _, l := range e.lanes {
			l.rouseNow()
		}
		last := e.boot() >= deadline
		if ours, sure := e.jumpedTogether(); !ours && last {
			break
		} else if ours && (sure || last) {
			e.log.Warn("the clocks of a quorum of masters seem to have jumped together, so it was this machine's that stopped", "by", by.Round(time.Millisecond))
			return true
		}
	}
	return false
}

// jumpedTogether tells whether the masters' clocks seem to have jumped together, and
// whether all that can be looked at have been.
func (e *Engine) jumpedTogether() (ours, sure bool) {
	now := e.boot()
	recent := make([]time.Duration, len(e.lanes))
	first := now
	e.trust.mu.Lock()
	for i, j := range e.jumps {
		if j.by != 0 && now-j.at <= 2*e.ProbeInterval {
			recent[i], first = j.by, min(first, j.at)
		}
	}
	e.trust.mu.Unlock()
	sure = true
	for i, l := range e.lanes {
		switch {
		case recent[i] != 0:
		case time.Duration(l.steady.Load()) > first:
			return false, true // its clock would have jumped as well
		default:
			l.mu.Lock()
			sure = sure && !l.open
			l.mu.Unlock()
		}
	}
	return together(recent, quorumOf(len(e.lanes))), sure
}

// watchOwnClock notes how our own wall clock runs beside our other one.
func (e *Engine) watchOwnClock() {
	now := e.wallClock()
	e.trust.mu.Lock()
	defer e.trust.mu.Unlock()
	if e.wall == (sighting{}) || now.read-e.wall.read >= 2*e.ProbeInterval {
		e.wall = now
	}
}
