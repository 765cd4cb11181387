package proxy

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-hclog"

	"redlock-proxy/commands"
	"redlock-proxy/quorum/registry"
)

// Server serves clients: on any number of listeners, until Shutdown.
type Server struct {
	cfg        Config
	engine     Engine
	log        hclog.Logger
	newSession func(id int64) session
	stats      *stats
	aclLog     aclLog
	seen       *registry.Registry
	watched    watched
	dialect    *commands.Dialect // nil in tests of less than a server
	orders     []bool            // of the rows of commands, those that are audited
	runID      string
	started    time.Time

	subscribers subscribers

	denials  denials
	memory   allotment
	squeeze  squeeze
	room     room
	blocked  blockedRoom
	returns  returns
	tracking tracking
	crowds
	slowness
	keyspace keyspace
	monitors monitors
	purged   purge

	attackLogged atomic.Int64 // when, in nanoseconds since started; 0 before the first
	lastID       atomic.Int64
	leaving      atomic.Bool // Leave or Shutdown has begun
	draining     atomic.Bool // Shutdown has

	running  sync.WaitGroup // the sampler and the connections
	taking   sync.WaitGroup // commands of which it is not known yet whose the elements are that they take, and what is put back
	sampling sync.Once      // the sampler begins with the first listener
	stop     chan struct{}  // closed by the first Shutdown

	pollers pollers
	opened
}

// opened is what a server has open.
type opened struct {
	mu        sync.Mutex // guards what follows
	listeners map[net.Listener]struct{}
	conns     map[int64]*conn
	closed    bool   // no connection is taken in any more
	port      int    // of the first TCP listener
	address   string // of the first listener
}

// connections is a picture of conns. mu is held.
func (o *opened) connections() []*conn {
	list := make([]*conn, 0, len(o.conns))
	for _, c := range o.conns {
		list = append(list, c)
	}
	return list
}

// conn is the connection of an id, nil if it has ended.
func (o *opened) conn(id int64) *conn {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.conns[id]
}

// New makes a server that asks engine. The server does not own the engine:
// close it after Shutdown.
func New(cfg Config, engine Engine, log hclog.Logger) *Server {
	if cfg.Commands.Now == nil {
		cfg.Commands.Now = engine.Now
	}
	s := newServer(cfg, engine, log, nil)
	cfg.Commands.Lookout = lookout{s}
	dialect := commands.NewDialect(cfg.Commands)
	s.dialect, s.newSession = dialect, func(id int64) session { return dialect.Session(id) }
	s.memory.remembered = dialect.Memory
	return s
}

func newServer(cfg Config, engine Engine, log hclog.Logger, newSession func(int64) session) *Server {
	cfg.Limits = cfg.Limits.withDefaults()
	cfg.MaxClients = positive(cfg.MaxClients, DefaultMaxClients)
	var id [20]byte
	rand.Read(id[:])
	s := &Server{
		cfg:        cfg,
		engine:     engine,
		log:        log,
		newSession: newSession,
		runID:      hex.EncodeToString(id[:]),
		started:    time.Now(),
		stop:       make(chan struct{}),
		seen:       registry.New(registry.DefaultLocks),
		opened:     opened{listeners: map[net.Listener]struct{}{}, conns: map[int64]*conn{}},
	}
	s.room.most = cfg.AcquireWait
	engine.Observe(s)
	s.stats = newStats(commands.Table())
	s.orders = ordersByIndex(cfg.Audit != nil)
	cfg.Audit.Called(s.runID)
	s.Tune(cfg.Tuning)
	s.memory.most = int64(positive(cfg.MaxClientMemory, DefaultMaxClientMemory))
	s.memory.masters = engine.Memory
	s.longs.most, s.toilers.most, s.strange.most = crowdOf(s.memory.most), 1, mostStrange
	engine.Attend(&s.subscribers)
	return s
}

// Ready: a lock can be had here. A load balancer asks this; PING tells only
// that the process lives.
func (s *Server) Ready() bool { return !s.leaving.Load() && s.engine.Ready() }

// Draining: Leave or Shutdown has been called.
func (s *Server) Draining() bool { return s.leaving.Load() }

// Clients is how many are connected.
func (s *Server) Clients() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.conns)
}

// Shutdown ends the server: no more connections; those that there are end at a moment that
// costs their clients nothing, see parting.go. Half of ctx's time later no more commands are read from
// those that are left; what has been read is answered and written. When ctx
// ends first, the connections that are left are cut off and ctx's error is
// returned. All goroutines have ended when Shutdown returns.
func (s *Server) Shutdown(ctx context.Context) error {
	s.Leave()
	s.mu.Lock()
	if !s.draining.Swap(true) {
		close(s.stop)
	}
	for ln := range s.listeners {
		stopAccepting(ln)
	}
	clients := len(s.conns)
	s.mu.Unlock()
	s.room.close(s.clock())
	s.blocked.close()
	if clients > 0 {
		s.log.Info("closing connections", "clients", clients)
	}
	s.part(ctx)

	s.mu.Lock()
	s.closed = true
	for ln := range s.listeners {
		ln.Close()
	}
	conns := s.connections()
	s.mu.Unlock()
	for _, c := range conns {
		c.drain()
	}

	ended := make(chan struct{})
	go func() {
		s.running.Wait()
		s.pollers.close()
		close(ended)
	}()
	select {
	case <-ended:
		return nil
	case <-ctx.Done():
	}
	s.mu.Lock()
	conns = s.connections()
	s.mu.Unlock()
	s.log.Warn("clients did not end in time and are cut off", "clients", len(conns))
	for _, c := range conns {
		c.cut()
	}
	<-ended
	return ctx.Err()
}

// AwaitPutBack waits, after Shutdown, until what was taken for clients who were cut off meanwhile, or had gone, is put back,
// or ctx ends. The engine is to be closed after that, and may take no other requests by then.
func (s *Server) AwaitPutBack(ctx context.Context) {
	settled := make(chan struct{})
	go func() {
		s.taking.Wait()
		close(settled)
	}()
	select {
	case <-settled:
	case <-ctx.Done():
	}
}

// clock is the time since the server started: a number that is cheap to keep
// and that a jump of the wall clock does not touch.
func (s *Server) clock() time.Duration { return time.Since(s.started) }

// sample takes the counters once a second, until Shutdown.
func (s *Server) sample() {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	s.watch()
	for {
		select {
		case <-tick.C:
			s.stats.sample(s.clock())
			s.watch()
			s.sampleMasters()
			s.forgetDenials()
			s.cfg.Audit.Sweep()
			s.memory.share()
			s.relieve()
			if s.cfg.Timeout > 0 {
				s.endIdle()
			}
		case <-s.stop:
			return
		}
	}
}
