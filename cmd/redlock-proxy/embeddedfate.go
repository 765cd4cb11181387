package main

import (
	"errors"
	"time"
)

// What becomes of embedded masters in a demo: what becomes of real ones, by an operator's order.

var (
	errDead    = errors.New("it is not running: start it first")
	errRunning = errors.New("it is running: kill it first")
	errFrozen  = errors.New("it is frozen already")
	errThawed  = errors.New("it is not frozen")
)

// crash ends it at once, with all its connections. What it held is kept for who starts it anew.
func (e *embedded) crash() error {
	e.fate.Lock()
	defer e.fate.Unlock()
	if e.dead {
		return errDead
	}
	e.dead = true
	e.melt() // a process that does not run can be killed
	e.redis.Close()
	return nil
}

// start starts a new process where the one was that was killed, with what that held or without.
func (e *embedded) start(blank bool) error {
	e.fate.Lock()
	defer e.fate.Unlock()
	if !e.dead {
		return errRunning
	}
	if blank {
		e.redis.FlushAll()
	}
	e.redis.SetError("LOADING Redis is loading the dataset in memory") // to who comes before we are asked
	if err := e.redis.StartAddr(e.address); err != nil {
		return err
	}
	e.runID, e.started, e.dead = newRunID(), time.Now(), false
	e.interpose(e.address)
	return nil
}

// freeze has it answer nothing, as a process that was stopped or a machine that hangs.
func (e *embedded) freeze() error {
	e.fate.Lock()
	defer e.fate.Unlock()
	ice := make(chan struct{})
	switch {
	case e.dead:
		return errDead
	case !e.ice.CompareAndSwap(nil, &ice):
		return errFrozen
	}
	return nil
}

func (e *embedded) thaw() error {
	e.fate.Lock()
	defer e.fate.Unlock()
	if !e.melt() {
		return errThawed
	}
	return nil
}

// melt lets what waits go on, if it is frozen.
func (e *embedded) melt() (was bool) {
	ice := e.ice.Swap(nil)
	if ice != nil {
		close(*ice)
	}
	return ice != nil
}

// setClock sets its clock, so far ahead of the right time.
func (e *embedded) setClock(ahead time.Duration) { e.ahead.Store(int64(ahead)) }
