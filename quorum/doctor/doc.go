// Package doctor judges masters and this machine by facts that somebody else has gathered: what is
// wrong, what that means for locks, and what cures it. Facts go in, findings come out; it asks
// nobody, and reads no clock.
//
//	facts.go        what is known of the masters, of the machine, and of what is wanted of them
//	finding.go      one thing that is wrong; equal ones of several masters are one
//	judge.go        all that is looked at, in order
//
//	fit.go          whether a server can be a master at all, and stays one
//	persistence.go  what it keeps on disk, and what restarts cost by that
//	memory.go       what it does when it is full, and how full it is
//	rights.go       the commands that a master's user needs
//	settings.go     what else a server is told that keeps it from voting
//	clocks.go       clocks, and how far away masters are
//	marks.go        what stands in the markers
//	set.go          the masters together: how many, which versions, one under two names
//	machine.go      what the kernel allows here
package doctor
