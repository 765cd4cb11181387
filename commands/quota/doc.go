// Package quota is how much a user may take of what all share: how long his locks may last, how many he may
// hold at once, and how many commands a second he may send.
//
//	limits.go  the words of these, as ACL SETUSER has them
//	use.go     what a user holds, as far as this proxy knows
//	rate.go    when his next command may be carried out
//
// It asks nobody and reads no clock: all times are the caller's, durations since one moment that is his.
package quota
