package audit

import "time"

// trouble is that lines cannot be written.
type trouble struct {
	since     time.Time // zero if there is none
	unsettled bool      // something was written that may not outlive a power cut
}

// run is the life of the goroutine that waits for the disk instead of all others.
func (l *Log) run() {
	defer close(l.ended)
	for last := false; ; {
		for l.writeNext() {
		}
		if last {
			return
		}
		last = l.await()
	}
}

// await waits until there is something to write, or to try again, and tells whether that is the last.
func (l *Log) await() (last bool) {
	wake := l.wake
	var again <-chan time.Time
	if !l.since.IsZero() {
		timer := time.NewTimer(retry)
		defer timer.Stop()
		wake, again = nil, timer.C
	}
	select {
	case <-wake:
	case <-again:
	case <-l.reopen:
		l.unsettled = true // what cannot be opened is told of, also if there is no line
		if err := l.cfg.To.Reopen(); err != nil {
			l.fails(err)
		}
	case <-l.closing:
		return true
	}
	return false
}

// writeNext writes the oldest line, and says whether there may be another. While that fails, the
// line stays where it is.
func (l *Log) writeNext() bool {
	l.mu.Lock()
	var line []byte
	if len(l.lines) > 0 {
		line = l.lines[0]
	}
	l.mu.Unlock()
	if line == nil {
		l.settle()
		return false
	}
	if _, err := l.cfg.To.Write(line); err != nil {
		l.fails(err)
		return false
	}
	l.mu.Lock()
	l.lines[0] = nil
	l.lines = l.lines[1:]
	l.queued -= len(line)
	l.mu.Unlock()
	l.unsettled = true
	return true
}

// settle ends what was written, and the trouble.
func (l *Log) settle() {
	if !l.unsettled {
		return
	}
	if err := l.cfg.To.Settle(); err != nil {
		l.fails(err)
		return
	}
	l.unsettled = false
	if !l.since.IsZero() {
		l.cfg.Log.Warn("the audit log is written again", "after", time.Since(l.since).Round(time.Millisecond), "lost_in_all", l.lost.Load())
		l.since = time.Time{}
	}
}

// fails says once that it does.
func (l *Log) fails(err error) {
	if l.since.IsZero() {
		l.since = time.Now()
		l.cfg.Log.Error("the audit log cannot be written; orders are carried out all the same, and their lines wait", "error", err)
	}
}
