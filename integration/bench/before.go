package main

import (
	"errors"
	"fmt"

	"redlock-proxy/integration"
)

// beforeTrials sets the proxy beside another build of it.
func beforeTrials() (list []trial) {
	for _, l := range append(loads(), otherLoads()...) {
		list = append(list, trial{"before/" + l.name, func(b *bench, r *report) error {
			return b.besideTrial(r, l, rival{"before", "the build before", l.notWorse(), b.startBefore})
		}})
	}
	return list
}

// otherLoads are those that nothing else could be put under.
func otherLoads() (list []load) {
	for _, s := range []shape{{50, 1}, {50, 16}} {
		list = append(list, load{"poll/" + s.name(), fmt.Sprintf("polling one held lock, %v", s), throughput, false,
			func(b *bench, h *house) (loader, func() error) {
				return (&flood{shape: s, command: poll}).loader(), hold(h.proxy.Addr)
			}})
	}
	return append(list, load{"journal", "Redisson's `tryLock`, journaled, c50 P16", throughput, false,
		func(b *bench, h *house) (loader, func() error) {
			return (&flood{shape: shape{50, 16}, command: tryLock}).loader(), h.blank
		}})
}

// notWorse is what a build has to reach of the one before.
func (l load) notWorse() goal {
	if l.lower {
		return goal{must: 1 / .97, aim: 1, set: true, atMost: true}
	}
	return goal{must: .97, aim: 1, set: true}
}

// startBefore starts the other build, with what the first has been told.
func (b *bench) startBefore(h *house) (*integration.Proxy, error) {
	p, err := integration.StartProxy(integration.ProxyOptions{Path: b.before, Args: h.args})
	if err != nil {
		return nil, err
	}
	if err := awaitVoting(p.Addr, len(h.masters)); err != nil {
		return nil, errors.Join(err, p.Kill())
	}
	return p, nil
}
