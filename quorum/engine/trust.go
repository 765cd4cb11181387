package engine

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"redlock-proxy/quorum"
	"redlock-proxy/quorum/clock"
	"redlock-proxy/quorum/marker"
)

// trust is what the lanes of one engine know together of their masters.
type trust struct {
	terms marker.Terms
	told  clock.ToldTime

	era atomic.Uint64 // counts what has every master looked at anew

	mu           sync.Mutex   // guards what follows
	installation string       // "" until a marker was seen
	from         string       // which one it was made of by change-masters, if a marker told
	voted        bool         // a master of it has been seen to vote
	refusal      error        // the first master that is not ours
	barred       error        // why nothing is granted any more
	met          error        // why a lone proxy grants nothing: its master has a marker
	wall         clock.Sample // of our own wall clock
	jumps        []clock.Jump // the last of each master's clock
}

// alone tells that there is one master only: the proxy is then a plain lock on a
// single instance, and what that forgets is forgotten.
func (e *Engine) alone() bool { return len(e.lanes) == 1 }

// wallClock is a look at our own wall clock.
func (e *Engine) wallClock() clock.Sample {
	if e.Clock != nil {
		boot, wall := e.Clock()
		return clock.Sample{At: time.Duration(wall.UnixNano()), Sent: boot, Read: boot}
	}
	sent := clock.BootTime()
	at := time.Now().UnixNano()
	return clock.Sample{At: time.Duration(at), Sent: sent, Read: clock.BootTime()}
}

func (e *Engine) installation() string {
	t := e.trusts()
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.installation
}

// from is the installation that ours was made of by change-masters, as far as is known.
func (e *Engine) from() string {
	t := e.trusts()
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.from
}

// trusts is what is known of the masters: the same for all databases.
func (e *Engine) trusts() *trust {
	if e.root != nil {
		return &e.root.trust
	}
	return &e.trust
}

// learn notes the installation that a marker names, if none is known yet, and the one that it
// was made of. It tells whether that is the one.
func (e *Engine) learn(installation, from string) bool {
	t := e.trusts()
	t.mu.Lock()
	if t.installation == "" {
		t.installation = installation
		defer e.rouseAll()
	}
	defer t.mu.Unlock()
	if t.installation != installation {
		return false
	}
	if t.from == "" {
		t.from = from
	}
	return true
}

// adopt has the masters' installation be another, which stands in the place of what was
// known so far.
func (e *Engine) adopt(installation string) {
	t := e.trusts()
	t.mu.Lock()
	changed := t.installation != installation
	if changed {
		t.installation, t.from, t.voted = installation, "", false
		t.era.Add(1)
	}
	t.mu.Unlock()
	if changed {
		e.log.Warn("several installations of the same masters were found: this one stands", "installation", installation)
		e.rouseAll()
	}
}

// sawVote notes that a master of the installation votes: it is no first start.
func (e *Engine) sawVote() {
	t := e.trusts()
	t.mu.Lock()
	defer t.mu.Unlock()
	t.voted = true
}

// unproven tells that no master has been seen to vote.
func (e *Engine) unproven() bool {
	t := e.trusts()
	t.mu.Lock()
	defer t.mu.Unlock()
	return !t.voted
}

// rouseAll has all masters be looked at.
func (e *Engine) rouseAll() {
	for _, l := range e.lanes {
		l.queue.rouseNow()
	}
}

// refuse notes why a master is not ours, or can be none at all. Where one is that of
// proxies with other terms, nothing is granted any more: their quorums need not meet
// those of this one, and it cannot be told what has been granted there.
func (e *Engine) refuse(name string, err error) {
	t := e.trusts()
	t.mu.Lock()
	defer t.mu.Unlock()
	terms := errors.Is(err, quorum.ErrOtherTerms)
	if (terms || errors.As(err, new(*marker.Unfit))) && (t.refusal == nil || misspelt(err) && !misspelt(t.refusal)) {
		t.refusal = fmt.Errorf("master %s: %w", name, err)
	}
	if terms && t.barred == nil {
		t.barred = fmt.Errorf("master %s: %w", name, err)
		t.era.Add(1)
		e.log.Error("nothing is granted any more until this proxy is restarted", "reason", t.barred)
	}
}

