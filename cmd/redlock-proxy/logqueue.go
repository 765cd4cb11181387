package main

import (
	"bytes"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-hclog"
)

const (
	// maxQueuedLog is how many bytes of lines wait for whoever reads standard error:
	// minutes of trouble. What comes then is counted and not kept.
	maxQueuedLog = 1 << 20

	// keptLogBuffer is what is kept of a buffer that was longer.
	keptLogBuffer = 64 << 10

	// logRetry is how long a writer that has failed is left alone. Its reader may be
	// started again.
	logRetry = time.Second

	// logFlushTimeout bounds how long the process stays for what it has to say last.
	logFlushTimeout = time.Second
)

// logQueue is between the logger and standard error, so that nobody who logs waits for
// whoever reads it: a log that is not read must cost no lock. Lines that do not fit, or
// cannot be written, are counted, and how many were lost stands where they are missing.
type logQueue struct {
	to io.Writer

	// The goroutine's.
	gap    hclog.Logger // writes to line
	line   bytes.Buffer
	untold uint64 // lines that are lost in front of those that are queued
	spare  []byte

	wake    chan struct{} // has room for one: there is something to write
	closing chan struct{}
	ended   chan struct{}
	lost    atomic.Uint64

	mu     sync.Mutex // guards what follows
	lines  []byte
	missed uint64 // lines behind those that are lost
}

// newLogQueue starts a queue. told makes the logger of the line that tells of lost ones.
func newLogQueue(to io.Writer, told func(io.Writer) hclog.Logger) *logQueue {
	q := &logQueue{to: to, wake: make(chan struct{}, 1), closing: make(chan struct{}), ended: make(chan struct{})}
	q.gap = told(&q.line)
	go q.run()
	return q
}

// Write takes a line, or loses it, and never waits. Behind a lost line all are lost until
// that can be told, so that it stands in the right place.
func (q *logQueue) Write(line []byte) (int, error) {
	q.mu.Lock()
	if q.missed > 0 || len(q.lines)+len(line) > maxQueuedLog {
		q.missed++
		q.lost.Add(1)
	} else {
		q.lines = append(q.lines, line...)
	}
	q.mu.Unlock()
	select {
	case q.wake <- struct{}{}:
	default: // it is awake
	}
	return len(line), nil
}

// close writes what is queued, if that takes no longer than timeout. Nothing may be
// logged afterwards.
func (q *logQueue) close(timeout time.Duration) {
	close(q.closing)
	deadline := time.NewTimer(timeout)
	defer deadline.Stop()
	select {
	case <-q.ended:
	case <-deadline.C:
	}
}

// run is the life of the goroutine that waits for the reader instead of all others.
func (q *logQueue) run() {
	defer close(q.ended)
	for last := false; !last; {
		select {
		case <-q.wake:
		case <-q.closing:
			last = true
		}
		for q.writeOn() {
		}
		if q.untold > 0 && !last {
			q.pause()
		}
	}
}

// writeOn writes what there is, and says whether there may be more. While the writer
// fails, what is queued stays there.
func (q *logQueue) writeOn() bool {
	if q.untold > 0 {
		q.line.Reset()
		q.gap.Warn("lines of this log are lost, as nobody has read it", "lines", q.untold, "in_all", q.lost.Load())
		if _, err := q.to.Write(q.line.Bytes()); err != nil {
			return false
		}
		q.untold = 0
	}
	q.mu.Lock()
	lines, missed := q.lines, q.missed
	q.lines, q.missed = q.spare[:0], 0
	q.mu.Unlock()
	if q.spare = lines; cap(lines) > keptLogBuffer {
		q.spare = nil
	}
	q.untold = missed
	if len(lines) == 0 {
		return missed > 0
	}
	if n, err := q.to.Write(lines); err != nil {
		unwritten := uint64(bytes.Count(lines[n:], []byte("\n")))
		q.lost.Add(unwritten)
		q.untold += unwritten
		return false
	}
	return true
}

// pause lets a writer that has failed alone for a while, and has it tried again then.
func (q *logQueue) pause() {
	timer := time.NewTimer(logRetry)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-q.closing:
	}
	select {
	case q.wake <- struct{}{}:
	default:
	}
}
