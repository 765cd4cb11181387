package engine

import (
	"sync/atomic"
	"time"

	"redlock-proxy/quorum/marker"
)

// keeper keeps the marker of a lane's master: it examines what stands there when the connection
// is new and whenever a batch's proof does not fit, writes what is to stand there, and tells the
// lane by it whether the master has a vote. The lane's goroutine alone uses it. It has a method
// for each thing that a marker may say, and each that one is written for.
type keeper struct {
	*lane

	known   marker.Marker // what stands on the master; its nonce is "" if nothing does
	past    past          // what stood there before
	admits  marker.Nonce  // under which this proxy has let the master vote
	haunted marker.Nonce  // under which it was last begun to be freed of ghosts
	wrote   string        // the step of a first start in which this lane has written markers

	doubt  bool         // a proof did not fit
	era    uint64       // of what all masters were last looked at for
	steady atomic.Int64 // when the last look began that showed the clock to run true, by ours; others read it
	met    uint64       // how many jumps of it there were when the marker was last asked for
	untold bool         // a jump is settled that no marker tells of yet

	// anew is when a jump was last settled, by our clock. What was put before then gets no
	// vote of this master any more:
	//	1: master 1 grants k to A, and this machine is stopped, with all of its clocks
	//	2: master 1 loses k, and catches up with the others, which never had it
	//	3: the machine goes on: the clocks of all masters seem to have jumped, so it was
	//	   ours, and each begins anew
	//	4: master 2 grants k to A, which would have a quorum
	anew time.Time

	inspected  time.Duration // by our clock, when the master was last inspected
	looked     time.Duration // and when a batch last looked at it
	waits      string        // the process whose log the others are to confirm
	waitsSince time.Duration // by our clock
}
