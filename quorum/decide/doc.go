// Package decide is what masters' answers amount to. Judge makes an Answer a vote; a Ballot
// counts the votes on one Question, and falls once; and what the asker is told is its Result.
// All of it is pure, but that a Ballot is cast by several goroutines at once.
//
// There is a file for each kind of request, which says what a vote on it means, and holds what
// an answer to it is (judge), when it is decided (decide, by rules of the tally) and what is
// told (tell):
//
//	acquire.go   a key is set that is not there
//	extend.go    a key that holds the token gets another ttl
//	release.go   a key that holds the token goes
//	compare.go   what these two have in common
//	read.go      what a key holds
//	remove.go    a key goes, whatever it holds
//	write.go     any other command that changes a key
//	run.go       a script; one that latches its keys is a step (step.go)
//	survey.go    what is not about one key
//
// What most masters said is told in one place (counted.go), and which said what is told in alike.go. A script's answer is a Journal, with
// its reply (shape.go) and an UndoRecord for each key (journal.go, record.go). What the errors of
// masters mean stands in failure.go. What is told of a ttl is left.go's.
package decide
