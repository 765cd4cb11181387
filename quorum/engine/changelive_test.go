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

// bustle is clients at work while a set is changed, and what they hold.
type bustle struct {
	*changing
	wait sync.WaitGroup

	mu       sync.Mutex // guards what follows
	held     map[string]heldLock
	asked    []*Engine
	finished bool
	won      int
}

type heldLock struct {
	token string
	until time.Time
}

// busily changes the set under clients.
func (c *changing) busily(r *rand.Rand) {
	b := &bustle{changing: c, held: make(map[string]heldLock), asked: []*Engine{c.serve(c.old), c.serve(c.old)}}
	for _, m := range c.masters {
		m.set(func(m *fakeMaster) { m.lag = time.Duration(r.IntN(6)) * ms })
	}
	for i := range 5 {
		r := rand.New(rand.NewPCG(r.Uint64(), uint64(i)))
		b.wait.Go(func() { b.client(i, r) })
	}
	time.Sleep(time.Duration(500+r.IntN(2000)) * ms)
	if away := c.masters[r.IntN(len(c.masters))]; r.IntN(3) > 0 {
		r := rand.New(rand.NewPCG(r.Uint64(), 0))
		b.wait.Go(func() { away.strays(r) })
	}
	within := time.Duration(10+r.IntN(200)) * ms
	b.wait.Go(func() { c.orderWithin(within) })
	var err error
	for n := range 100 {
		if err = c.orderWithin(time.Duration(30+n*n*100) * ms); err == nil {
			break
		}
		time.Sleep(100 * ms)
	}
	if err != nil {
		c.t.Errorf("the order is never carried out: %v", err)
	}
	one, two := c.serve(c.new), c.serve(c.new)
	b.mu.Lock()
	b.asked, b.won = []*Engine{one, two, b.asked[0]}, 0
	b.mu.Unlock()
	if err := c.orderWithin(time.Minute); err != nil {
		c.t.Errorf("again: %v", err)
	}
	time.Sleep(15 * time.Second)
	b.mu.Lock()
	if b.finished = true; b.won == 0 {
		c.t.Error("the new set grants nothing")
	}
	b.mu.Unlock()
	b.wait.Wait()
}

// orderWithin gives the order to change the set, which is interrupted after a while.
func (c *changing) orderWithin(within time.Duration) error {
	ctx, stop := context.WithTimeout(c.t.Context(), within)
	defer stop()
	return changeMasters(ctx, c.old, c.new, members.Changing{EvenSo: true, Tell: func(string) {}})
}

// strays has a master be away for a while, and perhaps lose its memory.
func (m *fakeMaster) strays(r *rand.Rand) {
	time.Sleep(time.Duration(r.IntN(60)) * ms)
	if m.cut(); r.IntN(2) == 0 {
		m.restartBlank()
	}
	time.Sleep(time.Duration(r.IntN(3000)) * ms)
	m.rejoin()
}

// client takes locks, extends them or lets them end, and releases them, until all is over.
func (b *bustle) client(i int, r *rand.Rand) {
	for n := 0; ; n++ {
		b.mu.Lock()
		e, over := b.asked[r.IntN(len(b.asked))], b.finished
		b.mu.Unlock()
		if over {
			return
		}
		key, token := fmt.Sprint("k", r.IntN(3)), fmt.Sprint(i, "-", n)
		ttl := time.Duration(500+r.IntN(3000)) * ms
		began := time.Now()
		a := newWaiter()
		e.Put(&quorum.Request{Kind: quorum.Acquire, Key: key, Token: token, TTL: ttl}, a)
		if !b.claim(key, heldLock{token, began.Add(ttl)}, <-a.answers) {
			time.Sleep(time.Duration(r.IntN(100)) * ms)
			continue
		}
		time.Sleep(time.Duration(r.Int64N(int64(ttl))))
		if began, ttl = time.Now(), time.Duration(500+r.IntN(3000))*ms; r.IntN(2) == 0 {
			e.Put(&quorum.Request{Kind: quorum.Extend, Key: key, Token: token, TTL: ttl}, a)
			b.claim(key, heldLock{token, began.Add(ttl)}, <-a.answers)
			time.Sleep(time.Duration(r.Int64N(int64(ttl))))
		}
		if r.IntN(2) == 0 {
			b.mu.Lock()
			if b.held[key].token == token {
				delete(b.held, key)
			}
			b.mu.Unlock()
			e.Put(&quorum.Request{Kind: quorum.Release, Key: key, Token: token}, a)
			<-a.answers
		}
	}
}

// claim tells whether a client was given a lock, and notes that nobody else has it then.
func (b *bustle) claim(key string, lock heldLock, r quorum.Result) bool {
	if r.Decision != quorum.Won {
		return false
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.won++
	if h, ok := b.held[key]; ok && h.token != lock.token && time.Now().Before(h.until) {
		b.t.Errorf("%s has %s until %v, and %s until %v", key, h.token, h.until, lock.token, lock.until)
	}
	if time.Now().Before(lock.until) {
		b.held[key] = lock
	}
	return true
}
