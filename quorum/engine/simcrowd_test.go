package engine

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"redlock-proxy/quorum"
)

// Crowds of clients, at two or three proxies, take one lock in turn. Nothing fails: masters are
// near or far, and now and then one of them answers later than the others, or hangs. So the lock
// is never nobody's for long, though nobody lets its ttl run out, and in the end nothing is left
// but, where one has hung, what that was told late.

const (
	crowdTTL  = time.Minute
	crowdWait = time.Second // for how long a lock may be nobody's that many ask for
)

func TestSimulatedCrowdsAreServed(t *testing.T) {
	n, won := eachSeed(t, 8, simulateCrowd)
	if won < 20*n && !t.Failed() {
		t.Errorf("only %d locks were won in %d schedules", won, n)
	}
}

// crowd is one lock, and who had it.
type crowd struct {
	*world
	t       *testing.T
	engines []*Engine
	manners []manner
	hangs   *fakeMaster // now and then, if it is not nil: a release that it misses stays on it

	mu     sync.Mutex
	holder string
	freed  time.Time // when it was last known to be nobody's
	won    int
	over   bool
}

func simulateCrowd(t *testing.T, seed uint64) (won int) {
	synctest.Test(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(seed, 6))
		c := &crowd{world: newWorld(t, 3+2*r.IntN(2)), t: t}
		if far := time.Duration(r.IntN(3)) * ms; far > 0 {
			c.each(func(m *fakeMaster) { m.far = far })
		}
		for range 2 + r.IntN(2) {
			c.engines = append(c.engines, c.start(c.cfg))
		}
		c.engine = c.engines[0]
		switch r.IntN(4) {
		case 0:
			c.manners = []manner{byHash}
		case 1:
			c.manners = []manner{byScript}
		default:
			c.manners = []manner{plainly, byScript, byStep, byTransaction}
		}
		if r.IntN(3) == 0 {
			c.hangs = c.masters[r.IntN(len(c.masters))]
		}
		time.Sleep(time.Second)
		c.freed = time.Now()
		var wait sync.WaitGroup
		for i, e := range c.engines {
			for j := range 2 + r.IntN(3) {
				wait.Go(func() { c.client(e, fmt.Sprintf("c%d.%d", i, j), rand.New(rand.NewPCG(seed, uint64(100*i+j)))) })
			}
		}
		watched := r.IntN(2) == 0
		wait.Go(func() { c.lateness(r) }) // whose r is from here on
		if watched {
			for i, e := range c.engines {
				wait.Go(func() { c.bystander(e, rand.New(rand.NewPCG(seed, uint64(1000+i)))) })
			}
		}
		time.Sleep(3 * time.Second)
		c.mu.Lock()
		c.over = true
		c.mu.Unlock()
		wait.Wait()
		rest := time.Second
		if len(c.manners) > 1 { // what a look gives a master may be let go of meanwhile, and is looked at again
			rest = crowdTTL / 2
		}
		time.Sleep(rest)
		if c.hangs != nil { // it may keep what it was told late
			c.want(c.acquire("k", "last", crowdTTL), quorum.Won)
			c.want(c.release("k", "last"), quorum.Won)
		}
		for _, m := range c.masters {
			if v := m.value("k"); v != "" && m != c.hangs {
				t.Errorf("in the end %s holds %q, which is nobody's", m.name, v)
			}
		}
		won = c.won
		c.end()
	})
	return won
}

// client takes the lock again and again, and lets go of it. Who is told no asks again soon.
func (c *crowd) client(e *Engine, token string, r *rand.Rand) {
	m := c.manners[r.IntN(len(c.manners))]
	for n := 0; c.asks(token); {
		own := fmt.Sprint(token, "#", n)
		if m == byHash {
			own = token
		}
		if got := <-putTo(e, m.take("k", own, crowdTTL)).answers; got.Decision != quorum.Won {
			time.Sleep(time.Duration(r.IntN(10_000)) * time.Microsecond)
			continue
		}
		n++
		c.holds(own)
		time.Sleep(time.Duration(r.IntN(5_000)) * time.Microsecond)
		c.holds("")
		free := m.free("k", own)
		if m == byHash {
			free = runOf(freeHash, "k", own, fmt.Sprint(crowdTTL.Milliseconds()))
		}
		got := <-putTo(e, free).answers
		if got.Decision == quorum.Contended {
			c.t.Errorf("%s lets go of its lock, which is gone", own)
		}
		for c.hangs != nil && (got.Decision == quorum.Split || got.Decision == quorum.Unavailable) && c.asks(own) {
			got = <-putTo(e, free).answers // the masters that hold it may be those that hang
		}
		if got.Decision != quorum.Won && c.hangs == nil {
			c.t.Errorf("%s lets go of its lock, and is told %v", own, got.Decision)
		}
	}
}

// bystander asks about the lock, and is told no, or what its value is.
func (c *crowd) bystander(e *Engine, r *rand.Rand) {
	asked := []quorum.Request{
		{Kind: quorum.Write, Key: "k", Args: []string{"PEXPIRE", "k", "1", "GT"}},
		runOf(renewStep, "k", "nobody", "1"),
		runOf(tellStep.ReadOnly(), "k", "GET", "k"),
	}
	for c.asks("a bystander") {
		<-putTo(e, asked[r.IntN(len(asked))]).answers
		time.Sleep(time.Duration(r.IntN(5_000)) * time.Microsecond)
	}
}

// asks tells that a client goes on, and that the lock is not lost to all of them.
func (c *crowd) asks(token string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if since := time.Since(c.freed); c.holder == "" && since > crowdWait && !c.over {
		c.over = true
		var held []string
		for _, m := range c.masters {
			held = append(held, m.value("k"))
		}
		c.t.Errorf("%s asks, and nobody has had the lock for %v; the masters hold %q", token, since, held)
	}
	return !c.over
}

func (c *crowd) holds(token string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if token != "" {
		if c.won++; c.holder != "" {
			c.t.Errorf("%s and %s hold the lock", c.holder, token)
		}
	}
	c.holder, c.freed = token, time.Now()
}

// lateness has a master answer, or carry out what it is asked, later for a while: somewhat, or
// so much that the others decide without it.
func (c *crowd) lateness(r *rand.Rand) {
	for c.asks("somebody") {
		m := c.masters[r.IntN(len(c.masters))]
		late := time.Duration(r.IntN(8_000)) * time.Microsecond
		if m == c.hangs && r.IntN(2) == 0 {
			late = 300 * ms
		}
		lags := r.IntN(2) == 0
		m.set(func(m *fakeMaster) {
			if m.delay = late; lags {
				m.delay, m.lag = 0, late
			}
		})
		time.Sleep(time.Duration(r.IntN(200)) * ms)
		m.set(func(m *fakeMaster) { m.delay, m.lag = 0, 0 })
		time.Sleep(time.Duration(r.IntN(200)) * ms)
	}
}
