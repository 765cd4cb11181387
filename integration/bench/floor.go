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

// load is one that both proxies are put under.
type load struct {
	name    string
	measure string
	figure  func(sample) float64
	begin   func(b *bench, h *house) (at loader, prepare func() error)
}

// loader is the load of the side that listens at an address.
type loader func(addr string) func(time.Duration) (sample, error)

// loader puts either side under the flood.
func (f *flood) loader() loader {
	return func(addr string) func(time.Duration) (sample, error) { return f.at(addr) }
}

// loads are those of what is to be reached in which one Redis, or redsync, is asked
// for the same.
func loads() (list []load) {
	for _, s := range []shape{{1, 1}, {50, 1}, {50, 16}, {500, 1}} {
		list = append(list, load{"set/" + s.name(), fmt.Sprintf("`SET NX PX`, %v", s), throughput,
			func(b *bench, h *house) (loader, func() error) {
				f := &flood{shape: s, command: acquire}
				return f.loader(), h.blank
			}})
	}
	for _, s := range []shape{{50, 1}, {50, 16}, {500, 1}} {
		list = append(list, load{"release/" + s.name(), fmt.Sprintf("release by `EVAL`, %v", s), throughput,
			func(b *bench, h *house) (loader, func() error) {
				f := &flood{shape: s, command: release}
				return f.loader(), b.refill(h, f, h.masters...)
			}})
	}
	for _, n := range []int{1, 50, 500} {
		list = append(list, load{fmt.Sprintf("pairs/g%d", n), fmt.Sprintf("lock + unlock pairs, %d at once", n), throughput,
			func(b *bench, h *house) (loader, func() error) {
				return func(addr string) func(time.Duration) (sample, error) {
					return b.pairLoad([]string{"-proxy", addr, "-goroutines", strconv.Itoa(n)})
				}, h.blank
			}})
	}
	return append(list, load{"p50/c1-apart", "p50 of one client on a core of its own", medianLatency,
		func(b *bench, h *house) (loader, func() error) {
			return func(addr string) func(time.Duration) (sample, error) {
				return (&single{addr: addr, apart: true}).load
			}, h.blank
		}})
}

func floorTrials() (list []trial) {
	for _, l := range loads() {
		list = append(list, trial{"floor/" + l.name, func(b *bench, r *report) error { return floorTrial(b, r, l) }})
	}
	return list
}

// floorTrial: both proxies stand before the same masters, so all that differs is what
// the real one does besides passing on and counting.
func floorTrial(b *bench, r *report, l load) (err error) {
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
	at, prepare := l.begin(b, h)
	other := &side{name: "floor", load: at(floor.Addr), prepare: prepare,
		watched: []watched{watch(watchedProxy, floor.Child), h.watchMasters()}}
	proxy := h.through(at(h.proxy.Addr))
	proxy.prepare = prepare
	if err := b.turns(other, proxy); err != nil {
		return err
	}
	name := "floor/" + l.name
	r.add(line{name, l.measure + ", beside a proxy without duties", goal{}, proxy.beside(other, l.figure), ""})
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
