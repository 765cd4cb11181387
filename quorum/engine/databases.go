package engine

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"

	"github.com/hashicorp/go-hclog"

	"redlock-proxy/quorum"
	"redlock-proxy/quorum/master"
)

// databases are those other than 0. They are made at first use and kept. One that was made for
// its masters' sake alone, see unopened.go, is dropped again.
type databases struct {
	mu       sync.Mutex // guards byNumber
	byNumber [quorum.Databases]*database
}

// Open makes ready for requests to a database, from 0 to Databases-1: it waits
// until all masters have been tried, which ConnectTimeout bounds. The error, in
// Redis's words, says that the masters do not have this database.
func (e *Engine) Open(number int) error {
	db := e.use(number)
	if db.isZero() {
		return nil // closing: requests will be answered so
	}
	<-db.tried
	for _, l := range db.lanes {
		if strings.Contains(l.status().Reason, master.LacksDatabase) {
			return errors.New("ERR DB index is out of range")
		}
	}
	return nil
}

// of is the database that a request is put to.
func (e *Engine) of(r *quorum.Request) *database {
	if r.DB == 0 {
		return e.zero
	}
	return e.use(r.DB)
}

// use is a database that a client asks for: database 0 in the place of another one if all are
// closing, which says so.
func (e *Engine) use(number int) *database {
	if number == 0 {
		return e.zero
	}
	e.others.mu.Lock()
	defer e.others.mu.Unlock()
	db := e.others.byNumber[number]
	if db == nil {
		if db = e.open(number); db == nil {
			return e.zero
		}
	}
	db.used.Store(true)
	return db
}

// unopened opens a database that nobody has opened. It is nil if somebody has, or all are
// closing.
func (e *Engine) unopened(number int) *database {
	e.others.mu.Lock()
	defer e.others.mu.Unlock()
	if e.others.byNumber[number] != nil {
		return nil
	}
	return e.open(number)
}

// open makes a database, and has it begin. The others' mu is held.
func (e *Engine) open(number int) *database {
	if e.zero.closing.Load() {
		return nil
	}
	cfg := e.zero.Config
	cfg.Masters = slices.Clone(cfg.Masters)
	for i := range cfg.Masters {
		cfg.Masters[i].DB = number
	}
	ctx, cancel := context.WithCancel(context.Background())
	// Of the masters' connections database 0 tells.
	db := newDatabase(e, cfg, hclog.NewNullLogger(), cancel)
	for i, l := range db.lanes {
		l.follow(e.zero.lanes[i])
		if e.zero.lanes[i].isDrained() {
			l.drain()
		}
	}
	e.others.byNumber[number] = db
	db.begin(ctx)
	return db
}

// drop takes out a database that no client has asked for: it is the caller's to close. It is
// false if one has, or if all are closing.
func (e *Engine) drop(db *database) bool {
	e.others.mu.Lock()
	defer e.others.mu.Unlock()
	if !db.unused() || e.zero.closing.Load() {
		return false
	}
	e.others.byNumber[db.number()] = nil
	return true
}

// isOpened tells that a database is open, for whosever sake.
func (e *Engine) isOpened(number int) bool {
	e.others.mu.Lock()
	defer e.others.mu.Unlock()
	return e.others.byNumber[number] != nil
}

// opened are the others that are open, by their numbers.
func (e *Engine) opened() (list []*database) {
	e.others.mu.Lock()
	defer e.others.mu.Unlock()
	for _, db := range e.others.byNumber {
		if db != nil {
			list = append(list, db)
		}
	}
	return list
}

// closeOthers closes all of them side by side.
func (e *Engine) closeOthers(ctx context.Context) {
	var wait sync.WaitGroup
	for _, db := range e.opened() {
		wait.Go(func() { db.close(ctx) })
	}
	wait.Wait()
}

// lacks tells of a master that lacks a database which others have, once.
func (c *connector) lacks(db master.NoDatabase) {
	for _, other := range c.db.lanes {
		other.mu.Lock()
		has := other.links > 0
		other.mu.Unlock()
		if has {
			zero := c.db.engine.zero.lanes[c.index]
			zero.connector.lacking.Do(func() {
				zero.log.Error("master has fewer databases than others, and no vote in those that it lacks", "database", int(db), "cure", master.EvenDatabases)
			})
			return
		}
	}
}
