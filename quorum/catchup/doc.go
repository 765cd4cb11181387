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
//	reads.go      what one master is asked
//	released.go   what is released meanwhile
//	forbidden.go  keys that a master's ACL keeps from our user
//	scripts.go    what runs on the masters
//
// Once it votes it is set beside the others, and freed of what none of them holds: [Lay]
// (ghosts.go, look.go). So is every master, from time to time, of what would never end: [LayEternal]. What is deleted was
// watched before it was looked at (watched.go).
//
// A catch-up writes to its target alone.
package catchup
