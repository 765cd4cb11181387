// Package catchup gives a master back what it lost, and frees it of what nobody holds.
//
// A quarantined master has no vote. [Run] gives it every live key of so many of the other
// masters that none can be missing that it had granted: then it may vote again. It knows of no
// engine. The caller says which masters are the [Source]s, and under which nonce each of them is the one that is
// meant; all that a master answers counts under that nonce alone (peer.go).
//
//	run.go        from the lease to the end: each source is read page by page
//	copy.go       what is read, weighed, copied and taken back of one page
//	agreement.go  what the sources say of a key, and what that amounts to
//	released.go   what is released meanwhile
//	forbidden.go  keys that a master's ACL keeps from our user
//
// Once it votes it is set beside the others, and freed of what none of them holds: [Lay]. So is
// every master, from time to time, of what would never end: [LayEternal].
//
//	ghosts.go     what a ghost is, and how a master is searched for them
//	look.go       whether somebody may hold what was found
//	watched.go    what is deleted was watched before it was looked at
//	eternal.go    those without a ttl, which are looked for twice
//
// Both speak to masters in the same way:
//
//	peers.go      the masters that take part, and what is asked of all sources at once
//	peer.go       one of them: its connection, its nonce and its clock
//	reads.go      what one is asked
//	scripts.go    what runs on it
//	bundle.go     how many keys one script is about
//	keyset.go     keys that are remembered
//
// A catch-up writes to its target alone, and so does what lays ghosts.
//
// Goroutines:
//
//	started by       what                       owns          ends when             waited for by
//	Run, Lay and     one that connects to a     its peer      the source answers,   the step
//	LayEternal,      source, or asks it                       or the link closes
//	at each step
package catchup
