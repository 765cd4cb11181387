package main

import (
	"errors"
	"fmt"
	"strconv"
	"time"

	"redlock-proxy/integration"
)

// load is one that both proxies are put under.
type load struct {
	name    string
	measure string
	figure  func(sample) float64
	lower   bool // of the figure is better
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
		list = append(list, load{"set/" + s.name(), fmt.Sprintf("`SET NX PX`, %v", s), throughput, false,
			func(b *bench, h *house) (loader, func() error) {
				f := &flood{shape: s, command: acquire}
				return f.loader(), h.blank
			}})
	}
	for _, s := range []shape{{1, 1}, {50, 1}, {50, 16}, {500, 1}} {
		list = append(list, load{"release/" + s.name(), fmt.Sprintf("release by `EVAL`, %v", s), throughput, false,
			func(b *bench, h *house) (loader, func() error) {
				f := &flood{shape: s, command: release}
				return f.loader(), b.refill(h, f, h.masters...)
			}})
	}
	for _, n := range []int{1, 50, 500} {
		list = append(list, load{fmt.Sprintf("pairs/g%d", n), fmt.Sprintf("lock + unlock pairs, %d at once", n), throughput, false,
			func(b *bench, h *house) (loader, func() error) {
				return func(addr string) func(time.Duration) (sample, error) {
					return b.pairLoad([]string{"-proxy", addr, "-goroutines", strconv.Itoa(n)})
				}, h.blank
			}})
	}
	return append(list, load{"p50/c1-apart", "p50 of one client on a core of its own", medianLatency, true,
		func(b *bench, h *house) (loader, func() error) {
			return func(addr string) func(time.Duration) (sample, error) {
				return (&single{addr: addr, apart: true}).load
			}, h.blank
		}})
}

// rival is another proxy that stands before the same masters, so that all that differs is
// what the two do.
type rival struct {
	name  string // of the trials
	who   string
	goal  goal
	start func(h *house) (*integration.Proxy, error)
}

// besideTrial measures the proxy beside another.
func (b *bench) besideTrial(r *report, l load, other rival) (err error) {
	h, err := b.house(plan{masters: b.masters})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, h.close()) }()
	p, err := other.start(h)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.Kill()) }()
	at, prepare := l.begin(b, h)
	its := &side{name: other.name, load: at(p.Addr), prepare: prepare,
		watched: []watched{watch(watchedProxy, p.Child), h.watchMasters()}}
	proxy := h.through(at(h.proxy.Addr))
	proxy.prepare = prepare
	if err := b.turns(its, proxy); err != nil {
		return err
	}
	name := other.name + "/" + l.name
	r.add(line{name, l.measure + ", beside " + other.who, other.goal, proxy.beside(its, l.figure), ""})
	r.addFigures(name, its, proxy)
	return nil
}
