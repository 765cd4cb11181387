package engine

import (
	"sync"

	"redlock-proxy/quorum"
	"redlock-proxy/quorum/decide"
	"redlock-proxy/quorum/master"
)

// longValues is held while values that are long, which masters have told an op, are compared
// or let go. An op waits in the queue of the slowest master long after the others have
// decided it: it is not to hold what they said as long as that, for each of them.
//
//	1: 20 clients read values of 1 MiB each; masters 1 and 2 answer, 3 lags
//	2: each client is answered, and asks again
//	3: 3 is still to be asked for the first ones: what 1 and 2 told would be kept until then
//
// What is short is never let go, so that nobody has to hold it for that.
type longValues struct{ sync.Mutex }

// holdsLong notes what a lane has been told, before it casts its vote. What comes when all is
// decided is not kept at all.
func (o *op) holdsLong(s *decide.Said) {
	switch {
	case len(s.Value) < master.Small || !o.TellsValueOnly():
	case o.ballot.Load().Decision() != quorum.Undecided:
		s.Value = ""
	default:
		o.long.Store(true)
	}
}

// weighLong is weigh of what may have been let go meanwhile, since somebody else's vote has
// decided. What it says then does not count.
func (o *op) weighLong(c decide.Votes) quorum.Decision {
	if !o.long.Load() {
		return o.weigh(c)
	}
	o.values.Lock()
	defer o.values.Unlock()
	if o.ballot.Load().Decision() != quorum.Undecided {
		return quorum.Undecided
	}
	return o.weigh(c)
}

// letGo drops the long values of those who have voted in c: where it is decided, by whoever
// has decided it, and has told the asker.
func (o *op) letGo(c decide.Votes) {
	if !o.long.Load() {
		return
	}
	o.values.Lock()
	defer o.values.Unlock()
	for i := range o.Said {
		if c.Vote(i) != 0 && len(o.Said[i].Value) >= master.Small {
			o.Said[i].Value = ""
		}
	}
}
