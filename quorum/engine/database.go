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

// databases are the engines of the databases other than 0: each has lanes of
// its own to the same masters, on connections that have selected it. They are
// made at first use and kept. One that was made for its masters' sake alone, see unopened.go,
// is dropped again.
type databases struct {
	mu       sync.Mutex // guards byNumber
	byNumber [quorum.Databases]*Engine
}

// Open makes ready for requests to a database, from 0 to Databases-1: it waits
// until all masters have been tried, which ConnectTimeout bounds. The error, in
// Redis's words, says that the masters do not have this database.
func (e *Engine) Open(db int) error {
	if db == 0 {
		return nil
	}
	d := e.database(db)
	if d == nil {
		return nil // closing: requests will be answered so
	}
	<-d.Tried()
	for _, l := range d.lanes {
		if strings.Contains(l.status().Reason, master.LacksDatabase) {
			return errors.New("ERR DB index is out of range")
		}
	}
	return nil
}

// lacks tells of a master that lacks a database which others have, once.
func (l *lane) lacks(db master.NoDatabase) {
	for _, other := range l.engine.lanes {
		other.mu.Lock()
		has := other.links > 0
		other.mu.Unlock()
		if has {
			root := l.engine.root.lanes[l.index]
			root.lacking.Do(func() {
				root.log.Error("master has fewer databases than others, and no vote in those that it lacks", "database", int(db), "cure", master.EvenDatabases)
			})
			return
		}
	}
}

// database is the engine of a database that a client asks for, nil if all are closing.
func (e *Engine) database(db int) *Engine {
	e.databases.mu.Lock()
	defer e.databases.mu.Unlock()
	d := e.databases.byNumber[db]
	if d == nil {
		if d = e.newDatabase(db); d == nil {
			return nil
		}
	}
	d.used.Store(true)
	return d
}

// unopened is the engine of a database that nobody has opened, nil if somebody has, or all are
// closing.
func (e *Engine) unopened(db int) *Engine {
	e.databases.mu.Lock()
	defer e.databases.mu.Unlock()
	if e.databases.byNumber[db] != nil {
		return nil
	}
	return e.newDatabase(db)
}

// newDatabase makes the engine of a database. The databases' mu is held.
func (e *Engine) newDatabase(db int) *Engine {
	if e.closing.Load() {
		return nil
	}
	cfg := e.Config
	cfg.Masters = slices.Clone(cfg.Masters)
	for i := range cfg.Masters {
		cfg.Masters[i].DB = db
	}
	// Of the masters' connections database 0 tells.
	d := newEngine(cfg, hclog.NewNullLogger(), e)
	e.databases.byNumber[db] = d
	return d
}

// drop takes out an engine that no client has asked for: it is the caller's to close. It is
// false if one has, or if all are closing.
func (e *Engine) drop(d *Engine) bool {
	e.databases.mu.Lock()
	defer e.databases.mu.Unlock()
	if !d.unused() || e.closing.Load() {
		return false
	}
	e.databases.byNumber[d.db()] = nil
	return true
}

// unused tells that no client has asked for the database.
func (e *Engine) unused() bool { return e.root != nil && !e.used.Load() }

// isOpened tells that a database is open, for whosever sake.
func (e *Engine) isOpened(db int) bool {
	e.databases.mu.Lock()
	defer e.databases.mu.Unlock()
	return e.databases.byNumber[db] != nil
}

func (e *Engine) opened() (list []*Engine) {
	e.databases.mu.Lock()
	defer e.databases.mu.Unlock()
	for _, d := range e.databases.byNumber {
		if d != nil {
			list = append(list, d)
		}
	}
	return list
}

// closeDatabases closes the engines of all other databases side by side.
func (e *Engine) closeDatabases(ctx context.Context) {
	var wait sync.WaitGroup
	for _, d := range e.opened() {
		wait.Go(func() { d.Close(ctx) })
	}
	wait.Wait()
}
