package members

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"strings"

	"redlock-proxy/quorum"
	"redlock-proxy/quorum/marker"
	"redlock-proxy/quorum/master"
)

// inTurn is the order in which servers are marked, the same for all who change a set,
// whatever they make of it:
//
//	1: of 1 2 3 one makes 2 3 4, and another 1 3 5
//	2: the first marks 2, as it begins with what it names first, and then 3
//	3: the other marks 1: of neither new set enough can be marked, and the old one is closed
//
// So who finds the first of the old set marked by the other has closed none of it. Those
// that are new to it come before, and are called differently, perhaps.
func inTurn(a, b *server) int {
	return cmp.Or(
		strings.Compare(a.was, b.was),
		strings.Compare(a.who.RunID, b.who.RunID))
}

// mark has a server's marker replaced in each database for which next has another.
func (r *changeRun) mark(ctx context.Context, s *server, next func(*server, int) (marker.Marker, part)) error {
	return r.with(ctx, s, func(conn *member) error {
		for db := range s.count {
			m, is := next(s, db)
			if is == 0 {
				continue
			}
			answers, err := conn.gate.Ask(
				[]string{"SELECT", strconv.Itoa(db)},
				master.MarkScript.Eval(quorum.MarkerKey, string(s.nonces[db]), m.String()))
			switch {
			case err != nil:
				*r.closed = *r.closed || s.old
				return of(s.master.Name, err)
			case answers[1].Err() != nil:
				return of(s.master.Name, answers[1].Err())
			case answers[1].Str != m.String():
				return of(s.master.Name, fmt.Errorf("its marker in database %d: %w", db, errMeanwhile))
			}
			*r.closed = *r.closed || s.old
			s.parts[db], s.nonces[db] = is, m.Nonce
		}
		return nil
	})
}

// marker is what all markers of the new set have in common.
func (r *changeRun) marker(s *server, db int, provisional bool) marker.Marker {
	m := marker.Marker{
		Nonce:        marker.NewNonce(provisional),
		Installation: r.into,
		Member:       s.master.Name,
		DB:           db,
		Terms:        r.Terms,
		RunID:        s.who.RunID,
		Durable:      s.who.Logs(),
		Rewrites:     s.who.Rewrites,
		From:         r.from,
		Evicted:      s.who.Evicted,
		Replication:  s.who.Replication,
	}
	if m.Durable {
		m.Log = s.log
	}
	if db == 0 {
		m.Others = s.others
	}
	return m
}

// begin is a server's provisional marker, if it is to get one.
func (r *changeRun) begin(s *server, db int) (m marker.Marker, is part) {
	provisional, holds := s.parts[db].marks()
	if !provisional {
		return m, 0
	}
	m = r.marker(s, db, true)
	if s.parts[db] == forgetful {
		m.Why = "it may have lost what it granted after change-masters had finished"
		return m, left
	}
	m.Why, m.Changing, m.Holds, is = "change-masters has not finished", true, holds, begun
	if !s.new {
		m.Why = "it has left its set"
	}
	if holds {
		is = kept
	}
	return m, is
}

// give is the provisional marker of a server that holds what has been given.
func (r *changeRun) give(s *server, db int) (m marker.Marker, is part) {
	if s.parts[db] != kept {
		return m, 0
	}
	m = r.marker(s, db, true)
	m.Why, m.Changing, m.Holds = "change-masters has not finished", true, true
	if r.given[db] == nil {
		for _, other := range r.servers {
			if other.new {
				r.given[db] = append(r.given[db], other.nonces[db])
			}
		}
	}
	m.Given = r.given[db]
	if !s.new {
		m.Why = "it has left its set"
	}
	return m, kept
}

// admit is a server's marker by which it may vote, if it has it not.
func (r *changeRun) admit(s *server, db int) (m marker.Marker, is part) {
	if s.parts[db].voted() {
		return m, 0
	}
	m = r.marker(s, db, false)
	m.Given = r.given[db]
	return m, done
}
