package main

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"redlock-proxy/commands"
	"redlock-proxy/proxy"
	"redlock-proxy/proxy/page"
	"redlock-proxy/quorum"
)

// asks puts a command to the masters, in a database. An error reply is an error.
type asks func(ctx context.Context, db int, args ...string) (commands.Reply, error)

func (s *sight) ask(ctx context.Context, db int, args ...string) (commands.Reply, error) {
	reply, err := s.server.Ask(ctx, proxy.Operator{}, db, args...)
	if err == nil {
		err = refusalOf(reply)
	}
	return reply, err
}

// Locks implements page.Source.
func (s *sight) Locks(ctx context.Context, q page.Query) (page.Locks, error) {
	seen, _, _ := s.server.Seen()
	dbs := seen.Databases()
	if q.DB != page.AllDBs {
		if !slices.Contains(dbs, q.DB) { // to look would open it
			return page.Locks{}, notUsed(q.DB)
		}
		dbs = []int{q.DB}
	}
	return listLocks(ctx, s.ask, dbs, q)
}

// lookFor is for how long it is gone through keys of which none is asked for, before what there is
// is shown.
const lookFor = 3 * time.Second

// listLocks is a SCAN of these databases, which are in order, one after the other.
func listLocks(ctx context.Context, ask asks, dbs []int, q page.Query) (page.Locks, error) {
	db, cursor, ok := place(q.After, dbs)
	if !ok {
		return page.Locks{}, fmt.Errorf("%w: there is no such place to go on at", page.ErrBadAsking)
	}
	out := page.Locks{Total: -1}
	for begun := time.Now(); ; {
		args := []string{"LOCK", "LIST", "COUNT", strconv.Itoa(q.Count - len(out.Locks)), "CURSOR", cursor}
		if q.Pattern != "" {
			args = append(args, "MATCH", q.Pattern)
		}
		reply, err := ask(ctx, db, args...)
		if err != nil {
			return out, err
		}
		for _, l := range reply.Elems[1].Elems {
			out.Locks = append(out.Locks, lockOf(l))
		}
		if cursor = reply.Elems[0].Str; cursor == "0" {
			if db, ok = following(db, dbs); !ok {
				return out, nil
			}
		}
		tired := time.Since(begun) >= lookFor
		if tired {
			out.Note = "there are many keys, and not all have been looked at yet: further on there may be more"
		}
		if tired || len(out.Locks) >= q.Count {
			out.Next = strconv.Itoa(db) + ":" + cursor
			return out, nil
		}
	}
}

// following is the database that comes after db.
func following(db int, dbs []int) (next int, ok bool) {
	for _, next = range dbs {
		if next > db {
			return next, true
		}
	}
	return 0, false
}

// place is where a listing goes on: database:cursor.
func place(after string, dbs []int) (db int, cursor string, ok bool) {
	if after == "" {
		return dbs[0], "0", true
	}
	first, cursor, found := strings.Cut(after, ":")
	db, err := strconv.Atoi(first)
	return db, cursor, found && err == nil && slices.Contains(dbs, db)
}

// notUsed is the answer to who asks for a database that no client of this proxy has used.
func notUsed(db int) error {
	if db < 0 || db >= quorum.Databases {
		return fmt.Errorf("%w: there are databases 0 to %d", page.ErrBadAsking, quorum.Databases-1)
	}
	return fmt.Errorf("%w: no client of this proxy has used database %d", page.ErrNotThere, db)
}
