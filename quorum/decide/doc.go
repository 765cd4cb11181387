// Package decide is what masters' answers amount to. Judge makes an Answer a vote; a Ballot
// counts the votes on one Question, and falls once; and what the asker is told is its Result.
// All of it is pure, but that a Ballot is cast by several goroutines at once.
//
// There is a file for each kind of request: what an answer to it means (judge), when it is
// decided (the tally's and the question's rules) and what is told (tell). A script's answer is
// a Journal of UndoRecords (journal.go, record.go); one that latches its keys is a step
// (step.go). What is told of a ttl is left.go's.
package decide
