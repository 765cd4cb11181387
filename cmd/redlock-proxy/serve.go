package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/hashicorp/go-hclog"

	"redlock-proxy/conf"
	"redlock-proxy/proxy"
	"redlock-proxy/proxy/admin"
	"redlock-proxy/proxy/audit"
	"redlock-proxy/proxy/trace"
	"redlock-proxy/quorum"
	"redlock-proxy/quorum/engine"
	"redlock-proxy/quorum/master"
	"redlock-proxy/quorum/members"
)

// process is what runs between start and exit.
type process struct {
	args     []string
	log      hclog.Logger
	logLost  func() uint64 // lines
	audit    *audit.Log    // nil if there is none
	endAudit func()
	live     *atomic.Pointer[conf.Config] // what is in effect
	changing sync.Mutex                   // held by who changes that: reload, configure, rewrite
	notifier *notifier
	started  bool // systemd has been told that we are ready

	listeners []net.Listener
	admin     adminDoor
	embedded  []*embedded
	engine    *engine.Engine
	server    *proxy.Server
	tracer    *trace.Tracer // nil if nothing is traced

	running sync.WaitGroup // acceptors, watchdog and who tells how the process stands
	stopped chan struct{}  // closed when the shutdown begins
	parted  chan struct{}  // closed when no client is left
	failed  chan error     // of acceptors; has room for all
}

// serve is the program. It returns the exit code. Signals are caught to its end: a second
// one that comes when all is done must not make a failure of it.
func serve(cfg *conf.Config, args []string, stdout, stderr io.Writer) int {
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)

	limitMemory(cfg)
	// A log whose reader is gone ends nothing, nor does one that is not read.
	signal.Ignore(syscall.SIGPIPE)
	log, queue := newLogger(cfg, stderr)
	defer queue.close(logFlushTimeout)
	p := &process{args: args, log: log, live: &atomic.Pointer[conf.Config]{}, logLost: queue.lost.Load, endAudit: func() {}, stopped: make(chan struct{}), parted: make(chan struct{})}
	p.live.Store(cfg)
	log.Info("starting", "version", programVersion(), "pid", os.Getpid())
	for _, w := range cfg.Warnings {
		log.Warn(w)
	}
	if err := p.openAudit(cfg, stdout, stderr); err != nil {
		log.Error("cannot start", "error", err)
		return exitFailed
	}
	defer p.endAudit()
	if err := p.start(cfg, signals); err != nil {
		log.Error("cannot start", "error", err)
		return exitOf(err)
	}
	return p.wait(signals)
}

// start brings everything up, or nothing.
func (p *process) start(cfg *conf.Config, signals <-chan os.Signal) (err error) {
	beside, passed, err := p.openAlone(cfg)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			p.close()
		}
	}()
	masters, err := p.masters(cfg)
	if err != nil {
		return err
	}
	if p.notifier, err = newNotifier(os.Getenv("NOTIFY_SOCKET")); err != nil {
		p.log.Warn("the supervisor cannot be told how the process fares", "error", err)
	}
	config := engineConfig(cfg, masters)
	host, _ := os.Hostname() // one without a name has its pid
	config.Client = master.ClientName(host, os.Getpid())
	if len(p.embedded) > 0 {
		if err := members.Bootstrap(context.Background(), config.Equipped(), members.Bootstrapping{NoLocksHeld: true}); err != nil {
			closeEmbedded(p.embedded)
			return fmt.Errorf("mark the embedded masters: %w", err)
		}
	}
	tracer, err := p.openTraces(cfg, masters)
	if err != nil {
		closeEmbedded(p.embedded)
		return err
	}
	p.engine = engine.New(config, p.log)
	server := serverConfig(cfg, p.live, p.maxClients(cfg, len(masters)), p.engine.Now)
	server.LogLost, server.Inquire, server.Configure, server.Rewrite = p.logLost, p.inquire, p.configure, p.rewrite
	server.Tracer, server.Audit = tracer, p.audit
	server.ReadUsers, server.WriteUsers = cfg.ReadUsers, cfg.WriteUsers
	p.server = proxy.New(server, p.engine, p.log)
	p.audit.Tell(audit.Entry{Event: audit.Start, Door: audit.Process, Answer: "version " + programVersion()})
	p.engine.Consult(p.server) // from now on the masters are listened to, and other proxies know of this one
	if beside {
		if err := p.openBeside(cfg, passed, signals); err != nil {
			return err
		}
	}
	p.failed = make(chan error, len(p.listeners))
	for _, ln := range p.listeners {
		p.log.Info("listening", "address", ln.Addr().String())
		p.running.Go(func() {
			if err := p.server.Serve(ln); err != nil {
				p.failed <- err
			}
		})
	}
	p.serveAdmin(cfg)
	p.startDemo(cfg, os.Stdout)
	if every := watchdogInterval(os.Getenv); every > 0 && p.notifier != nil {
		p.running.Go(func() { p.watch(every) })
	}
	return nil
}

