package audit

import (
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-hclog"
)

// Sink is where lines go. Only the writer calls it.
type Sink interface {
	io.Writer // of one line, all of it or nothing; it may take long

	// Reopen is for who has moved the file away. What fails is tried again by Settle and Write.
	Reopen() error

	// Settle is called when all lines are written, for now: they are to outlive a power cut.
	Settle() error
}

// Config is how a Log is made.
type Config struct {
	Name string // of this proxy, host:pid
	To   Sink
	Log  hclog.Logger
}

const (
	// maxQueued is how many bytes of lines wait for a disk: some thousand orders. Denials, which
	// anybody can bring about, leave half of that to orders.
	maxQueued = 1 << 20

	// retry is how long a disk that has failed is left alone.
	retry = time.Second
)

// Log takes entries and has them written by a goroutine of its own, so that nobody waits for a disk.
// A nil Log takes none.
type Log struct {
	cfg    Config
	wake   chan struct{} // has room for one: there is a line
	reopen chan struct{} // has room for one

	closing chan struct{}
	ended   chan struct{}
	lost    atomic.Uint64

	trouble // the writer's

	mu     sync.Mutex // guards what follows
	runID  string
	lines  [][]byte
	queued int    // bytes of them
	missed uint64 // lines that were lost behind those
	losing bool   // and the log has said so
	bounds bounds
	closed bool
}

// New makes a Log. Close ends it.
func New(cfg Config) *Log {
	l := &Log{cfg: cfg, wake: make(chan struct{}, 1), reopen: make(chan struct{}, 1), closing: make(chan struct{}), ended: make(chan struct{})}
	go l.run()
	return l
}

// Called names the run of the proxy by its run id, before anything is told.
func (l *Log) Called(runID string) {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.runID = runID
}

// Lost is how many lines were lost.
func (l *Log) Lost() uint64 {
	if l == nil {
		return 0
	}
	return l.lost.Load()
}

// Tell has an entry written, unless there were too many like it. It never waits.
func (l *Log) Tell(e Entry) {
	if l == nil {
		return
	}
	now := time.Now()
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return
	}
	a := l.bounds.of(&e, now)
	if a == nil {
		l.put(&e, now, 0)
		return
	}
	if l.bounds.lets(a, &e, now) && l.put(&e, now, a.omitted) {
		a.omitted = 0
	}
}

// Sweep tells of what was left out, and of what was lost, where nothing came that could. It is to be
// called once a second or so.
func (l *Log) Sweep() {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.sweep(false)
}

// sweep is called with mu held.
func (l *Log) sweep(end bool) {
	now := time.Now()
	if crowded := l.queued > maxQueued/2-maxText; !crowded || end { // else what was omitted goes on being counted
		for _, a := range l.bounds.rested(now, end) {
			l.put(&a.like, now, a.omitted)
		}
	}
	if l.queued > maxQueued/2 || l.missed > 0 && !l.fillGap(now, maxQueued) || !l.losing {
		return
	}
	l.losing = false
	l.cfg.Log.Warn("lines of the audit log are not lost any more", "in_all", l.lost.Load())
}

// put queues a line, or loses it. mu is held.
func (l *Log) put(e *Entry, now time.Time, left uint64) bool {
	room := maxQueued
	if e.Open || e.Event == omitted {
		room /= 2
	}
	line := l.encode(e, now, left, 0)
	if l.missed > 0 && !l.fillGap(now, room-len(line)) || l.queued+len(line) > room {
		l.missed++
		l.lost.Add(1)
		if !l.losing {
			l.losing = true
			l.cfg.Log.Error("lines of the audit log are lost, as too many wait to be written")
		}
		return false
	}
	l.append(line)
	return true
}

// fillGap has a line stand where lines are lost, if there is room for that. mu is held.
func (l *Log) fillGap(now time.Time, room int) bool {
	line := l.encode(&Entry{Event: gap}, now, 0, l.missed)
	if l.queued+len(line) > room {
		return false
	}
	l.append(line)
	l.missed = 0
	return true
}

// append is called with mu held.
func (l *Log) append(line []byte) {
	l.lines = append(l.lines, line)
	l.queued += len(line)
	signal(l.wake)
}

// Reopen has the file opened anew, and what waits for it tried again.
func (l *Log) Reopen() {
	if l != nil {
		signal(l.reopen)
	}
}

func signal(to chan<- struct{}) {
	select {
	case to <- struct{}{}:
	default: // it is known
	}
}

// Close writes what is queued, if that takes no longer than timeout, and tells whether the writer has
// ended by then. What is told afterwards is told to nobody.
func (l *Log) Close(timeout time.Duration) (ended bool) {
	if l == nil {
		return true
	}
	l.mu.Lock()
	l.sweep(true)
	l.closed = true
	l.mu.Unlock()
	close(l.closing)
	deadline := time.NewTimer(timeout)
	defer deadline.Stop()
	select {
	case <-l.ended:
		ended = true
	case <-deadline.C:
	}
	l.mu.Lock()
	left := len(l.lines)
	l.mu.Unlock()
	if left > 0 {
		l.cfg.Log.Error("the last lines of the audit log are lost", "lines", left)
	}
	return ended
}
