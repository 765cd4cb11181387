package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"redlock-proxy/integration/nemesis/lease"
)

// plan is one round: how long, with what faults, and how many at a time. A
// round has keys of its own, so that no history grows without bound.
type plan struct {
	seed   uint64
	during time.Duration
	faults []fault // none: a healthy round
	hands  int
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
	history  history
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
	r := &played{plan: p, from: now()}
	r.to = r.from.After(p.during)

	var group sync.WaitGroup
	seen := make([]history, processes)
	failures := make([]error, processes+p.hands)
	for i := range processes {
		group.Go(func() { seen[i], failures[i] = h.clients(ctx, p, dir, i, r.to) })
	}
	hands := make([]*hand, p.hands)
	for i := range hands {
		x := &hand{house: h, faults: p.faults, random: rand.New(rand.NewPCG(p.seed, uint64(1000+i)))}
		hands[i] = x
		group.Go(func() { failures[processes+i] = x.strike(ctx) })
	}
	group.Wait()
	if err := errors.Join(failures...); err != nil {
		return nil, fmt.Errorf("%w\n%s", err, h.logs())
	}
	for _, s := range seen {
		r.history.add(s)
	}
	for _, x := range hands {
		r.marks = append(r.marks, x.marks...)
	}
	return r, nil
}

// clients runs one process of clients, which is this program itself.
func (h *house) clients(ctx context.Context, p plan, dir string, i int, end lease.Instant) (history, error) {
	self, err := os.Executable()
	if err != nil {
		return history{}, err
	}
	names := make([]string, keys)
	for k := range names {
		names[k] = fmt.Sprintf("%s-%d", filepath.Base(dir), k)
	}
	out := filepath.Join(dir, fmt.Sprintf("history%d.json", i))
	// They end by themselves; the context is for those that do not.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), p.during+time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, self, clientCommand,
		"-proxies", strings.Join(h.addrs(), ","), "-keys", strings.Join(names, ","),
		"-workers", fmt.Sprint(workers), "-first", fmt.Sprint(i*(workers+1)), "-ttl", longestTTL.String(),
		"-seed", fmt.Sprint(p.seed), "-end", fmt.Sprint(int64(end)), "-dir", dir, "-out", out)
	if text, err := cmd.CombinedOutput(); err != nil {
		return history{}, fmt.Errorf("clients %d: %w\n%s", i, err, text)
	}
	return readHistory(out)
}
