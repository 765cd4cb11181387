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
func (c *connector) run(ctx context.Context) {
	defer c.tried.Do(c.db.laneTried)
	for ctx.Err() == nil {
		began := time.Now()
		link, err := c.connect(ctx)
		why := err
		if err != nil {
			c.failures.Add(1)
			c.down(ctx, err)
		} else {
			why = c.serve(ctx, link)
			c.lose(ctx, link, why)
		}
		c.tried.Do(c.db.laneTried)
		if errors.Is(why, quorum.ErrOtherTerms) || errors.As(why, new(master.NoDatabase)) {
			clock.Pause(ctx, 10*c.db.ProbeInterval) // it is none of ours, and hardly will be
			continue
		}
		if err == nil && time.Since(began) > c.db.ProbeInterval {
			continue // at once: it may be a passing fault of the connection
		}
		clock.Pause(ctx, c.db.ProbeInterval/8+rand.N(c.db.ProbeInterval/8))
	}
}

// connect dials and identifies the master.
func (c *connector) connect(ctx context.Context) (*master.Link, error) {
	ctx, cancel := context.WithTimeout(ctx, c.db.ConnectTimeout)
	defer cancel()
	c.mu.Lock()
	predecessor := c.who
	c.mu.Unlock()
	return c.master.Link(ctx, predecessor, c.db.MasterTimeout)
}

// serve pays the debts and then carries batches to the master, until the link
// breaks or ctx ends.
func (c *connector) serve(ctx context.Context, link *master.Link) error {
	c.mu.Lock()
	c.link, c.who = link, link.Who
	c.links++
	c.enter(quorum.Connecting, "")
	c.mu.Unlock()
	c.keeper.looked = c.db.Boot() // at the gate
	// What rueidis waits for ends when the connection does.
	stop := context.AfterFunc(ctx, func() { link.Interrupt() })
	defer stop()

	if err := c.keeper.examine(ctx, link); err != nil {
		return err
	}
	if twin := c.db.claim(c.index, link.Who.RunID); twin != "" {
		return marker.Twin(twin)
	}
	c.warnOfReplicas(link.Who)
	for {
		due := c.openWhenPaid()
		if due == nil {
			break
		}
		if err := c.sender.exchange(link, c.sender.newBatch(due, nil)); err != nil {
			return err
		}
	}
	c.tried.Do(c.db.laneTried)
	c.troubled, c.downFor = "", nil
	if c.keeper.known.Nonce == "" && !c.db.alone() {
		c.db.rouseAll() // all of them may be there now
	}
	for {
		if err := c.sender.carry(ctx, link); err != nil {
			return err
		}
		if c.sender.aloft() {
			continue
		}
		if err := c.keeper.inspect(link); err != nil {
			return err
		}
		if c.keeper.doubt || c.discharged() {
			if err := c.keeper.examine(ctx, link); err != nil {
				return err
			}
		}
	}
}

// discharged tells that the master's quarantine is over, and that it is to be
// admitted.
func (c *connector) discharged() bool {
	return c.keeper.known.Nonce.Provisional() && c.admitted(c.keeper.known.Nonce)
}

// openWhenPaid returns the next debts to pay; when there are none, the queue is
// open for commands in the same step, so that none can come before a debt.
func (c *connector) openWhenPaid() []errand {
	c.mu.Lock()
	defer c.mu.Unlock()
	due, dropped := c.queue.debts.take(maxBatch, time.Now())
	c.dropped.Add(uint64(dropped))
	c.queue.carried = len(due)
	if len(due) == 0 {
		c.open, c.opened = true, time.Now()
		c.show()
		return nil
	}
	errands := make([]errand, len(due))
	for i, d := range due {
		c.queue.tries(&d)
		errands[i] = &d
	}
	return errands
}

// calmTime is how long a master must have refused nothing before it is told to accept
// commands again: one that refuses to write answers reads in between.
const calmTime = 10 * time.Second

// trouble looks at an error that a master answered about itself: "" if it did not. Some mean
// that it is not what it was at the gate, and end the link.
func (c *connector) trouble(text string, now time.Time) error {
	if text == "" {
		if c.troubled != "" && now.Sub(c.refused) >= calmTime {
			c.troubled = ""
			c.log.Info("master accepts commands again")
		}
		return nil
	}
	c.refused = now
	a := decide.Answer{Kind: quorum.FailureReply, Str: text}
	if a.RefusesToWrite() {
		return master.Trouble(text)
	}
	for _, code := range []string{"NOSCRIPT", "LOADING", "READONLY", "NOAUTH", "MASTERDOWN", "CLUSTERDOWN", "MOVED"} {
		if a.Failed(code) {
			return master.Trouble(text)
		}
	}
	c.sender.suspects = c.sender.suspects || !a.Failed("OOM ")
	if code, _, _ := strings.Cut(text, " "); code != c.troubled {
		c.troubled = code
		c.log.Warn("master refuses commands", "error", text)
	}
	return nil
}

// lose ends a link that broke, or that ctx ended.
func (c *connector) lose(ctx context.Context, link *master.Link, err error) {
	link.Close()
	c.sender.ground(link)
	c.sender.abandon(nil, nil, time.Now())
	c.mu.Lock()
	c.link, c.sight, c.across = nil, marker.Sight{}, elsewhere{}
	c.mu.Unlock()
	c.db.unclaim(c.index)
	if unfit := new(marker.Unfit); errors.As(err, &unfit) && c.db.isZero() {
		c.db.engine.meetAgain(c.index)
	}
	c.down(ctx, err)
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
func (c *connector) down(ctx context.Context, err error) {
	if ctx.Err() != nil {
		return
	}
	c.db.engine.installation.refuse(c.master.Name, err)
	if lacked := master.NoDatabase(0); errors.As(err, &lacked) {
		c.lacks(lacked)
	}
	reason := master.ReasonOf(err)
	c.mu.Lock()
	c.enter(quorum.Down, reason)
	drained := c.drained
	c.mu.Unlock()
	switch {
	case drained:
		c.log.Debug("drained master is not there", "reason", reason)
	case slices.Contains(c.downFor, reason):
	case len(c.downFor) == 0:
		c.downFor = []string{reason}
		c.log.Warn("master is down", "reason", reason)
	case len(c.downFor) < maxReasons:
		c.downFor = append(c.downFor, reason)
		c.log.Warn("master is down for another reason now", "reason", reason)
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
