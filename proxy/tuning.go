package proxy

import (
	"math"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"redlock-proxy/commands"
)

// Tuning is what may be changed while a Server runs, see Server.Tune.
type Tuning struct {
	// SlowerThan is how long the answer to a command takes that SLOWLOG lists, the masters
	// included. Negative: none is.
	SlowerThan time.Duration

	// SlowMaxLen is how many of them it keeps. Zero: none is listed.
	SlowMaxLen int

	// LatencyThreshold is how long what LATENCY tells of takes. Zero: it tells of nothing.
	LatencyThreshold time.Duration
}

// slowness is from when on commands are looked at, and what is told of those.
type slowness struct {
	tuned    sync.Mutex   // held by who tunes
	slowFrom atomic.Int64 // nanoseconds: quicker commands cost this comparison and nothing else
	slowlog  slowlog
	latency  latency
}

// never is a time that none is as long as.
const never = math.MaxInt64

// Tune puts t in force, also for commands that are on their way.
func (s *Server) Tune(t Tuning) {
	s.tuned.Lock()
	defer s.tuned.Unlock()
	slow, sampled := int64(t.SlowerThan), int64(t.LatencyThreshold)
	if slow < 0 || t.SlowMaxLen == 0 {
		slow = never
	}
	if sampled == 0 {
		sampled = never
	}
	s.slowlog.keep(t.SlowMaxLen)
	s.slowlog.from.Store(slow)
	s.latency.from.Store(sampled)
	s.slowFrom.Store(min(slow, sampled))
}

// carriedOut counts a command that was carried out. raw is its bytes.
func (c *conn) carriedOut(row *commands.Command, took time.Duration, raw []byte, r *commands.Reply) {
	c.srv.stats.done(row, took, r)
	if int64(took) >= c.srv.slowFrom.Load() {
		c.noteSlow(row, took, raw)
	}
}

// noteSlow notes a command that took as long as slowFrom.
func (c *conn) noteSlow(row *commands.Command, took time.Duration, raw []byte) {
	s, now := c.srv, time.Now()
	if int64(took) >= s.slowlog.from.Load() {
		s.slowlog.add(slowEntry{
			at: now, took: took, args: c.shownOf(raw), addr: c.addr, name: strings.Clone(c.snapshot.Load().Name),
		})
	}
	if int64(took) >= s.latency.from.Load() {
		event := "command"
		if row.HasFlag("fast") {
			event = "fast-command"
		}
		s.latency.add(event, row.Name, now, took)
	}
}
