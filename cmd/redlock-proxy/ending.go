package main

import (
	"context"
	"os"
	"syscall"
	"time"
)

// sameSignal is how long after the first a second signal is still the same
// wish: timeout(1) and others signal a process and then its group.
const sameSignal = 200 * time.Millisecond

// leave is what a signal to end begins with: whoever asks is told that the process is about to
// end, and clients are served as before for drain-time, or until a second signal comes.
func (p *process) leave(signals <-chan os.Signal) {
	began, cfg := time.Now(), p.live.Load()
	p.announce(cfg.DrainTime + cfg.ShutdownTimeout)
	if cfg.DrainTime == 0 {
		return
	}
	p.log.Info("not ready any more, and serving until connections are closed", "for", cfg.DrainTime)
	over := time.NewTimer(cfg.DrainTime)
	defer over.Stop()
	for {
		select {
		case <-over.C:
			return
		case err := <-p.failed:
			p.log.Error("cannot accept connections any more", "error", err)
			return
		case s := <-signals:
			if s != syscall.SIGHUP && time.Since(began) > sameSignal {
				p.log.Info("drain-time is cut short by a second signal", "signal", s.String())
				return
			}
		}
	}
}

// announce tells clients' load balancers and systemd that the process ends within so long.
func (p *process) announce(within time.Duration) {
	p.server.Leave()
	p.tell(p.notifier.stopping(within+spareTime, p.statusLine()))
}

// spareTime is what the supervisor allows for beyond the times that are configured, before it kills.
const spareTime = 5 * time.Second

// stop ends everything in order, within shutdown-timeout, or at once when
// another signal comes.
func (p *process) stop(signals <-chan os.Signal) int {
	began := time.Now()
	if !p.server.Draining() {
		p.announce(p.live.Load().ShutdownTimeout)
	}
	close(p.stopped)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		p.end(p.live.Load().ShutdownTimeout)
	}()
	for {
		select {
		case <-ended:
			p.log.Info("all has ended")
			p.notifier.close()
			return exitOK
		case s := <-signals:
			if s != syscall.SIGHUP && time.Since(began) > sameSignal {
				p.log.Warn("ended at once by a second signal", "signal", s.String())
				return exitFailed
			}
		}
	}
}

// end lets clients finish, pays debts and closes the lanes. Clients get three
// quarters of the time, so that there is some for the masters however slow the
// clients are.
func (p *process) end(timeout time.Duration) {
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	clients, cancelClients := context.WithTimeout(ctx, timeout/4*3)
	defer cancelClients()
	if err := p.server.Shutdown(clients); err != nil {
		p.log.Warn("some clients were cut off", "error", err)
	}
	close(p.parted)
	p.engine.Retire()
	p.server.AwaitPutBack(ctx)
	p.engine.Close(ctx)
	p.endTraces(ctx)
	p.endAdmin(ctx)
	closeEmbedded(p.embedded)
	p.running.Wait()
}
