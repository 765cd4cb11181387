// Package members is which masters are used together, and how that changes: how the masters of a
// set are marked before any of them may vote (Bootstrap), and how one set becomes another while no
// proxy serves (Change). Examine looks at them, and changes nothing.
//
// What is to be done is decided by what stands in the masters' markers, and pure. All that was
// done stands there, too, so that either order can be given again after whatever ended it, and
// several may give it at once.
//
//	member.go        one master, as both orders speak to it
//
//	bootstrap.go     marks what lacks, admits, and tells what stands
//	bootstrapplan.go what is to be done, by the markers that were found
//	bootstrapend.go  what an order that fails takes back, and what it tells
//
//	change.go        the steps of a change, in order
//	changeplan.go    the part that each server has in it, by its markers
//	changelook.go    which servers there are, and what was learned of them
//	changeserved.go  whether proxies still use the old set
//	changemark.go    markers that are written, in an order that is the same for all
//	changefill.go    each new master is given what the old ones hold
//
//	examine.go       what package doctor is to know of each master
//
// Goroutines:
//
//	started by  what                 owns           ends when                waited for by
//	Change      filling each master  its catch-ups  it holds all keys, or    Change
//	                                                ctx ends
//	Examine     a conversation,      what is known  it has been asked, or    Examine
//	            one a master         of the master  ctx ends
package members
