// Package quorum is Redlock over N independent Redis masters: it puts a request
// to all of them at once and tells the asker what a quorum of them decided. It
// is the only door to the masters.
//
// A Request becomes an op (op.go), which is put into the lanes of all masters
// in one step (engine.go, lane.go). Each lane sends what has gathered as one
// batch on its link (exchange.go, link.go), judges the answers (answer.go) and
// casts its votes (ballot.go). The vote that decides (tally.go) answers the
// asker, and undo, debts and heals are settled with it or after it (settle.go,
// debt.go, errand.go). What is decided is pure; what moves bytes decides
// nothing.
//
// Goroutines:
//
//	started by  what               owns                 ends when            waited for by
//	New         lane.run, each     the link, the batch  the engine closes    Engine.Close
//	New         Engine.sweep       the retries' timer   the engine closes    Engine.Close
//
// rueidis starts one of its own where a link ends, which ends with it.
package quorum
