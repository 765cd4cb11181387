package engine

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"redlock-proxy/quorum"
	"redlock-proxy/quorum/clock"
	"redlock-proxy/quorum/decide"
	"redlock-proxy/quorum/marker"
	"redlock-proxy/quorum/master"
)

// run is the lane's goroutine. It ends when ctx does, which may be before the master was
// tried: nobody is to wait for that any more.
func (l *lane) run(ctx context.Context) {
	defer l.tried.Do(l.db.laneTried)
	for ctx.Err() == nil {
		began := time.Now()
		link, err := l.connect(ctx)
		ended := err
		if err != nil {
			l.failures.Add(1)
			l.down(ctx, err)
		} else {
			ended = l.serve(ctx, link)
			l.lose(ctx, link, ended)
		}
		l.tried.Do(l.db.laneTried)
		if errors.Is(ended, quorum.ErrOtherTerms) || errors.As(ended, new(master.NoDatabase)) {
			clock.Pause(ctx, 10*l.db.ProbeInterval) // it is none of ours, and hardly will be
			continue
		}
		if err == nil && time.Since(began) > l.db.ProbeInterval {
			continue // at once: it may be a passing fault of the connection
		}
		clock.Pause(ctx, l.db.ProbeInterval/8+rand.N(l.db.ProbeInterval/8))
	}
}

// connect dials and identifies the master.
func (l *lane) connect(ctx context.Context) (*master.Link, error) {
	ctx, cancel := context.WithTimeout(ctx, l.db.ConnectTimeout)
	defer cancel()
	l.mu.Lock()
	predecessor := l.who
	l.mu.Unlock()
	return l.master.Link(ctx, predecessor, l.db.MasterTimeout)
}

// serve pays the debts and then carries batches to the master, until the link
// breaks or ctx ends.
func (l *lane) serve(ctx context.Context, link *master.Link) error {
	l.mu.Lock()
	l.link, l.who = link, link.Who
	l.links++
	l.enter(quorum.Connecting, "")
	l.mu.Unlock()
	l.keeper.looked = l.db.Boot() // at the gate
	// What rueidis waits for ends when the connection does.
	stop := context.AfterFunc(ctx, func() { link.Interrupt() })
	defer stop()

	if err := l.keeper.stand(ctx, link); err != nil {
		return err
	}
	if twin := l.db.claim(l.index, link.Who.RunID); twin != "" {
		return marker.Twin(twin)
	}
	l.warnOfReplicas(link.Who)
	for {
		due := l.openWhenPaid()
		if due == nil {
			break
		}
		if err := l.exchange(link, l.newBatch(due, nil)); err != nil {
			return err
		}
	}
	l.tried.Do(l.db.laneTried)
	l.troubled, l.downFor = "", nil
	if l.keeper.known.Nonce == "" && !l.db.alone() {
		l.db.rouseAll() // all of them may be there now
	}
	for {
		if err := l.carry(ctx, link); err != nil {
			return err
		}
		if l.aloft() {
			continue
		}
		if err := l.keeper.inspect(link); err != nil {
			return err
		}
		if l.keeper.doubt || l.discharged() {
			if err := l.keeper.stand(ctx, link); err != nil {
				return err
			}
		}
	}
}

// discharged tells that the master's quarantine is over, and that it is to be
// admitted.
func (l *lane) discharged() bool {
	return l.keeper.known.Nonce.Provisional() && l.admitted(l.keeper.known.Nonce)
}

// openWhenPaid returns the next debts to pay; when there are none, the queue is
// open for commands in the same step, so that none can come before a debt.
func (l *lane) openWhenPaid() []errand {
	l.mu.Lock()
	defer l.mu.Unlock()
	due, dropped := l.queue.debts.take(maxBatch, time.Now())
	l.dropped.Add(uint64(dropped))
	l.queue.carried = len(due)
	if len(due) == 0 {
		l.open, l.opened = true, time.Now()
		l.show()
		return nil
	}
	errands := make([]errand, len(due))
	for i, d := range due {
		l.queue.tries(&d)
		errands[i] = errand{debt: d}
	}
	return errands
}

// calmTime is how long a master must have refused nothing before it is told to accept
// commands again: one that refuses to write answers reads in between.
const calmTime = 10 * time.Second

// trouble looks at an error that a master answered about itself: "" if it did not. Some mean
// that it is not what it was at the gate, and end the link.
func (l *lane) trouble(text string, now time.Time) error {
	if text == "" {
		if l.troubled != "" && now.Sub(l.refused) >= calmTime {
			l.troubled = ""
			l.log.Info("master accepts commands again")
		}
		return nil
	}
	l.refused = now
	a := decide.Answer{Kind: quorum.FailureReply, Str: text}
	if a.RefusesToWrite() {
		return master.Trouble(text)
	}
	for _, code := range []string{"NOSCRIPT", "LOADING", "READONLY", "NOAUTH", "MASTERDOWN", "CLUSTERDOWN", "MOVED"} {
		if a.Failed(code) {
			return master.Trouble(text)
		}
	}
	l.suspects = l.suspects || !a.Failed("OOM ")
	if code, _, _ := strings.Cut(text, " "); code != l.troubled {
		l.troubled = code
		l.log.Warn("master refuses commands", "error", text)
	}
	return nil
}

// lose ends a link that broke, or that ctx ended.
func (l *lane) lose(ctx context.Context, link *master.Link, err error) {
	link.Close()
	l.ground(link)
	l.abandon(nil, nil, time.Now())
	l.mu.Lock()
	l.link, l.sight, l.across = nil, marker.Sight{}, standings{}
	l.mu.Unlock()
	l.db.unclaim(l.index)
	if unfit := new(marker.Unfit); errors.As(err, &unfit) && l.db.isZero() {
		l.db.engine.meetAgain(l.index)
	}
	l.down(ctx, err)
}

// meetAgain has the other databases' lanes of a master go through the gate again: what
// was found out about it in database 0 is about them as well.
func (e *Engine) meetAgain(i int) {
	for _, db := range e.opened() {
		l := db.lanes[i]
		l.mu.Lock()
		if l.link != nil {
			l.link.Interrupt()
			l.queue.rouse()
		}
		l.mu.Unlock()
	}
}

// down notes why there is no link, and says so once.
func (l *lane) down(ctx context.Context, err error) {
	if ctx.Err() != nil {
		return
	}
	l.db.engine.trust.refuse(l.master.Name, err)
	if lacked := master.NoDatabase(0); errors.As(err, &lacked) {
		l.lacks(lacked)
	}
	reason := master.ReasonOf(err)
	l.mu.Lock()
	l.enter(quorum.Down, reason)
	drained := l.drained
	l.mu.Unlock()
	switch {
	case drained:
		l.log.Debug("drained master is not there", "reason", reason)
	case slices.Contains(l.downFor, reason):
	case len(l.downFor) == 0:
		l.downFor = []string{reason}
		l.log.Warn("master is down", "reason", reason)
	case len(l.downFor) < maxReasons:
		l.downFor = append(l.downFor, reason)
		l.log.Warn("master is down for another reason now", "reason", reason)
	}
}

// maxReasons is how many reasons why a master is down are logged until it is up again,
// each once: they may take turns.
const maxReasons = 8

// enter changes the state; that of a drained master is told as the reason. mu is
// held.
func (l *lane) enter(s quorum.State, reason string) {
	if l.drained {
		s, reason = quorum.Drained, drainedReason(s, reason)
	}
	if l.state != s {
		l.since = time.Now()
	}
	l.state, l.reason = s, reason
}
