package proxy

import (
	"time"

	"redlock-proxy/commands"
	"redlock-proxy/quorum"
)

// A master is busy for a while with a script that takes many steps, and whoever has a request
// in the same batch waits for all such in it. So a script that has, and those of a client that
// had one, are on probation: they are carried out one after the other (see crowd.go), so that
// one at a time is in the masters' batches.

const (
	// probation is how many calls that do not toil show that a client's, or a script's, are no
	// burden.
	probation = 16
	// longestTurn is how long one waits at most for the one whose turn it is: where masters do
	// not answer, that takes much longer than a script does. longestInLine is for all before.
	longestTurn   = 250 * time.Millisecond
	longestInLine = 2 * time.Second
)

// ofClient tells whether a request is to run a script of the client's own.
func ofClient(r *quorum.Request) bool { return r.Kind == quorum.Run && r.Script.OfClient() }

// onProbation tells whether what is about to be put is on probation: a script, or what may go
// on with one, as a WATCH does. mu is held.
func (c *conn) onProbation(a *commands.Action) bool {
	r := &a.Requests[0]
	if r.Kind != quorum.Run && !a.Continues {
		return false
	}
	return c.probation > 0 || ofClient(r) && r.Script.Probation.Load() > 0
}

// judge notes whether a script has toiled. One of ours is everybody's, so that it tells of the
// client alone.
func (c *conn) judge(script *quorum.Script, toiled bool) {
	left := script.Probation.Load()
	switch {
	case !script.OfClient():
	case toiled:
		c.srv.stats.toiling.Add(1)
		script.Probation.Store(probation)
	case left > 0:
		script.Probation.CompareAndSwap(left, left-1) // who judges at the same time counts for both
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if toiled {
		c.probation = probation
	} else {
		c.probation = max(c.probation-1, 0)
	}
}
