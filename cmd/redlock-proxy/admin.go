package main

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"sync/atomic"

	"redlock-proxy/conf"
	"redlock-proxy/proxy/admin"
	"redlock-proxy/proxy/page"
)

// adminDoor is the listener for those who watch the process, and who serves it. Without one
// its listener is nil.
type adminDoor struct {
	listener net.Listener
	server   *admin.Server
	sight    *sight
	page     *page.Handler
}

// openAdmin opens the listener. One that nobody has asked for is done without where somebody
// else is at its address, as who tries out two proxies is.
func (p *process) openAdmin(cfg *conf.Config, d *door) error {
	if cfg.Admin.Network == "" {
		return nil
	}
	ln, err := d.open("admin-listen", cfg.Admin)
	if err != nil && cfg.AdminByItself {
		p.log.Info("there is no admin listener, which is there by itself while masters are embedded; admin-listen names another address", "error", err)
		return nil
	}
	if err == nil {
		p.admin.listener = ln
	}
	return err
}

// serveAdmin serves who comes there, until the end. Clients are served without it, too.
func (p *process) serveAdmin(cfg *conf.Config) {
	if p.admin.listener == nil {
		return
	}
	p.admin.sight = &sight{engine: p.engine, server: p.server, log: p.log}
	demo := cfg.Command == conf.Demo
	if demo {
		p.admin.sight.broken = p.embedded
	}
	p.admin.page = page.New(page.Config{Source: p.admin.sight, Log: p.log, Who: whoAsks, Demo: demo})
	config := adminConfig(cfg, p.live)
	config.Handlers = map[string]http.Handler{"/": p.admin.page}
	p.admin.server = admin.New(config, p.server, p.log)
	scheme := "http"
	if cfg.AdminTLS == "yes" {
		scheme = "https"
	}
	p.log.Info("the admin listener is open", "at", scheme+"://"+p.admin.listener.Addr().String())
	p.running.Go(func() {
		if err := p.admin.server.Serve(p.admin.listener); err != nil {
			p.log.Error("the admin listener has failed, and nobody is answered there any more", "error", err)
		}
	})
}

// whoAsks is who looks at the page, as the guard before it knows him.
func whoAsks(r *http.Request) page.Who { return page.Who{User: admin.UserOf(r), From: r.RemoteAddr} }

// endAdmin is the last of what clients and masters wait for: until then it tells how the end
// goes.
func (p *process) endAdmin(ctx context.Context) {
	if p.admin.server != nil {
		p.admin.page.Close()
		p.admin.server.Shutdown(ctx)
		p.admin.sight.close()
	}
}

func adminConfig(cfg *conf.Config, live *atomic.Pointer[conf.Config]) admin.Config {
	c := admin.Config{
		Hosts: cfg.AdminHosts(),
	}
	if cfg.AdminTLS == "yes" {
		c.TLS = func() *tls.Config { return live.Load().ServerTLS }
	}
	return c
}
