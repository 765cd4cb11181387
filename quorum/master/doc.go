// Package master is one connection to one master: how it begins and how it ends, who is at
// its other end, and how a batch of commands is sent on it and answered. What is sent, and what
// an answer means, is decided elsewhere.
//
// A Master is a server as configured, and a Set (set.go) those that are used together, with the
// times that follow from its terms. Meet stays at the gate, which asks a server who it is
// before anything else does:
//
//	dial.go         the connection, with TLS where the master wants it
//	gate.go         the conversation on it
//	identify.go     which process of which history is there, and whether it carries out what we need
//	info.go         what a server tells of itself, then and later
//	preflight.go    what it must be to be a master
//	busy.go         one that is busy with a script has that ended
//	database.go     the database that the link is for
//
// Link goes on from there, with a framedConn on the connection that hands on only what is well formed, was asked for and
// has room. To a master that is near, one batch at a time, batches go by wire; to one that is far, several at once, by
// rueidis. Each ends with a Proof of who has answered it, and of when that was by the master's clock:
//
//	link.go         how it begins and ends
//	exchange.go     a batch, and its Proof
//	wire.go         a batch on a connection that has no other
//	send.go         a batch in parts, by who waits for several links at once: watch_linux.go
//	answers.go      what rueidis read becomes an Answer
//	framedconn.go   the connection that both are given
//	frames.go       where each reply begins and ends
//	bill.go         what the replies take from the master's room
//	rooms.go        how much a master may have us hold
//
// Our scripts are loaded at the gate (script.go): those that write markers (markscripts.go) and the
// page of a SCAN (page.go) are here, the others are their users'. A Subscription stays without
// rueidis (subscription.go).
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
