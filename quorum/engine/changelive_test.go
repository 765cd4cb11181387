package engine

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"redlock-proxy/quorum"
	"redlock-proxy/quorum/members"
)

// Clients take, extend and release locks, through proxies of the old set that nobody has
// stopped and then through those of the new one, while the set is changed by an operator who
// is interrupted, beside another, and a master is away for a while or loses its memory.
func TestNoLockHasTwoHoldersWhileTheSetIsChanged(t *testing.T) {
	notInstrumented(t)
	for name, m := range moves {
		if len(m.old) == 1 {
			continue
		}
		for seed := range uint64(4) {
			t.Run(fmt.Sprint(name, " ", seed), func(t *testing.T) {
				inChange(t, m, func(c *changing) { c.busily(rand.New(rand.NewPCG(seed, 1))) })
			})
		}
	}
}

// busily changes the set under clients.
func (c *changing) busily(r *rand.Rand) {
	var mu sync.Mutex // guards what follows
	type heldLock struct {
		token string
		until time.Time
	}
	held := make(map[string]heldLock)
	engines := []*Engine{c.serve(c.old), c.serve(c.old)}
	finished, won := false, 0
	for _, m := range c.masters {
		m.set(func(m *fakeMaster) { m.lag = time.Duration(r.IntN(6)) * ms })
	}
	var wait sync.WaitGroup
	for i := range 5 {
		r := rand.New(rand.NewPCG(r.Uint64(), uint64(i)))
		wait.Go(func() {
			for n := 0; ; n++ {
				mu.Lock()
				e, over := engines[r.IntN(len(engines))], finished
				mu.Unlock()
				if over {
					return
				}
				key, token := fmt.Sprint("k", r.IntN(3)), fmt.Sprint(i, "-", n)
				ttl := time.Duration(500+r.IntN(3000)) * ms
				began := time.Now()
				claim := func(r quorum.Result) bool {
					if r.Decision != quorum.Won {
						return false
					}
					mu.Lock()
					defer mu.Unlock()
					won++
					if h, ok := held[key]; ok && h.token != token && time.Now().Before(h.until) {
						c.t.Errorf("%s has %s until %v, and %s until %v", key, h.token, h.until, token, began.Add(ttl))
					}
					if until := began.Add(ttl); time.Now().Before(until) {
						held[key] = heldLock{token, until}
					}
					return true
				}
				a := newWaiter()
				e.Put(&quorum.Request{Kind: quorum.Acquire, Key: key, Token: token, TTL: ttl}, a)
				if !claim(<-a.answers) {
					time.Sleep(time.Duration(r.IntN(100)) * ms)
					continue
				}
				time.Sleep(time.Duration(r.Int64N(int64(ttl))))
				if began, ttl = time.Now(), time.Duration(500+r.IntN(3000))*ms; r.IntN(2) == 0 {
					e.Put(&quorum.Request{Kind: quorum.Extend, Key: key, Token: token, TTL: ttl}, a)
					claim(<-a.answers)
					time.Sleep(time.Duration(r.Int64N(int64(ttl))))
				}
				if r.IntN(2) == 0 {
					mu.Lock()
					if held[key].token == token {
						delete(held, key)
					}
					mu.Unlock()
					e.Put(&quorum.Request{Kind: quorum.Release, Key: key, Token: token}, a)
					<-a.answers
				}
			}
		})
	}
	time.Sleep(time.Duration(500+r.IntN(2000)) * ms)
	if away := c.masters[r.IntN(len(c.masters))]; r.IntN(3) > 0 {
		r := rand.New(rand.NewPCG(r.Uint64(), 0))
		wait.Go(func() {
			time.Sleep(time.Duration(r.IntN(60)) * ms)
			if away.cut(); r.IntN(2) == 0 {
				away.restartBlank()
			}
			time.Sleep(time.Duration(r.IntN(3000)) * ms)
			away.mend()
		})
	}
	order := func(within time.Duration) error {
		ctx, stop := context.WithTimeout(c.t.Context(), within)
		defer stop()
		return ChangeMasters(ctx, c.old.Masters, c.new, members.Changing{EvenSo: true, Tell: func(string) {}})
	}
	within := time.Duration(10+r.IntN(200)) * ms
	wait.Go(func() { order(within) })
	var err error
	for n := range 100 {
		if err = order(time.Duration(30+n*n*100) * ms); err == nil {
			break
		}
		time.Sleep(100 * ms)
	}
	if err != nil {
		c.t.Errorf("the order is never carried out: %v", err)
	}
	one, two := c.serve(c.new), c.serve(c.new)
	mu.Lock()
	engines, won = []*Engine{one, two, engines[0]}, 0
	mu.Unlock()
	if err := order(time.Minute); err != nil {
		c.t.Errorf("again: %v", err)
	}
	time.Sleep(15 * time.Second)
	mu.Lock()
	if finished = true; won == 0 {
		c.t.Error("the new set grants nothing")
	}
	mu.Unlock()
	wait.Wait()
}