// masters are the configured ones, or embedded ones.
func (p *process) masters(cfg *conf.Config) ([]master.Master, error) {
	if len(cfg.Masters) > 0 {
		return configuredMasters(p.live), nil
	}
	var err error
	if p.embedded, err = startEmbedded(cfg.Embedded); err != nil {
		return nil, err
	}
	masters := make([]master.Master, len(p.embedded))
	for i, e := range p.embedded {
		masters[i] = e.master()
	}
	p.log.Warn("embedded masters are for trying out: they are in this process and forget every lock when it ends; name real ones with --master",
		"masters", len(masters))
	return masters, nil
}

func (p *process) maxClients(cfg *conf.Config, masters int) int {
	limit, err := openFilesLimit()
	if err != nil {
		p.log.Warn("the limit on open files is not known", "error", err)
		return cfg.MaxClients
	}
	if cfg.Admin.Network != "" {
		limit -= min(limit, admin.MaxConnections)
	}
	fit, warning := fitClients(cfg.MaxClients, masters, limit)
	if warning != "" {
		p.log.Warn(warning)
	}
	return fit
}

// wait is where the process spends its life.
func (p *process) wait(signals <-chan os.Signal) int {
	tried := p.engine.Tried()
	for {
		select {
		case <-tried:
			tried = nil
			if err := p.engine.Refusal(); err != nil {
				p.log.Error("cannot serve", "error", err)
				p.auditStop("cannot serve")
				p.stop(signals)
				return exitOf(err)
			}
			p.started = true
			p.log.Info("every master has been tried", "ready", p.server.Ready())
			p.tell(p.notifier.ready())
			if p.notifier != nil {
				p.running.Go(p.tellStatus)
			}
		case err := <-p.failed:
			p.log.Error("cannot accept connections any more", "error", err)
			p.auditStop("cannot accept connections")
			p.stop(signals)
			return exitFailed
		case s := <-signals:
			if s == syscall.SIGHUP {
				p.reload()
				continue
			}
			p.log.Info("shutting down", "signal", s.String(), "timeout", p.live.Load().ShutdownTimeout)
			p.auditStop("signal: " + s.String())
			p.leave(signals)
			return p.stop(signals)
		}
	}
}

// exitOf is the exit code of a process that cannot serve.
func exitOf(err error) int {
	switch {
	case errors.Is(err, errSignal):
		return exitOK
	case errors.Is(err, quorum.ErrOtherTerms):
		return exitConfig
	}
	return exitFailed
}

// tell notes that systemd could not be told something. It is its own to act on.
func (p *process) tell(err error) {
	if err != nil {
		p.log.Warn("the supervisor cannot be told how the process fares", "error", err)
	}
}

// watch tells systemd that the process lives, as long as it answers a PING of
// its own.
func (p *process) watch(every time.Duration) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	failing := false
	for {
		select {
		case <-p.stopped:
			return
		case <-tick.C:
		}
		_, err := p.self().alive(every / 2)
		if err != nil {
			if !failing {
				p.log.Error("the process does not answer itself, so the watchdog is not told that it lives", "error", err)
			}
			failing = true
			continue
		}
		failing = false
		p.tell(p.notifier.watchdog())
	}
}

// self is the first listener as it was opened: a port of 0 has become another.
func (p *process) self() endpoint {
	e := firstEndpoint(p.live.Load())
	e.network, e.address = p.listeners[0].Addr().Network(), p.listeners[0].Addr().String()
	return e
}
