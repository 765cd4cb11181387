package page

import (
	"context"
	"errors"
)

// Source knows what the page shows. All of it is called by many at once, and what it has returned
// it changes no more.
type Source interface {
	// Overview is asked for once a second while anybody looks, and is to be cheap.
	Overview() Overview

	// Locks lists what is held or was lately, in an order that stays between two pages.
	Locks(ctx context.Context, q Query) (Locks, error)

	// Lock tells of one, with its timeline; it may ask the masters. ErrNotThere is
	// for what is not held and of which nothing is known.
	Lock(ctx context.Context, db int, key string) (Lock, error)

	// Events are those with a greater number than after, the oldest first, as far as they are
	// kept, and a channel that is closed as soon as there is one that is not among them.
	// Numbers begin at 1 and grow by the event.
	Events(after uint64) (events []Event, more <-chan struct{})

	// OrdersAllowed tells whether Order is for anybody at all, and MayOrder whether an order is for him.
	OrdersAllowed() bool
	MayOrder(who Who, order string) bool

	// Looking gives what tells, as of each call, whether who looks now may still do so.
	Looking(who Who) (still func() bool)

	// Forbidden is told of an order that was not looked at, as it is for nobody or nobody has sent it.
	Forbidden(who Who, why string)

	// Order carries out an order of who, leaves a line in the log that says so, and answers in
	// a sentence. It is not called where orders are not allowed.
	Order(ctx context.Context, who Who, o Order) (said string, err error)
}

// What a Source answers if it is one of these, wrapped or not, has a status of its own. The
// text is shown.
var (
	ErrNotThere   = errors.New("there is no such thing")          // 404
	ErrNotNow     = errors.New("that is not possible now")        // 409
	ErrNotAllowed = errors.New("that is not allowed")             // 403
	ErrBadAsking  = errors.New("that is not understood")          // 400
	ErrNoQuorum   = errors.New("too few masters answer for that") // 503
)

// Who gives an order.
type Who struct {
	User string // as he has shown himself to whoever let him in; may be ""
	From string // his address
}

// Query is which locks are asked for.
type Query struct {
	Pattern string // as KEYS has it; "" is all
	DB      int    // AllDBs, or a database's number
	After   string // Locks.Next of the page before; "" for the first
	Count   int    // about so many, 1 to MaxLocks: masters name what lies together at once
}

// AllDBs is no database's number.
const AllDBs = -1

// MaxLocks is how many may be asked for at once.
const MaxLocks = 500
