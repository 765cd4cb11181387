package members

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"redlock-proxy/quorum"
	"redlock-proxy/quorum/marker"
	"redlock-proxy/quorum/master"
)

// meet finds out which servers there are, and which of them are in both sets,
// under whatever names.
func (r *changeRun) meet(ctx context.Context, old []master.Master) error {
	var problems []error
	names := make(map[string]*server) // by run id
	for _, m := range r.set.Masters {
		s := &server{master: m, new: true}
		err := r.with(ctx, s, func(conn *member) error { s.who = conn.who; return nil })
		if twin := names[s.who.RunID]; err == nil && twin != nil {
			err = marker.Twin(twin.master.Name)
		}
		if err != nil {
			problems = append(problems, of(m.Name, err))
			continue
		}
		names[s.who.RunID] = s
		r.servers = append(r.servers, s)
	}
	for _, m := range old {
		s := &server{master: m, old: true, was: m.Name}
		if err := r.with(ctx, s, func(conn *member) error { s.who = conn.who; return nil }); err != nil {
			r.absent = append(r.absent, m.Name)
			r.tell(of(m.Name, err).Error())
			continue
		}
		switch same := names[s.who.RunID]; {
		case same == nil:
			names[s.who.RunID] = s
			r.servers = append(r.servers, s)
		case same.old:
			problems = append(problems, of(m.Name, marker.Twin(same.master.Name)))
		default:
			same.old, same.was = true, m.Name
		}
	}
	return errors.Join(problems...)
}

// closedIn tells that a server of the old set is marked for the new one in a database, and
// closed that it is in any.
func (s *server) closedIn(db int) bool {
	p := s.parts[db]
	return s.old && (p == kept || p == begun || p == done)
}

func (s *server) closed() bool {
	for db := range s.count {
		if s.closedIn(db) {
			return true
		}
	}
	return false
}

// learnAll reads all markers and judges them.
func (r *changeRun) learnAll(ctx context.Context) error {
	texts := make([][]string, len(r.servers))
	var problems []error
	for i, s := range r.servers {
		err := r.with(ctx, s, func(conn *member) (err error) {
			texts[i], err = conn.markers()
			return err
		})
		s.count = len(texts[i])
		for _, text := range texts[i] {
			if err == nil {
				err = r.learn(text)
			}
		}
		if err == nil && s.count != r.servers[0].count {
			err = fmt.Errorf("it has %d databases, and %s has %d: set databases alike", s.count, r.servers[0].master.Name, r.servers[0].count)
		}
		if err != nil {
			problems = append(problems, of(s.master.Name, err))
		}
	}
	if len(problems) > 0 {
		return errors.Join(problems...)
	}
	if err := r.check(); err != nil {
		return err
	}
	for i := range r.servers {
		for db, text := range texts[i] {
			r.learnGiven(db, text)
		}
	}
	for i, s := range r.servers {
		whole := r.whole(i, texts)
		if m, err := marker.Parse(texts[i][0]); err == nil {
			if s.others = m.Others; m.Durable && (whole || m.RunID == s.who.RunID) {
				s.log = m.DiskLog()
			}
		}
		for db, text := range texts[i] {
			m, is, err := r.judge(text, s.who, db, s.old, whole)
			if err != nil {
				problems = append(problems, of(s.master.Name, fmt.Errorf("database %d: %w", db, err)))
				break
			}
			if s.new {
				is = r.revised(is, db, m.Nonce, m.RunID != s.who.RunID)
			}
			s.parts[db], s.nonces[db] = is, marker.NonceOf(text)
		}
	}
	return errors.Join(problems...)
}

// whole tells whether the log that a server has read, if its process is another than that of
// a marker, holds all that it has granted, as far as so many of the old set can tell as any of
// its quorums shares a master with, or a proxy has decided it: that stands in database 0.
func (r *changeRun) whole(i int, texts [][]string) bool {
	m, err := marker.Parse(texts[i][0])
	if err != nil || m.RunID == r.servers[i].who.RunID {
		return err == nil && m.Whole
	}
	asked := 0
	for j, s := range r.servers {
		by, err := marker.Parse(texts[j][0])
		remembers := by.RunID == s.who.RunID || by.Durable && s.who.Durable
		if j == i || !s.old || err != nil || !remembers || by.Nonce.Provisional() && !by.Holds {
			continue
		}
		if told := by.Others[m.Member]; told != "" && told != m.DiskLog() {
			return false
		}
		asked++
	}
	return asked >= r.needed()
}

// finished tells that all masters of the new set may vote, but for what is left to proxies.
func (r *changeRun) finished() bool {
	return r.all(func(p part) bool { return p == done || p == left })
}

// all tells it of the parts of all servers of the new set.
func (r *changeRun) all(is func(part) bool) bool {
	return !slices.ContainsFunc(r.servers, func(s *server) bool {
		return s.new && slices.ContainsFunc(s.parts[:s.count], func(p part) bool { return !is(p) })
	})
}

// enough is an error if too few masters of the old set remember what is to be given yet, and those
// that are away may. When there is no way back to the old set, or none of it could tell more,
// the rest is waited for until none of its locks can live: so would proxies.
func (r *changeRun) enough() error {
	if r.all(part.voted) {
		return nil
	}
	for db := range r.servers[0].count {
		var not []string
		remembering, closed := 0, false
		for _, s := range r.servers {
			closed = closed || s.closedIn(db)
			switch {
			case s.old && s.parts[db].source():
				remembering++
			case s.old:
				not = append(not, s.master.Name)
			}
		}
		if remembering >= r.needed() {
			continue
		}
		text := fmt.Sprintf("database %d: %d masters of the old set remember what they granted, %d are needed", db, remembering, r.needed())
		if len(not) > 0 {
			text += "; these may have lost locks: " + strings.Join(not, " ")
		}
		if len(r.absent) > 0 {
			text += "; these are not there: " + strings.Join(r.absent, " ")
		}
		switch {
		case !closed && remembering+len(r.absent) >= r.needed():
			return errors.New(text + "; bring them back, or let a proxy of the old set run until max-ttl has passed")
		case !closed:
			text += fmt.Sprintf("; once the old set is closed, what it may have granted there is waited out for %v", r.set.QuarantineTime().Round(time.Second))
		case len(r.old)-len(r.absent) < r.needed():
			return errors.New(text + "; bring them back, or, if they are gone for good, start empty servers in their place")
		}
		r.tell(text)
	}
	return nil
}

// with speaks to a server on a connection of its own.
func (r *changeRun) with(ctx context.Context, s *server, f func(*member) error) error {
	ctx, cancel := context.WithTimeout(ctx, r.set.ConnectTimeout+quorum.Databases*r.set.MasterTimeout)
	defer cancel()
	conn, err := reach(ctx, s.master)
	if err != nil {
		return err
	}
	defer conn.gate.Close()
	if s.who.RunID != "" && s.who.RunID != conn.who.RunID {
		return fmt.Errorf("its process was started anew: %w", errMeanwhile)
	}
	return f(conn)
}
