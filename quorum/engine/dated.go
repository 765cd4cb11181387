package engine

import (
	"strconv"
	"time"

	"redlock-proxy/quorum"
	"redlock-proxy/quorum/clock"
	"redlock-proxy/quorum/journal"
)

// What names no token may be under way for long when it is decided: a master that was
// stopped carries out what is in its sockets when it goes on, be the links lost by then or
// not, and whatever it holds by then.
//
//	1: A says SET k a: masters 1 and 2 do it; 3 is stopped, and has it in a socket
//	2: the link to 3 is given up; A releases k; B asks for k through another proxy
//	3: 2 goes away, and 3 goes on: it grants k to B, as 1 has, and then does what A said
//	4: B has k on 1 alone
//
// So it goes with a date: the time by the master's own clock at which the decision falls at
// the latest. Behind that a master leaves it, and says so. What is bound has no date: it may
// be meant to reach a master that is late, and is told from the other's lock otherwise.

// dated tells that the op goes with a time.
func (o *op) dated() bool {
	return o.kind().dated || o.Flushes()
}

// flushedBy are the databases that a flush empties, in the order of their
// numbers.
func (db *database) flushedBy(r *quorum.Request) []*database {
	if r.Args[0] == "FLUSHALL" {
		return append([]*database{db.engine.zero}, db.engine.opened()...)
	}
	return []*database{db}
}

// date is the op's for this master, in milliseconds of Unix time: what its clock shows at
// the most, by all that was seen of it, when the op's patience ends.
func (s *sender) date(o *op, now time.Time) string {
	seen := s.sighted()
	if s.db.alone() || !seen.Known() {
		return journal.NoDate // where there is no other master, no other has decided
	}
	end := s.db.Boot() + o.put.Add(o.patience).Sub(now)
	return strconv.FormatInt(clock.Milliseconds(seen.AtMost(end)), 10)
}
