package proxy

import "math"

// asking is the part of a connection that is about its commands which masters are asked
// for. The connection's mu guards it.
type asking struct {
	spare     *slot     // and what follows it: see slots
	owed      slotLine  // slots whose replies are owed, in the order of the commands
	inFlight  int       // requests of these slots
	window    window    // how many these may be
	pauses    int       // how often it was waited, see waitFlushed
	probation int       // how many scripts are still to show that they do not toil, see probation.go
	wakesAt   int       // how few the reader waits for; anyNumber if for something else
	asked     int       // bytes of the commands of these slots
	weight    int       // bytes that the undecided ones come to, see weight.go
	undecided undecided // keys whose next command waits
	reached   undecided // the tags of all of these, and of scripts that may use any key of one
	stood     uint64    // slots there were, see order.go
	writes    int       // and those undecided that write
	lists     int       // and that list all keys
	flushes   int       // and that take them
	barred    []*slot   // and whose requests are not put yet
	gathered  int       // bytes of results whose replies are not complete
}

// anyNumber is of requests that are undecided: each decision is what the reader may wait for.
const anyNumber = math.MaxInt
