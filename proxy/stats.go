package proxy

import (
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"redlock-proxy/commands"
	"redlock-proxy/commands/acl"
	"redlock-proxy/quorum"
)

// stats counts what INFO tells. Every client's goroutine and every lane writes
// here, so what is counted per command has a cache line per command, and what
// is counted per read or write has one of its own.
type stats struct {
	commands []commandStats // by Command.Index
	table    []*commands.Command

	input  atomic.Uint64 // bytes
	_      [56]byte
	output atomic.Uint64 // bytes
	_      [56]byte

	latencies [quorum.Survey + 1]durations // by Kind

	connections, rejectedConnections atomic.Uint64
	queryLimit, outputLimit          atomic.Uint64 // connections cut off
	evicted                          atomic.Uint64 // connections cut off for what all take
	undelivered                      atomic.Uint64 // locks whose OK could not be delivered
	toiling                          atomic.Uint64 // calls of scripts, see probation.go
	authFailures                     atomic.Uint64
	denied                           [acl.ByLimit + 1]atomic.Uint64 // by Reason
	delayed                          atomic.Uint64                  // commands that came faster than max-rate
	errorReplies                     atomic.Uint64

	mu     sync.Mutex // guards what follows
	errors map[string]uint64
	lately rates  // in the last second
	before totals // at the end of it
}

// commandStats is a row of four cache lines. How often the command was called is the sum of took,
// so that a call adds to two numbers here, and not to three.
type commandStats struct {
	rejected, failed atomic.Uint64
	nanos            atomic.Int64
	took             histogram
	_                [8]byte
}

// rates are by the second.
type rates struct{ ops, input, output float64 }

type totals struct {
	at                 time.Duration
	ops, input, output uint64
}

// maxErrorKinds bounds the first words of errors that are told apart, and maxErrorKind how long
// they are: a master could make them up, and so can a script.
const (
	maxErrorKinds = 128
	maxErrorKind  = 64
)

func newStats(table []*commands.Command) *stats {
	return &stats{commands: make([]commandStats, len(table)), table: table, errors: map[string]uint64{}}
}

// done counts a command that was carried out, whatever came of it.
func (s *stats) done(c *commands.Command, took time.Duration, r *commands.Reply) {
	row := &s.commands[c.Index]
	row.took.add(took)
	row.nanos.Add(int64(took))
	if r.Kind == commands.ErrorReply {
		row.failed.Add(1)
		s.errorReply(r.Str)
	}
}

// rejected counts a command that was refused before it could run; c is nil if
// there is none of that name.
func (s *stats) rejected(c *commands.Command, r *commands.Reply) {
	if c != nil {
		s.commands[c.Index].rejected.Add(1)
	}
	s.errorReply(r.Str)
}

func (s *stats) errorReply(text string) {
	s.errorReplies.Add(1)
	kind, _, _ := strings.Cut(text, " ")
	if kind == "WRONGPASS" {
		s.authFailures.Add(1)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, known := s.errors[kind]; known {
		s.errors[kind]++
	} else if len(s.errors) < maxErrorKinds && len(kind) <= maxErrorKind {
		s.errors[strings.Clone(kind)]++
	}
}

func (s *stats) errorKinds() map[string]uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.errors)
}

// processed is how many commands were carried out.
func (s *stats) processed() (n uint64) {
	for i := range s.commands {
		n += s.commands[i].took.counts().calls()
	}
	return n
}

// reset has everything count from 0 again, as CONFIG RESETSTAT does. What others count meanwhile may
// be lost.
func (s *stats) reset(now time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range s.commands {
		row := &s.commands[i]
		for j := range row.took {
			row.took[j].Store(0)
		}
		row.rejected.Store(0)
		row.failed.Store(0)
		row.nanos.Store(0)
	}
	for _, n := range []*atomic.Uint64{&s.input, &s.output, &s.connections, &s.rejectedConnections, &s.queryLimit,
		&s.outputLimit, &s.evicted, &s.authFailures, &s.delayed, &s.errorReplies} {
		n.Store(0)
	}
	for i := range s.denied {
		s.denied[i].Store(0)
	}
	clear(s.errors)
	s.before = totals{at: now}
}

// sample takes the rates since the last one.
func (s *stats) sample(now time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := totals{at: now, ops: s.processed(), input: s.input.Load(), output: s.output.Load()}
	if seconds := (now - s.before.at).Seconds(); seconds > 0 {
		s.lately = rates{
			ops:    float64(t.ops-s.before.ops) / seconds,
			input:  float64(t.input-s.before.input) / seconds,
			output: float64(t.output-s.before.output) / seconds,
		}
	}
	s.before = t
}

func (s *stats) rates() rates {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.lately
}

// inOrder lists the table by name, as INFO does.
func (s *stats) inOrder() []*commands.Command {
	list := slices.Clone(s.table)
	slices.SortFunc(list, func(a, b *commands.Command) int { return strings.Compare(a.Name, b.Name) })
	return list
}
