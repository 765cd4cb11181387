package main

import (
	"errors"
	"fmt"
	"os"
	"time"

	"redlock-proxy/integration"
)

// besieged is what the attacks share.
type besieged struct {
	options
	dir     string
	program string // the proxy's
	turns   int    // of attackers so far
}

func newBesieged(o options) (*besieged, error) {
	b := &besieged{options: o, program: o.program}
	var err error
	if b.dir, err = os.MkdirTemp("", "attack-"); err != nil {
		return nil, err
	}
	if b.program == "" {
		if b.program, err = integration.BuildProxy(b.dir, false); err != nil {
			return nil, errors.Join(err, os.RemoveAll(b.dir))
		}
	}
	return b, nil
}

// close removes what was built; what cannot be removed is temporary anyway.
func (b *besieged) close() { _ = os.RemoveAll(b.dir) }

// measure runs what was chosen. An attack that does more than it may does not keep the
// others from being run.
func (b *besieged) measure() (*report, error) {
	r := &report{options: b.options, machine: integration.Machine()}
	var failed error
	for _, a := range b.chosen() {
		started := time.Now()
		x, err := b.run(a)
		r.rows = append(r.rows, x)
		if err != nil {
			x.broken = append(x.broken, err.Error())
		}
		x.broken = append(x.broken, x.breaks(r.quiet(), b.options)...)
		for _, text := range x.broken {
			failed = errors.Join(failed, fmt.Errorf("%s: %s", a.name, text))
		}
		fmt.Fprintf(os.Stderr, "%s: %v\n    %s", a.name, time.Since(started).Round(100*time.Millisecond), x.row(r.quiet(), b.options))
	}
	return r, failed
}

// row is what came of one attack.
type row struct {
	attack
	proxy, one side
	idle, peak int // bytes of the proxy
	lies       int
	lost       bool // the one Redis had to be started anew
	broken     []string
}

// side is what the bystander saw, and the attackers did.
type side struct {
	p50, p99 []time.Duration // of each turn
	refused  map[string]int
	tally    tally
	lasted   time.Duration
}

// run has a house built, and attacked.
func (b *besieged) run(a attack) (x *row, err error) {
	x = &row{attack: a}
	h, err := b.house(a)
	if err != nil {
		return x, err
	}
	defer func() { err = errors.Join(err, h.close()) }()
	if err := errors.Join(serves(h.proxy.Addr), serves(h.one.Addr)); err != nil {
		return x, err
	}
	if x.idle, err = integration.ResidentBytes(h.proxy.PID()); err != nil {
		return x, err
	}
	if err := integration.ForgetPeak(h.proxy.PID()); err != nil {
		return x, err
	}
	for round := range b.rounds {
		atProxy := func() error { return b.atProxy(h, x) }
		atOne := func() error { return b.atOne(h, x) }
		turns := []func() error{atProxy, atOne}
		if round%2 == 1 {
			turns[0], turns[1] = atOne, atProxy
		}
		for _, turn := range turns {
			if err := turn(); err != nil {
				return x, err
			}
		}
	}
	x.peak, err = integration.PeakResidentBytes(h.proxy.PID())
	return x, errors.Join(err, h.survived())
}

func (b *besieged) atProxy(h *house, x *row) error {
	if h.liar != nil {
		h.liar.lies.Store(true)
		defer h.liar.lies.Store(false)
		defer func() { x.lies = int(h.liar.told.Load()) }()
	}
	if err := b.turn(&x.proxy, x.crew, h.proxy.Addr); err != nil {
		return err
	}
	if h.proxy.Ended() {
		return h.survived()
	}
	return nil
}

func (b *besieged) atOne(h *house, x *row) error {
	if x.proxyOnly {
		return nil
	}
	if err := b.turn(&x.one, x.crew, h.one.Addr); err != nil {
		return err
	}
	lost, err := h.renew()
	x.lost = x.lost || lost
	return err
}

// turn is the bystander's time beside attackers.
func (b *besieged) turn(s *side, crew []string, addr string) error {
	b.turns++
	p, err := sendOut(crew, addr, b.turns)
	if err != nil {
		return err
	}
	begun := time.Now()
	bystander := newBystander(addr)
	bystander.standBy(b.lasts)
	s.lasted += time.Since(begun)
	done, err := p.recall()
	s.tally.add(&done)
	s.refused = addTo(addTo(s.refused, bystander.refused), done.Refused)
	s.p50 = append(s.p50, percentile(bystander.latencies, .5))
	s.p99 = append(s.p99, percentile(bystander.latencies, .99))
	return err
}
