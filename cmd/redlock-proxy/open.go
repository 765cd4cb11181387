package main

import (
	"context"
	"errors"
	"os"
	"syscall"
	"time"

	"redlock-proxy/conf"
)

// openAlone is open for a process whose addresses are its own. beside says that they are not.
func (p *process) openAlone(cfg *conf.Config) (beside bool, passed *passed, err error) {
	if passed, err = passedToUs(); err != nil {
		return false, nil, err
	}
	if cfg.ReusePort == "yes" || passed.any() {
		return true, passed, nil
	}
	return false, passed, p.open(cfg, passed)
}

// open opens all listeners, or none.
func (p *process) open(cfg *conf.Config, passed *passed) (err error) {
	d := newDoor(cfg, passed)
	if p.listeners, err = listen(cfg, p.live, d); err == nil {
		err = p.openAdmin(cfg, d)
	}
	if err == nil {
		err = passed.rest()
	}
	if err == nil {
		err = d.takeOver()
	}
	if err != nil {
		p.close()
		passed.close()
	}
	return err
}

// close closes the listeners of what was not started.
func (p *process) close() {
	closeAll(p.listeners)
	if p.admin.listener != nil {
		p.admin.listener.Close()
	}
}

// A process that is to listen beside another is given a share of the clients as soon as it
// listens, and one after another, at a socket of systemd's, those who have waited for it. So it
// waits until it can grant locks; but not for ever, as one that finds no quorum is to say
// so. One that may not serve these masters, or that a signal ends meanwhile, never listens: it would
// take over what it does not keep. It is looked every besideTick.
const (
	besideTime = 5 * time.Second
	besideTick = 5 * time.Millisecond
)

// errSignal is why a process does not start that a signal ends.
var errSignal = errors.New("a signal ended it before it listened")

// awaitReady waits for that.
func (p *process) awaitReady(signals <-chan os.Signal) error {
	over, tick := time.NewTimer(besideTime), time.NewTicker(besideTick)
	defer over.Stop()
	defer tick.Stop()
	for !p.engine.Ready() && p.engine.Refusal() == nil {
		select {
		case s := <-signals:
			if s != syscall.SIGHUP {
				return errSignal
			}
		case <-over.C:
			return nil
		case <-tick.C:
		}
	}
	return p.engine.Refusal()
}

// openBeside is open for these. The engine ends if it fails.
func (p *process) openBeside(cfg *conf.Config, passed *passed, signals <-chan os.Signal) error {
	err := p.awaitReady(signals)
	if err == nil {
		err = p.open(cfg, passed)
	}
	if err != nil {
		p.auditStop("cannot start")
		ctx, cancel := context.WithTimeout(context.Background(), cfg.ShutdownTimeout)
		defer cancel()
		p.engine.Close(ctx)
		p.endTraces(ctx)
		closeEmbedded(p.embedded)
	}
	return err
}
