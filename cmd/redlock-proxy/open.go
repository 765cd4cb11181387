package main

import (
	"context"
	"time"

	"redlock-proxy/conf"
)

// open opens all listeners, or none.
func (p *process) open(cfg *conf.Config) error {
	passed, err := passedToUs()
	if err != nil {
		return err
	}
	if p.listeners, err = listen(cfg, p.live, passed); err == nil {
		err = p.openAdmin(cfg, passed)
	}
	if err == nil {
		err = passed.rest()
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
// listens. So it waits until it can grant locks; but not for ever, as one that finds no
// quorum is to say so. It is looked every besideTick.
const (
	besideTime = 5 * time.Second
	besideTick = 5 * time.Millisecond
)

// openBeside is open for when another process may be listening. The engine ends if it fails.
func (p *process) openBeside(cfg *conf.Config) error {
	over := time.Now().Add(besideTime)
	for !p.engine.Ready() && p.engine.Refusal() == nil && time.Now().Before(over) {
		time.Sleep(besideTick)
	}
	err := p.open(cfg)
	if err != nil {
		ctx, cancel := context.WithTimeout(context.Background(), cfg.ShutdownTimeout)
		defer cancel()
		p.engine.Close(ctx)
		p.endTraces(ctx)
		closeEmbedded(p.embedded)
	}
	return err
}
