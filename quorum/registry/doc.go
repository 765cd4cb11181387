// Package registry is what a proxy remembers of the locks that its clients took: who holds which,
// since when and until when, who was refused and why. Whoever looks into the proxy, by a command
// or on a page, sees views of it. Of tokens it keeps hashes only.
//
// It decides nothing. What a lock is and who has it is on the masters alone: the registry has
// heard what this proxy told its clients, and forgets the oldest of that when its room is used up. So
// who shows a holder asks the masters for the value that is there, and the registry whose that is.
//
//	registry.go  what is noted, and where
//	shard.go     the way there: written down first, and put where it belongs some at a time
//	counted.go   how long the latest of a key's ttls was, and what is left of it
//	holding.go   the room for holders: a table of fixed size, which allocates nothing
//	top.go       which keys are fought for most
//	hot.go       what is known of these: who wants them, and their last attempts
//	events.go    what has happened to masters, and what operators have done
//	sign.go      tokens and values by their hashes
//
// Nothing here has a goroutine, does I/O or reads a clock. All times are the caller's: durations
// since one moment that is his.
package registry
