// Package audit is what is written down of orders and of denials, for who asks afterwards who has
// done what: a line of JSON for each, in their order.
//
// An order has one line, once it is known what it came to. It is carried out also where that line
// cannot be written: a disk that is full is no reason why a lock cannot be freed or a master be
// taken out, and is often why it has to be. What waits for the disk is written when that can be
// again; what there is no room for is counted, and a line in its place says how many those were. So
// what is there is complete, or says by itself that it is not. The log has the orders of LOCK and
// CONFIG as well.
//
// What somebody can repeat without end is bounded (bound.go), and a line tells how many like it were
// left out. No line has a token, a password or a value: package proxy makes entries of nothing that
// could be one.
//
// The goroutine:
//
//	goroutine  started by  owns             ends when                       waited for by
//	writer     New         where lines go   Close, when all is written or   Close, for as long as that
//	                                        it fails                        may take
package audit
