package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"redlock-proxy/integration/nemesis/lease"
)

// hand makes one fault happen after the other. Several hands may be at work in
// one house; what one of them has got hold of, the others leave alone.
type hand struct {
	house   *house
	faults  []fault
	patient bool // see plan
	random  *rand.Rand
	marks   []lease.Mark // of what it did
}

// notice is how long it may take until proxies know what befell a master. Who
// asks them sooner may hear that all is well.
const notice = time.Second

// strike goes on until the context ends. Whatever it broke it mends before it
// returns, unless that fails.
func (x *hand) strike(ctx context.Context) error {
	for ctx.Err() == nil {
		f := x.faults[x.random.IntN(len(x.faults))]
		if err := x.try(f); err != nil {
			return fmt.Errorf("fault %s: %w", f.name, err)
		}
		rest := between(x.random, 100*time.Millisecond, 1200*time.Millisecond)
		if x.patient {
			rest += notice
		}
		pause(ctx, rest)
		for x.patient && ctx.Err() == nil && x.house.voting() != nil {
			pause(ctx, 20*time.Millisecond)
		}
	}
	return nil
}

// try lets one of those whom the fault can meet, and who are well, suffer it.
func (x *hand) try(f fault) error {
	name, i, busy := x.house.choose(f.target, x.random)
	for tries := 1; !busy.TryLock(); tries++ {
		if tries == 10 {
			return nil // another hand has them all
		}
		name, i, busy = x.house.choose(f.target, x.random)
	}
	defer busy.Unlock()
	if f.forgets {
		if !x.house.mayForget(i) {
			return nil
		}
		defer x.house.hasForgotten(i)
	}
	mark := lease.Mark{Where: fmt.Sprintf("%s %d", name, i), What: f.name, From: now()}
	end, err := f.begin(x.house, i, x.random)
	if err != nil {
		return err
	}
	// Not cut short: a fault may be harmless only because it lasts.
	time.Sleep(between(x.random, f.shortest, f.longest))
	err = end()
	mark.To = now()
	x.marks = append(x.marks, mark)
	return err
}

// choose picks a target, and the mutex that whoever makes it suffer holds.
func (h *house) choose(v target, random *rand.Rand) (name string, i int, busy *sync.Mutex) {
	switch v {
	case aProxy:
		i = random.IntN(len(h.proxies))
		return "proxy", i, &h.proxies[i].busy
	case someClients:
		i = random.IntN(len(h.clients))
		return "clients", i, &h.clients[i].busy
	}
	i = random.IntN(len(h.masters))
	return "master", i, &h.masters[i].busy
}

// pause waits, but not beyond the end of the context.
func pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}
