// Package members is which masters are used together, and how that changes: the Set with its
// terms and the times that follow from them; how its masters are marked before any of them may
// vote (Bootstrap); and how one set becomes another while no proxy serves (Change).
//
// What is to be done is decided by what stands in the masters' markers, and pure: bootstrapplan.go
// and changeplan.go. All that was done stands there, too, so that either order can be given again after whatever
// ended it, and several may give it at once.
//
//	bootstrap.go    marks what lacks, admits, and tells what stands; bootstrapend.go takes back
//	change.go       the steps of a change, in order
//	changelook.go   which servers there are, and what their markers make of them
//	changeserved.go whether proxies still use the old set
//	changemark.go   markers that are written, in an order that is the same for all
//	changefill.go   each new master is given what the old ones hold
//	member.go       one master, as both speak to it
package members
