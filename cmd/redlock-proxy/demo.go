package main

import (
	"fmt"
	"io"
	"net"
	"time"

	"redlock-proxy/conf"
	"redlock-proxy/proxy/page"
)

// A demo is a proxy over embedded masters that the page's viewer may break, with clients of its own
// that lock, so that there is something to see.

// startDemo begins it, once the proxy serves.
func (p *process) startDemo(cfg *conf.Config, stdout io.Writer) {
	if cfg.Command != conf.Demo {
		return
	}
	p.running.Go(func() {
		select {
		case <-p.engine.Tried():
			fmt.Fprint(stdout, p.invitation(cfg))
		case <-p.stopped:
		}
	})
	for _, c := range demoClients {
		p.running.Go(func() { c.run(p.self(), p.stopped) })
	}
}

// invitation says where to look, and what to try.
func (p *process) invitation(cfg *conf.Config) string {
	self := p.self()
	how, listen := "-s "+self.address, "unix://"+self.address
	if host, port, err := net.SplitHostPort(self.address); err == nil {
		how, listen = "-h "+host+" -p "+port, self.address
	}
	return fmt.Sprintf(`
The page:  http://%s/
A client:  redis-cli %s

Three clients fight for demo:stock, two others have locks of their own. On the page each master can
be broken. Try, and look who holds what meanwhile:

  1. Kill a master: locks go on. Start it blank: it may not vote until the others have given back
     what it has forgotten, which the page shows as catching-up.
  2. Freeze a master: it is given up after %v, and nobody waits for it.
  3. Set its clock an hour ahead: what it held has run out there; it is found out, and caught up.
  4. Kill two: no quorum, NOQUORUM is what clients hear, and held locks stay held.
     Start both with their memory, or both blank: then nobody can tell what was held, and no lock is
     granted for max-ttl, %v.
  5. redlock-proxy status --watch --listen %s

Nothing is kept. Ctrl-C ends it.

`, p.admin.listener.Addr(), how, cfg.MasterTimeout, cfg.MaxTTL, listen)
}

// breakMaster carries out an order of the page's that there is in a demo alone.
func breakMaster(masters []*embedded, o *page.Order) (said string, err error) {
	for _, e := range masters {
		if e.address != o.Master {
			continue
		}
		switch o.Order {
		case page.KillMaster:
			said, err = "it is killed, and holds nothing that counts", e.crash()
		case page.StartBlank:
			said, err = "it is started, and has forgotten everything", e.start(true)
		case page.StartRecalled:
			said, err = "it is started, with what it held when it was killed", e.start(false)
		case page.FreezeMaster:
			said, err = "it is frozen, and answers nothing", e.freeze()
		case page.ThawMaster:
			said, err = "it goes on where it was", e.thaw()
		case page.SetClock:
			ahead := time.Duration(o.Seconds) * time.Second
			e.setClock(ahead)
			if said = "its clock is right"; ahead != 0 {
				said = fmt.Sprintf("its clock is %v ahead of the right time", ahead)
			}
		}
		if err != nil {
			return "", fmt.Errorf("%w: %w", page.ErrNotNow, err)
		}
		return said, nil
	}
	return "", fmt.Errorf("%w: no master is called %q", page.ErrNotThere, o.Master)
}
