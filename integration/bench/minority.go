package main

import (
	"errors"
	"time"

	"redlock-proxy/integration"
)

// ailing is a house that has lost a master, and what its proxy occupied before.
type ailing struct {
	*house
	*side
	before size
}

// minorityTrial runs three houses in turns: all masters well, one frozen, one
// dead. What a proxy grows by is counted from after it was warm and while its
// master is still there.
func minorityTrial(b *bench, r *report) (err error) {
	lose := []struct {
		name string
		do   func(*integration.Redis) error
	}{
		{"healthy", func(*integration.Redis) error { return nil }},
		{"frozen", func(m *integration.Redis) error { return m.Freeze() }},
		{"dead", func(m *integration.Redis) error { return m.Kill() }},
	}
	var all []*ailing
	for _, l := range lose {
		h, err := b.house(plan{masters: b.masters})
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, h.close()) }()
		a := &ailing{house: h, side: h.through(lockers{h.proxy.Addr, 50}.load)}
		a.name = l.name
		all = append(all, a)
		if _, err := a.load(2 * b.turn); err != nil {
			return err
		}
		if a.before, err = h.size(); err != nil {
			return err
		}
		if err := l.do(h.masters[0]); err != nil {
			return err
		}
		if l.name != "healthy" {
			a.watched = []watched{a.watched[0]} // the books of a dead process are closed
			if err := awaitVoting(h.proxy.Addr, b.masters-1); err != nil {
				return err
			}
		}
	}
	if err := b.turns(all[0].side, all[1].side, all[2].side); err != nil {
		return err
	}
	for _, a := range all[1:] {
		r.add(line{"minority", "p99 with one master " + a.name + " beside healthy", b.atMost(1.15, 1.05), a.beside(all[0].side, latency99), ""})
		after, err := a.size()
		if err != nil {
			return err
		}
		grown := float64(after.resident-a.before.resident) / (1 << 20)
		r.add(line{"minority", "the same: growth of memory, MiB", b.atMost(10, 10), []float64{grown}, ""})
		more := float64(after.goroutines - a.before.goroutines)
		r.add(line{"minority", "the same: growth of goroutines", b.atMost(0, 0), []float64{more}, ""})
	}
	r.addFigures("minority", all[0].side, all[1].side, all[2].side)
	return nil
}

// size is what a proxy occupies.
type size struct{ resident, goroutines int }

// size waits until the clients of before have gone.
func (h *house) size() (s size, err error) {
	for range 200 {
		clients, err := field(h.proxy.Addr, "clients", "connected_clients")
		if err != nil {
			return s, err
		}
		if clients == 1 {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	if s.resident, err = integration.ResidentBytes(h.proxy.PID()); err != nil {
		return s, err
	}
	// A goroutine that dials a master comes and goes.
	for i := range 10 {
		now, err := field(h.proxy.Addr, "memory", "goroutines")
		if err != nil {
			return s, err
		}
		if i == 0 || now < s.goroutines {
			s.goroutines = now
		}
		time.Sleep(20 * time.Millisecond)
	}
	return s, nil
}
