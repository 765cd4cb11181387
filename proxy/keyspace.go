package proxy

import (
	"sync"
	"sync/atomic"
	"time"

	"redlock-proxy/commands"
	"redlock-proxy/quorum"
)

const (
	// keyspaceLasts is for how long an answer about the masters' keys is told again: programs
	// ask for INFO often.
	keyspaceLasts = time.Second

	// keyspaceWait is how long INFO waits for a new one before it tells the last one.
	keyspaceWait = 100 * time.Millisecond
)

// keyspace is what is known of the keys that the masters hold.
type keyspace struct {
	selected atomic.Uint32 // a bit for each database that a client has selected, but for 0

	mu    sync.Mutex // guards what follows
	begun time.Duration
	asked chan struct{} // closed when what is asked for is answered; nil before the first time
	lines []string
}

// note takes in that a database is in use.
func (k *keyspace) note(db int) { k.selected.Or(1 << db) }

// databases are those that are in use here. The masters are not asked about others: to open one
// would leave a marker there.
func (k *keyspace) databases() []int {
	dbs := []int{0}
	for db := 1; db < quorum.Databases; db++ {
		if k.selected.Load()&(1<<db) != 0 {
			dbs = append(dbs, db)
		}
	}
	return dbs
}

// keys are the lines of INFO's keyspace. The masters are asked once a second at most, however
// many clients ask.
func (s *Server) keys() []string {
	k := &s.keyspace
	k.mu.Lock()
	asked := k.asked
	fresh := asked != nil && (pending(asked) || s.clock()-k.begun < keyspaceLasts)
	if !fresh {
		asked = make(chan struct{})
		k.asked, k.begun = asked, s.clock()
	}
	k.mu.Unlock()
	if !fresh {
		s.askKeys(asked)
	}
	timer := time.NewTimer(keyspaceWait)
	defer timer.Stop()
	select {
	case <-asked:
	case <-timer.C:
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.lines
}

func pending(asked chan struct{}) bool {
	select {
	case <-asked:
		return false
	default:
		return true
	}
}

// askKeys puts the questions. Their last answer closes asked.
func (s *Server) askKeys(asked chan struct{}) {
	dbs := s.keyspace.databases()
	s.putAll(commands.KeyspaceRequests(dbs), func(results []quorum.Result) {
		lines := commands.Keyspace(dbs, results)
		s.keyspace.mu.Lock()
		s.keyspace.lines = lines
		s.keyspace.mu.Unlock()
		close(asked)
	})
}

func (t *infoText) keyspace() {
	for _, line := range t.srv.keys() {
		t.line("%s", line)
	}
}