// misspelt tells that a master bears another name in its set than here. The others can say
// no more than that the sets differ.
func misspelt(err error) bool {
	var other *marker.OtherTerms
	return errors.As(err, &other) && other.Misspelt()
}

// barring is why nothing is granted any more, nil if it is.
func (e *Engine) barring() error {
	t := e.trusts()
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.barred
}

// Refusal tells of a master that can be none of this proxy's, and what cures that,
// which is an ErrOtherTerms where another configuration does: its marker was written for other terms, it is another one of the
// masters, a replica or a cluster node, or it evicts keys. A proxy that meets such
// a one when it starts must not serve: with another set of masters its quorums need
// not meet those of the others, and the rest is easily mended now. Of a master that
// becomes such a one later, it is why it is down.
func (e *Engine) Refusal() error {
	e.trust.mu.Lock()
	defer e.trust.mu.Unlock()
	return e.refusal
}

// blameOurs tells, when a master's clock seems to have jumped, whether it was ours
// in truth: if a quorum of them seems to have jumped alike, none runs as it did, and our
// own wall clock did not go along. It waits a little for the others to be looked at.
//
// What is excused is not known of any more, so it may be no more than could hide at any
// time. A look that is much less exact than those before it excuses nothing.
func (e *Engine) blameOurs(ctx context.Context, i int, by time.Duration) bool {
	now := e.lanes[i].watch.Latest()
	if now.Vague {
		return false
	}
	e.trust.mu.Lock()
	if e.jumps == nil {
		e.jumps = make([]clock.Jump, len(e.lanes))
	}
	e.jumps[i] = now
	e.trust.mu.Unlock()
	ours := by.Abs() // what our wall clock may not have moved by
	t := e.trusts()  // which has looked at it before a database was opened, too
	t.mu.Lock()
	own := t.wall.Moved(e.wallClock()).Abs()
	t.mu.Unlock()
	if own > ours/2 {
		return false
	}
	for deadline := e.Boot() + e.AcquireTimeout; ctx.Err() == nil; clock.Pause(ctx, e.AcquireTimeout/50) {
		for _, l := range e.lanes {
			l.queue.rouseNow()
		}
		last := e.Boot() >= deadline
		if ours, sure := e.jumpedTogether(now); !ours && last {
			break
		} else if ours && (sure || last) {
			e.log.Warn("the clocks of a quorum of masters seem to have jumped together, so it was this machine's that stopped", "by", by.Round(time.Millisecond))
			return true
		}
	}
	return false
}

// jumpedTogether tells whether the masters' clocks seem to have jumped together as one of
// them has, and whether all that can be looked at have been. One that has jumped by more, or
// by less, was set besides.
func (e *Engine) jumpedTogether(as clock.Jump) (ours, sure bool) {
	now := e.Boot()
	recent := make([]clock.Jump, len(e.lanes))
	first := now
	e.trust.mu.Lock()
	for i, j := range e.jumps {
		if j != (clock.Jump{}) && now-j.To <= 2*e.ProbeInterval {
			recent[i], first = j, min(first, j.To)
		}
	}
	e.trust.mu.Unlock()
	sure = true
	for i, l := range e.lanes {
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
	return clock.Together(recent, as, quorum.QuorumOf(len(e.lanes))), sure
}

// watchOwnClock notes how our own wall clock runs beside our other one.
func (e *Engine) watchOwnClock() {
	now := e.wallClock()
	e.trust.mu.Lock()
	defer e.trust.mu.Unlock()
	if e.wall == (clock.Sample{}) || now.Read-e.wall.Read >= 2*e.ProbeInterval {
		e.wall = now
	}
}
