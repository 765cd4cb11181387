package main

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"redlock-proxy/quorum/master"

	"github.com/alicebob/miniredis/v2"
	"github.com/alicebob/miniredis/v2/server"
)

// embedded is a master inside this process, for trying out: miniredis, with
// ttls that run out by themselves, and what it lacks to pass for a master.
type embedded struct {
	redis   *miniredis.Miniredis
	server  *server.Server // of redis, which forgets it when it is closed
	address string
	runID   string
	started time.Time

	clock  sync.Mutex    // guards ticked and pause
	ticked time.Time     // up to when ttls have run
	pause  time.Duration // until they are let run on

	ahead atomic.Int64                  // of the right time, its clock, in nanoseconds
	ice   atomic.Pointer[chan struct{}] // while it is frozen: closed when it thaws
	fate  sync.Mutex                    // held by who breaks or mends it, see embeddedfate.go; guards dead
	dead  bool

	mu     sync.Mutex // guards what follows
	lastID int
	peers  map[int]*server.Peer
	ids    map[*server.Peer]int
}

// startEmbedded starts n of them on free ports of 127.0.0.1.
func startEmbedded(n int) ([]*embedded, error) {
	var list []*embedded
	for range n {
		e := newEmbedded()
		if err := e.redis.StartAddr("127.0.0.1:0"); err != nil {
			closeEmbedded(list)
			return nil, fmt.Errorf("start an embedded master: %w", err)
		}
		e.interpose(e.redis.Addr())
		list = append(list, e)
	}
	return list, nil
}

// newEmbedded makes one that is not started, and so not asked before commands.
func newEmbedded() *embedded {
	e := &embedded{
		redis:   miniredis.NewMiniRedis(),
		runID:   newRunID(),
		started: time.Now(),
		peers:   map[int]*server.Peer{},
		ids:     map[*server.Peer]int{},
	}
	e.redis.SetTime(e.started)
	e.redis.ClockTTL(true)
	return e
}

// interpose has e asked before each command that the started server gets.
func (e *embedded) interpose(address string) {
	e.address, e.server = address, e.redis.Server()
	e.server.SetPreHook(e.before)
}

// closeEmbedded ends them, with all their goroutines.
func closeEmbedded(list []*embedded) {
	for _, e := range list {
		e.melt()
		e.redis.Close()
	}
}

func newRunID() string {
	var b [20]byte
	rand.Read(b[:])
	return hex.EncodeToString(b[:])
}

func (e *embedded) master() master.Master {
	return master.Master{Name: e.address, Network: "tcp", Address: e.address}
}

// maxPause is the longest time for which ttls may stand still. A key that is
// set meanwhile may end so much too early, as the time before it was set
// is counted. What the proxy adds to every ttl, a hundredth and 2 ms, covers
// that from ttls of 5 s on even when a master is full of keys.
const maxPause = 50 * time.Millisecond

// tick lets ttls run out up to now. Miniredis walks through all its keys for
// that, so with thousands of them it would do little else if it were done for
// each command: it is let take an eighth of the time.
func (e *embedded) tick() {
	if !e.redis.TryLock() {
		return // a script is running, and this is one of its commands
	}
	e.redis.Unlock()
	if !e.clock.TryLock() {
		return
	}
	defer e.clock.Unlock()
	began := time.Now()
	now := e.now()
	if since := now.Sub(e.ticked); since >= 0 && since < e.pause {
		return
	}
	e.redis.SetTime(now)
	e.redis.DB(0) // any access lets ttls run
	e.ticked, e.pause = now, min(8*time.Since(began), maxPause)
}

// now is what its clock shows.
func (e *embedded) now() time.Time { return time.Now().Add(time.Duration(e.ahead.Load())) }
