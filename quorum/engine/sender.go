package engine

import (
	"time"

	"redlock-proxy/quorum"
)

// sender sends a lane's batches and settles what is answered to them. The lane's goroutine
// alone uses it.
type sender struct {
	*lane

	latest     int // how many the latest batch was of
	spare      []*op
	spareBatch *batch
	flush      []quorum.Flusher
	verdicts   []verdict
	resending  bool // what is sent is sent again, see resend
	suspects   bool // the master may refuse what is needed of it
	pipelined       // of a master that is far

	toldOfRoom time.Time // when it was last logged that there is no room for an answer
}
