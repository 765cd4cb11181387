package proxy

import (
	"time"

	"redlock-proxy/commands/acl"
	"redlock-proxy/quorum"
)

// Figures is a picture of the server for whoever runs it: what INFO tells of clients and
// commands. What the masters come to is told by quorum.Status. Counters only grow, until CONFIG RESETSTAT.
type Figures struct {
	Version         string // of the program
	Ready, Draining bool

	Clients, MaxClients            int
	Subscribed                     int    // clients that listen to channels
	Waiting                        int    // clients that wait for a lock, or for an element
	WaitedGranted, WaitedRefused   uint64 // acquires that have waited
	Tracking                       TrackingFigures
	LongestInput                   int64 // bytes of the client that has sent most of what is not answered
	LongestOutput                  int   // bytes of the client that has not read most
	ClientMemory, MaxClientMemory  int64 // bytes, of all clients
	MastersMemory                  int   // bytes taken for what masters answer, are asked and are owed
	Channels, ShardChannels        int   // that somebody listens to
	Patterns                       int   // the same
	Connections, Rejected          uint64
	QueryLimit, OutputLimit        uint64 // clients cut off by a bound of their own
	Evicted                        uint64 // clients cut off for what all take
	WrongPasswords                 uint64
	Denied                         [acl.ByLimit + 1]uint64 // to users, by acl.Reason
	Delayed                        uint64                  // commands that came faster than their user's max-rate
	BytesIn, BytesOut              uint64
	ErrorReplies                   uint64
	Errors                         map[string]uint64 // by their first word; of those there is a bound
	Commands                       []CommandFigures  // those that were given, by name
	Latencies                      [quorum.Survey + 1]Latency
	UndeliveredOKs, ToilingScripts uint64
	Scripts, ScriptBytes           int // of clients, which are kept
	LocksSeen                      int // that are held by clients of this proxy, as far as it remembers
	LogLinesLost, AuditLinesLost   uint64
}

// CommandFigures are about one command.
type CommandFigures struct {
	Name                    string
	Calls, Rejected, Failed uint64
	Took                    time.Duration // all calls together
}

// Figures is how the server stands.
func (s *Server) Figures() Figures {
	st := s.stats
	f := Figures{
		Version:         s.cfg.ProgramVersion,
		Ready:           s.Ready(),
		Draining:        s.Draining(),
		MaxClients:      s.cfg.MaxClients,
		ClientMemory:    s.memory.used.Load(),
		MaxClientMemory: s.memory.most,
		MastersMemory:   s.engine.Memory(),
		Connections:     st.connections.Load(),
		Rejected:        st.rejectedConnections.Load(),
		QueryLimit:      st.queryLimit.Load(),
		OutputLimit:     st.outputLimit.Load(),
		Evicted:         st.evicted.Load(),
		Waiting:         int(s.room.count.Load() + s.blocked.count.Load()),
		Tracking:        s.tracking.figures(),
		WaitedGranted:   s.room.granted.Load(),
		WaitedRefused:   s.room.refused.Load(),
		WrongPasswords:  st.authFailures.Load(),
		Delayed:         st.delayed.Load(),
		BytesIn:         st.input.Load(),
		BytesOut:        st.output.Load(),
		ErrorReplies:    st.errorReplies.Load(),
		Errors:          st.errorKinds(),
		UndeliveredOKs:  st.undelivered.Load(),
		ToilingScripts:  st.toiling.Load(),
		LogLinesLost:    s.logLost(),
		AuditLinesLost:  s.cfg.Audit.Lost(),
	}
	for i := range f.Denied {
		f.Denied[i] = st.denied[i].Load()
	}
	f.Clients, f.Subscribed, f.LongestInput, f.LongestOutput = s.clientFigures()
	f.Channels, f.ShardChannels, f.Patterns = s.subscribers.totals()
	if s.dialect != nil {
		f.Scripts, f.ScriptBytes = s.dialect.Scripts()
	}
	f.Latencies = s.Latencies()
	f.LocksSeen = s.seen.Held(s.clock())
	for _, c := range st.inOrder() {
		row := &st.commands[c.Index]
		told := CommandFigures{c.Name, row.took.counts().calls(), row.rejected.Load(), row.failed.Load(), time.Duration(row.nanos.Load())}
		if told.Calls+told.Rejected+told.Failed > 0 {
			f.Commands = append(f.Commands, told)
		}
	}
	return f
}

// Latencies are those of the requests of each kind since the start.
func (s *Server) Latencies() (l [quorum.Survey + 1]Latency) {
	for kind := range l {
		l[kind] = s.stats.latencies[kind].picture()
	}
	return l
}

// clientFigures is what clients come to that are connected.
func (s *Server) clientFigures() (clients, subscribed int, longestInput int64, longestOutput int) {
	s.mu.Lock()
	conns := s.connections()
	s.mu.Unlock()
	for _, c := range conns {
		longestInput = max(longestInput, c.pending.Load())
		if c.snapshot.Load().Subscribed() {
			subscribed++
		}
		c.mu.Lock()
		longestOutput = max(longestOutput, c.unread)
		c.mu.Unlock()
	}
	return len(conns), subscribed, longestInput, longestOutput
}

// Status is how the masters stand, and what they have decided.
func (s *Server) Status() quorum.Status { return s.engine.Status() }
