package main

import (
	"errors"
	"fmt"

	"redlock-proxy/integration"
)

// acquire is what most of the trials send.
var acquire = []string{"SET", "lock:__rand_int__", "v", "NX", "PX", "30000"}

// release is the script of Redis's own documentation.
var release = []string{"EVAL",
	`if redis.call("get",KEYS[1]) == ARGV[1] then return redis.call("del",KEYS[1]) else return 0 end`,
	"1", "lock:__rand_int__", "v"}

// wanted is a shape with what is to be reached at it.
type wanted struct {
	shape
	must, aim float64
}

func setTrials() (list []trial) {
	for _, w := range []wanted{
		{shape{1, 1}, .45, .55}, {shape{50, 1}, .65, .75}, {shape{50, 16}, .42, .50}, {shape{500, 1}, .82, .88},
	} {
		list = append(list, trial{"set/" + w.name(), func(b *bench, r *report) error { return setTrial(b, r, w) }})
	}
	return list
}

func setTrial(b *bench, r *report, w wanted) (err error) {
	h, err := b.house(plan{masters: b.masters})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, h.close()) }()
	f := &flood{shape: w.shape, command: acquire}
	direct, proxy := h.asked(f.at(h.direct.Addr)), h.through(f.at(h.proxy.Addr))
	direct.prepare, proxy.prepare = h.blank, h.blank
	if err := b.turns(direct, proxy); err != nil {
		return err
	}
	name := "set/" + w.name()
	r.add(line{name, fmt.Sprintf("`SET NX PX` beside direct, %v", w.shape), b.goal(w.must, w.aim), proxy.beside(direct, throughput), ""})
	r.addFigures(name, direct, proxy)
	return nil
}

func releaseTrials() (list []trial) {
	for _, w := range []wanted{
		{shape{1, 1}, .45, .55}, {shape{50, 1}, .66, .72}, {shape{50, 16}, .45, .52}, {shape{500, 1}, .80, .85},
	} {
		list = append(list, trial{"release/" + w.name(), func(b *bench, r *report) error { return releaseTrial(b, r, w) }})
	}
	return list
}

// releaseTrial releases locks of which two in three are still held: there are
// as many as requests, and each request picks one.
func releaseTrial(b *bench, r *report, w wanted) (err error) {
	h, err := b.house(plan{masters: b.masters})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, h.close()) }()
	f := &flood{shape: w.shape, command: release}
	direct, proxy := h.asked(f.at(h.direct.Addr)), h.through(f.at(h.proxy.Addr))
	direct.prepare, proxy.prepare = b.refill(h, f, h.direct), b.refill(h, f, h.masters...)
	if err := b.turns(direct, proxy); err != nil {
		return err
	}
	name := "release/" + w.name()
	r.add(line{name, fmt.Sprintf("release by `EVAL` beside direct, %v", w.shape), b.goal(w.must, w.aim), proxy.beside(direct, throughput), ""})
	r.addFigures(name, direct, proxy)
	return nil
}

// refill has the servers hold as many locks as a turn releases.
func (b *bench) refill(h *house, f *flood, servers ...*integration.Redis) func() error {
	return func() error {
		if err := h.blank(); err != nil {
			return err
		}
		f.keys = f.requests(b.turn)
		for _, s := range servers {
			if err := fill(s, "lock:", f.keys); err != nil {
				return err
			}
		}
		return nil
	}
}

func nutcrackerTrials() (list []trial) {
	for _, w := range []wanted{{shape{50, 1}, .78, .85}, {shape{50, 16}, .65, .75}, {shape{500, 1}, .70, .85}} {
		list = append(list, trial{"nutcracker/" + w.name(), func(b *bench, r *report) error { return nutcrackerTrial(b, r, w) }})
	}
	return list
}

// nutcrackerTrial: nutcracker stands before the Redis that is asked directly
// elsewhere.
func nutcrackerTrial(b *bench, r *report, w wanted) (err error) {
	h, err := b.house(plan{masters: b.masters})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, h.close()) }()
	n, err := integration.StartNutcracker(h.direct.Addr)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, n.Stop()) }()
	f := &flood{shape: w.shape, command: acquire}
	other := &side{name: "nutcracker", load: f.at(n.Addr), prepare: h.blank,
		watched: []watched{watch(watchedProxy, n.Child), watch(watchedRedis, h.direct.Child)}}
	proxy := h.through(f.at(h.proxy.Addr))
	proxy.prepare = h.blank
	if err := b.turns(other, proxy); err != nil {
		return err
	}
	name := "nutcracker/" + w.name()
	r.add(line{name, fmt.Sprintf("`SET NX PX` beside nutcracker, %v", w.shape), b.goal(w.must, w.aim), proxy.beside(other, throughput), ""})
	r.addFigures(name, other, proxy)
	return nil
}
