package main

import (
	"errors"
	"fmt"
	"time"
)

// far is how far away the masters are.
const far = time.Millisecond

// distanceTrial measures in round trips: beside one client and one Redis at
// the same distance, the line's own share on both sides.
func distanceTrial(b *bench, r *report) (err error) {
	h, err := b.house(plan{masters: b.masters, far: far})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, h.close()) }()
	toDirect, err := newDelayLine(h.direct.Addr, far)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, toDirect.close()) }()

	direct := h.asked((&single{addr: toDirect.addr}).load)
	one := h.through((&single{addr: h.proxy.Addr}).load)
	fifty := h.through(lockers{h.proxy.Addr, 50}.load)
	direct.name, one.name, fifty.name = "direct c1", "proxy c1", "proxy c50"
	if err := b.turns(direct, one, fifty); err != nil {
		return err
	}
	trip := quartilesOf(direct.column(medianLatency)).median * 1000
	note := fmt.Sprintf("one direct round trip: %.2f ms", trip)
	r.add(line{"distance", "masters 1 ms away: p50 of one client in round trips", b.atMost(1.25, 1.15), one.beside(direct, medianLatency), note})
	r.add(line{"distance", "the same, p50 of 50 clients", b.atMost(1.8, 1.3), fifty.beside(direct, medianLatency), note})
	r.addFigures("distance", direct, one, fifty)
	return nil
}
