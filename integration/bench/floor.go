package main

import (
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"

	"redlock-proxy/integration"
)

func floorTrials() (list []trial) {
	for _, s := range []shape{{1, 1}, {50, 1}, {50, 16}, {500, 1}} {
		list = append(list, trial{"floor/" + s.name(), func(b *bench, r *report) error { return floorTrial(b, r, s) }})
	}
	return list
}

// floorTrial: both proxies stand before the same masters, so all that differs is what
// the real one does besides passing on and counting.
func floorTrial(b *bench, r *report, s shape) (err error) {
	h, err := b.house(plan{masters: b.masters})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, h.close()) }()
	floor, err := b.startFloor(h.masters)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, floor.Kill()) }()
	f := &flood{shape: s, command: acquire}
	other := &side{name: "floor", load: f.at(floor.Addr), prepare: h.blank,
		watched: []watched{watch(watchedProxy, floor.Child), h.watchMasters()}}
	proxy := h.through(f.at(h.proxy.Addr))
	proxy.prepare = h.blank
	if err := b.turns(other, proxy); err != nil {
		return err
	}
	name := "floor/" + s.name()
	r.add(line{name, fmt.Sprintf("`SET NX PX` beside a proxy without duties, %v", s), goal{}, proxy.beside(other, throughput), ""})
	r.addFigures(name, other, proxy)
	return nil
}

// startFloor starts the proxy without duties before the masters.
func (b *bench) startFloor(masters []*integration.Redis) (*integration.Proxy, error) {
	path := filepath.Join(b.dir, "floor")
	if out, err := exec.Command("go", "build", "-o", path, "redlock-proxy/integration/bench/floor").CombinedOutput(); err != nil {
		return nil, fmt.Errorf("build floor: %w\n%s", err, out)
	}
	port, err := integration.FreePort()
	if err != nil {
		return nil, err
	}
	addr := "127.0.0.1:" + strconv.Itoa(port)
	args := []string{addr}
	for _, m := range masters {
		args = append(args, m.Addr)
	}
	p, err := integration.StartProxy(integration.ProxyOptions{Path: path, Args: args, Addr: addr, Bare: true})
	if err != nil {
		return nil, err
	}
	for range 1000 {
		if _, err = ask(addr, "PING"); err == nil {
			return p, nil
		}
		time.Sleep(10 * time.Millisecond)
	}
	return nil, errors.Join(fmt.Errorf("floor does not answer: %w\n%s", err, p.Log()), p.Kill())
}
