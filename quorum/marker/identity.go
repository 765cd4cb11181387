package marker

// Identity is who answered at the other end of a connection, by its own word.
type Identity struct {
	RunID    string // of its process
	Version  string
	ClientID int64 // of this connection, at the master
	Seven    bool  // it knows what came with 7.0: SET with NX and GET, EXPIRE with flags
	Durable  bool  // every write is on disk before it is answered, unless Anew
	Anew     bool  // its log is being written anew
	Rewrites int   // how often this process has begun that
	Replicas int   // how many are connected to it

	Evicted int // keys, by this process so far; NotTold if it does not say

	// Replication is the name of its data set's history. It is another one, and
	// Continued tells so, once the server has been a replica.
	Replication string
	Continued   bool
}

// Logs tells that what the server grants now is in the log that it would come back with. A
// log that was switched off, and on again, is the old one until it is written anew, and
// nothing tells that from one which is only being made shorter.
func (who Identity) Logs() bool { return who.Durable && !who.Anew }

// KeptAll tells that the process has lost nothing, by its own word, of what it read of a log.
func (who Identity) KeptAll() bool { return who.Durable && who.Evicted <= 0 && !who.Continued }
