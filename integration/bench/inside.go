package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"runtime"
	"time"

	"github.com/hashicorp/go-hclog"

	"redlock-proxy/integration"
	"redlock-proxy/proxy"
	"redlock-proxy/quorum/engine"
	"redlock-proxy/quorum/master"
	"redlock-proxy/quorum/members"
)

// inside is a proxy in this process, which can be asked what no other process
// tells: what it allocates, and where its time goes. Its options are the
// program's defaults but for the patience, as to be profiled takes time.
type inside struct {
	addr    string
	masters []*integration.Redis
	engine  *engine.Engine
	server  *proxy.Server
	served  chan error
}

func openInside(masters int) (i *inside, err error) {
	i = &inside{served: make(chan error, 1)}
	defer func() {
		if err != nil {
			err = errors.Join(err, i.close())
		}
	}()
	config := engine.Config{
		Set: master.Set{
			AcquireTimeout: 2 * time.Second, MaxTTL: time.Minute,
			ConnectTimeout: time.Second, MasterTimeout: time.Second, ProbeInterval: time.Second,
		},
		SplitRetries: 3, SplitDelay: 25 * time.Millisecond,
	}
	for range masters {
		m, err := integration.StartRedis(integration.RedisOptions{})
		if err != nil {
			return i, err
		}
		i.masters = append(i.masters, m)
		config.Masters = append(config.Masters, master.Master{Name: m.Addr, Network: "tcp", Address: m.Addr})
	}
	if err := members.Bootstrap(context.Background(), config.Equipped(), members.Bootstrapping{NoLocksHeld: true}); err != nil {
		return i, err
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return i, err
	}
	i.addr = ln.Addr().String()
	i.engine = engine.New(config, hclog.NewNullLogger())
	var served proxy.Config
	served.Commands.Version = "7.2.0"
	served.Commands.MaxTTL = config.MaxTTL
	served.Commands.Users = "user default on nopass ~* &* +@all\n"
	i.server = proxy.New(served, i.engine, hclog.NewNullLogger())
	go func() { i.served <- i.server.Serve(ln) }()
	return i, awaitVoting(i.addr, masters)
}

func (i *inside) close() error {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	var err error
	if i.server != nil {
		err = errors.Join(i.server.Shutdown(ctx), <-i.served)
	}
	if i.engine != nil {
		i.engine.Close(ctx)
	}
	for _, m := range i.masters {
		err = errors.Join(err, m.Stop())
	}
	return err
}

// allocationTrial counts while redis-benchmark, a process of its own, is the
// only one that asks for anything. What starting it takes is counted too, and
// is nothing beside the requests of a turn.
func allocationTrial(b *bench, r *report) (err error) {
	i, err := openInside(b.masters)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, i.close()) }()
	for _, w := range []struct {
		shape
		goal goal
	}{{shape{50, 1}, b.atMost(2, .3)}, {shape{50, 16}, goal{}}} {
		var objects, bytes []float64
		f := &flood{shape: w.shape, command: acquire}
		load := f.at(i.addr)
		for round := range b.rounds + warmUps {
			if err := flush(i.addr); err != nil {
				return err
			}
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			taken, err := load(b.turn)
			if err != nil {
				return err
			}
			runtime.ReadMemStats(&after)
			if round >= warmUps {
				objects = append(objects, float64(after.Mallocs-before.Mallocs)/float64(taken.operations))
				bytes = append(bytes, float64(after.TotalAlloc-before.TotalAlloc)/float64(taken.operations))
			}
		}
		note := number(quartilesOf(bytes).median) + " bytes"
		r.add(line{"allocations", fmt.Sprintf("allocations per `SET`, %v", w.shape), w.goal, objects, note})
	}
	return nil
}
