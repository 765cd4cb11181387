package engine

import (
	"sync"
	"sync/atomic"
	"time"
)

// connector keeps a lane's connection to its master: it makes it, carries batches on it for as
// long as it lasts, and tells of what is wrong with it. The lane's goroutine runs it.
type connector struct {
	*lane

	failures atomic.Uint64 // attempts to connect that failed
	tried    sync.Once     // it votes, or cannot be reached, for the first time
	lacking  sync.Once     // it was told that the master lacks a database

	troubled string    // the trouble that was last logged
	refused  time.Time // when it last was in any
	downFor  []string  // why the master is down, as far as that was logged
	warned   bool      // of its replicas
}
