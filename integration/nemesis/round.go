package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"redlock-proxy/integration/nemesis/lease"
)

// plan is one round: how long, with what faults, and how many at a time. A
// round has keys of its own, so that no history grows without bound.
type plan struct {
	seed   uint64
	during time.Duration
	works  []work
	faults []fault // none: a healthy round
	hands  int
	// patient hands wait until every master votes before they strike again.
	patient bool
}

// Each round has so many processes of clients, so many clients in each beside
// the one that probes, and so many keys that they all want.
const (
	processes = 3
	workers   = 4
	keys      = 6
)

// played is what came of a round.
type played struct {
	plan
	masters  int
	proxies  int
	history  history
	stands   map[string]bool // elements of queues that a master has at the end
	marks    []lease.Mark
	from, to lease.Instant
}

// play lets clients work in the house, and hands at their faults, for the time
// of the plan. A house plays each seed once only.
func (h *house) play(ctx context.Context, p plan) (*played, error) {
	ctx, cancel := context.WithTimeout(ctx, p.during)
	defer cancel()
	// What lies there, and the keys, are named after the seed.
	dir := filepath.Join(h.dir, fmt.Sprintf("s%d", p.seed))
	if err := os.Mkdir(dir, 0o700); err != nil {
		return nil, err
	}
	r := &played{plan: p, masters: len(h.masters), proxies: len(h.proxies), from: now()}
	r.to = r.from.After(p.during)

	if err := h.invite(p, dir, r.to); err != nil {
		return nil, err
	}
	failures := make([]error, p.hands)
	var group sync.WaitGroup
	hands := make([]*hand, p.hands)
	for i := range hands {
		x := &hand{house: h, faults: p.faults, patient: p.patient, random: rand.New(rand.NewPCG(p.seed, uint64(1000+i)))}
		hands[i] = x
		group.Go(func() { failures[i] = x.strike(ctx) })
	}
	group.Wait()
	for _, x := range hands {
		r.marks = append(r.marks, x.marks...)
	}
	if slices.ContainsFunc(p.works, func(w work) bool { return w.settles }) {
		failures = append(failures, h.awaitVoting(maxTTL+time.Minute))
	}
	for _, c := range h.clients {
		seen, err := c.leave()
		failures = append(failures, err)
		r.history.add(seen)
	}
	if err := errors.Join(failures...); err != nil {
		return nil, fmt.Errorf("%w\n%s", err, h.logs())
	}
	var err error
	r.stands, err = h.stands(r.history.Queues)
	return r, err
}
