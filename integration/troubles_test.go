package integration

import (
	"testing"
	"time"
)

// trouble is one way in which a master fails, and how it recovers.
type trouble struct {
	name        string
	begin, end  func(t *testing.T, m *Redis, r *Relay)
	keepsMemory bool // what it held is still there when the trouble ends

	// unheard: it carries out the first lock, of which nobody may hear: not if its connection
	// is given up before it has answered. Once that is extended elsewhere, what is owed names
	// another end, and the master keeps it until its ttl is over.
	unheard bool
}

var troubles = []trouble{
	{
		name:  "killed",
		begin: func(t *testing.T, m *Redis, _ *Relay) { must(t, m.Kill()) },
		end:   func(t *testing.T, m *Redis, _ *Relay) { must(t, m.Restart()) },
	},
	{
		name:        "frozen",
		begin:       func(t *testing.T, m *Redis, _ *Relay) { must(t, m.Freeze()) },
		end:         func(t *testing.T, m *Redis, _ *Relay) { must(t, m.Thaw()) },
		keepsMemory: true,
		unheard:     true,
	},
	{
		name:        "cut off",
		begin:       func(_ *testing.T, _ *Redis, r *Relay) { r.Cut() },
		end:         func(_ *testing.T, _ *Redis, r *Relay) { r.Restore() },
		keepsMemory: true,
	},
	{
		name:        "silent",
		begin:       func(_ *testing.T, _ *Redis, r *Relay) { r.Replies.Hold() },
		end:         func(_ *testing.T, _ *Redis, r *Relay) { r.Replies.Release() },
		keepsMemory: true,
		unheard:     true,
	},
	{
		name:        "late",
		begin:       func(_ *testing.T, _ *Redis, r *Relay) { r.Replies.Delay(150 * time.Millisecond) },
		end:         func(_ *testing.T, _ *Redis, r *Relay) { r.Replies.Delay(0) },
		keepsMemory: true,
		unheard:     true,
	},
	{
		name: "asking for a password",
		begin: func(t *testing.T, m *Redis, _ *Relay) {
			c := direct(t, m)
			c.want("OK", "CONFIG", "SET", "requirepass", "changed")
			m.Options.Password = "changed"
			c.do("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")
		},
		end: func(t *testing.T, m *Redis, _ *Relay) {
			direct(t, m).want("OK", "CONFIG", "SET", "requirepass", "")
			m.Options.Password = ""
		},
		keepsMemory: true,
	},
	{
		name:        "out of memory",
		begin:       func(t *testing.T, m *Redis, _ *Relay) { direct(t, m).want("OK", "CONFIG", "SET", "maxmemory", "1") },
		end:         func(t *testing.T, m *Redis, _ *Relay) { direct(t, m).want("OK", "CONFIG", "SET", "maxmemory", "0") },
		keepsMemory: true,
	},
	{
		name: "made a replica",
		// It may have been given what another master holds: it has to catch up.
		begin: func(t *testing.T, m *Redis, _ *Relay) { direct(t, m).want("OK", "REPLICAOF", "127.0.0.1", "1") },
		end:   func(t *testing.T, m *Redis, _ *Relay) { direct(t, m).want("OK", "REPLICAOF", "NO", "ONE") },
	},
	{
		name: "answering garbage",
		begin: func(_ *testing.T, _ *Redis, r *Relay) {
			r.Replies.Rewrite(func(b []byte) []byte {
				for i := range b {
					b[i] ^= 0x15
				}
				return b
			})
		},
		end:         func(_ *testing.T, _ *Redis, r *Relay) { r.Replies.Rewrite(nil) },
		keepsMemory: true,
		unheard:     true,
	},
	{
		name: "saying that it loads",
		begin: func(_ *testing.T, _ *Redis, r *Relay) {
			r.Replies.Rewrite(func([]byte) []byte {
				return []byte("-LOADING Redis is loading the dataset in memory\r\n")
			})
		},
		end:         func(_ *testing.T, _ *Redis, r *Relay) { r.Replies.Rewrite(nil) },
		keepsMemory: true,
	},
}
