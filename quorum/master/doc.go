// Package master is one connection to one master: how it begins and how it ends, who is at
// its other end, and how a batch of commands is sent on it and answered. What is sent, and what
// an answer means, is decided elsewhere.
//
// A Master is a server as configured. Meet stays at the gate (gate.go), which asks a server who
// it is before anything else does (identify.go): which process of which history, by what it
// tells of itself (info.go), whether it is a master (preflight.go), whether it carries out what
// we need; and loads our scripts (script.go). Link goes on from there (link.go): rueidis speaks
// on the connection, behind a guard (guard.go) that hands on only what is well formed, was asked
// for (frames.go) and has room (bill.go, rooms.go), and each batch ends with a Proof of who has
// answered it, and of when that was by the master's clock (exchange.go). A Subscription stays
// without rueidis (subscription.go).
//
// Everything here is used by one goroutine at a time, unless it says otherwise. Goroutines:
//
//	started by     what                   owns                 ends when             waited for by
//	Link.Exchange  a batch, to a master   the batch's answers  they are there, or    Link.Exchange
//	               that is or was far                          the link closes
//
// rueidis starts one of its own where a link ends, which ends with it, and to a master that is
// far three for each link.
package master
