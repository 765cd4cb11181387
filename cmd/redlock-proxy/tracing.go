package main

import (
	"context"
	"time"

	"redlock-proxy/conf"
	"redlock-proxy/proxy"
	"redlock-proxy/proxy/trace"
	"redlock-proxy/quorum/master"
)

// openTraces is who traces a share of the requests, nil if no collector is named.
func (p *process) openTraces(cfg *conf.Config, masters []master.Master) (tracer proxy.Tracer, err error) {
	if cfg.Traces == "" {
		return nil, nil
	}
	config := trace.Config{
		Endpoint: cfg.Traces,
		Share:    cfg.TraceSample,
		Version:  programVersion(),
		Patience: cfg.MasterTimeout + cfg.AcquireTimeout, // by then a master that hangs has been given up
	}
	for _, m := range masters {
		config.Masters = append(config.Masters, m.Name)
	}
	if p.tracer, err = trace.New(config, p.log); err != nil {
		return nil, err
	}
	p.log.Info("requests are traced", "endpoint", cfg.Traces, "share", cfg.TraceSample)
	return p.tracer, nil
}

// endTraces sends what is left, when nothing is asked of masters any more.
func (p *process) endTraces(ctx context.Context) {
	if p.tracer != nil {
		ctx, cancel := context.WithTimeout(ctx, time.Second)
		defer cancel()
		p.tracer.Close(ctx)
	}
}
