package engine_test

import (
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"redlock-proxy/commands"
	"redlock-proxy/proxy"
	"redlock-proxy/quorum/engine"
)

// Whole proxies before which clients wait, for elements of lists and for locks, and keep what they have read until they
// are told that it has changed. While masters are in trouble, and behind that:
//
//   - who waits is served soon after a quorum that can be had has something for him, whoever has put it there;
//   - an element comes to one client, and none is lost, unless NOQUORUM or a master that forgets allows it;
//   - nobody keeps an old value: not once who has changed it at the same proxy has his answer, nor for long where it was
//     changed elsewhere, nor in the end;
//   - steps on keys of one tag are carried out in one order on all masters.

const (
	troubleTime = 5 * time.Second
	calmTime    = 3 * time.Second // after trouble, until nothing of it is left
	promptTime  = 600 * time.Millisecond
	crowdTime   = 2500 * time.Millisecond // where several proxies are in each other's way, and try again within a second
	slowTime    = 4 * time.Second         // for promptTime, in trouble
	waitTime    = 1500 * time.Millisecond
	lookTime    = 20 * time.Millisecond
)

var (
	listKeys  = []string{"{t}q", "{t}r", "p"}
	lockKeys  = []string{"lock0", "lock1"}
	valueKeys = []string{"v0", "v1", "v2"}
)

func TestSimulatedWaitersAreServed(t *testing.T) {
	scripts := scriptsOfLists()
	n, taken := engine.SimulateStages(t, 12, scripts, func(t *testing.T, s *engine.Stage, seed uint64) int {
		p := &play{
			t: t, stage: s, seed: seed, began: time.Now(),
			elements: make(map[string]*element), waiting: make(map[string]map[int]bool), since: make(map[string]time.Time),
			unlike: make(map[string]bool),
			done:   make(map[string]bool), written: make(map[string]writing),
		}
		for _, e := range s.Engines() {
			p.fronts = append(p.fronts, newFront(t, e, seed, proxy.Config{AcquireWait: waitTime}))
		}
		time.Sleep(1500 * time.Millisecond) // proxies have looked how masters stand
		p.perform()
		return p.taken + p.kept
	})
	if n > 1 && taken < 100*n && !t.Failed() {
		t.Errorf("only %d elements were taken, and values kept, in %d schedules", taken, n)
	}
}

// scriptsOfLists are those by which a proxy has lists changed.
func scriptsOfLists() (s engine.Scripts) {
	session := commands.NewDialect(commands.Options{}).Session(1)
	s.Carries = session.Do([]string{"RPUSH", "k", "v"}).Requests[0].Script
	a := session.Do([]string{"BLPOP", "k", "0"})
	again, _ := a.Block.Again("k")
	s.Takes = again.Script
	a.Block.Look(&a.Requests[0])
	s.Finds = a.Requests[0].Script
	return s
}

// play is one schedule.
type play struct {
	t      *testing.T
	stage  *engine.Stage
	seed   uint64
	began  time.Time
	fronts []*front

	mu       sync.Mutex // guards what follows
	stops    bool       // nobody begins anything any more
	closes   []*client
	elements map[string]*element
	unknown  int                     // commands about lists that may have been carried out
	waiting  map[string]map[int]bool // clients, by what they wait for
	since    map[string]time.Time    // there is something for one of them
	unlike   map[string]bool         // meanwhile masters did not hold the same
	done     map[string]bool         // steps, as Stage.Steps has them
	trackers []*tracker
	written  map[string]writing // the latest, by key
	taken    int
	kept     int
	ordered  int // steps that were compared
}

// element is one of a list.
type element struct {
	key    string
	pushed bool // that was answered
	taken  int
}

func (p *play) perform() {
	var clients, watching sync.WaitGroup
	number := 0
	each := func(count int, is func(c int, at int, r *rand.Rand)) {
		for at := range p.fronts {
			for range count {
				number++
				c := number
				clients.Go(func() { is(c, at, rand.New(rand.NewPCG(p.seed, uint64(100+c)))) })
			}
		}
	}
	each(3, p.popper)
	each(1, p.mover)
	each(1, p.pusher)
	each(3, p.locker)
	each(1, p.writer)
	if p.stage.Tells {
		each(2, p.tracker)
	}
	watching.Go(p.watch)
	p.stage.Trouble(troubleTime)
	time.Sleep(2 * calmTime)
	p.mu.Lock()
	p.stops = true
	p.mu.Unlock()
	time.Sleep(calmTime)
	p.nothingIsStale()
	p.mu.Lock()
	p.since = nil
	for _, c := range p.closes {
		c.conn.Close()
	}
	p.mu.Unlock()
	clients.Wait()
	watching.Wait()
	p.noElementIsLost()
	p.inOneOrder()
	for _, f := range p.fronts {
		f.End()
	}
}

// goes tells that clients are to go on.
func (p *play) goes() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return !p.stops && !p.t.Failed()
}

// dials is a connection that is closed in the end.
func (p *play) dials(at int) *client {
	c := p.fronts[at].dial()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closes = append(p.closes, c)
	return c
}

// waits notes that a client waits for one of some keys, or does no more.
func (p *play) waits(c int, is bool, keys ...string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, key := range keys {
		if p.waiting[key] == nil {
			p.waiting[key] = make(map[int]bool)
		}
		if is {
			p.waiting[key][c] = true
		} else if delete(p.waiting[key], c); len(p.waiting[key]) == 0 {
			delete(p.since, key)
		}
	}
}

// watch looks whether who waits is served.
func (p *play) watch() {
	for i := 0; p.looks(); i++ {
		if i%5 == 0 {
			p.stage.Tick()
		}
		for _, key := range listKeys {
			value, ok := p.stage.Held(key)
			p.serves(key, ok && value != "", value)
		}
		for _, key := range lockKeys {
			value, ok := p.stage.Held(key)
			p.serves(key, ok && value == "", "nothing")
		}
		p.keepNothingOld()
		time.Sleep(lookTime)
	}
}

func (p *play) looks() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.since != nil && !p.t.Failed()
}

// serves is that there is something under a key for who waits for it, or not.
func (p *play) serves(key string, some bool, held string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.since == nil {
		return
	}
	since, was := p.since[key]
	switch {
	case !some || len(p.waiting[key]) == 0:
		delete(p.unlike, key)
		delete(p.since, key)
	case !was:
		p.since[key] = time.Now()
	case time.Since(since) > p.bound(since, p.inTurn()):
		if p.unlike[key] = p.unlike[key] || !p.stage.Alike(key); p.unlike[key] && time.Since(since) < slowTime {
			return
		}
		p.stage.Broken(key, "%v wait for %s, of which a quorum has held %s for %v; masters hold %q", p.waiting[key], key, held, time.Since(since), p.stage.Elements(key))
	}
}

// inTurn is how long who waits may wait where nothing fails.
func (p *play) inTurn() time.Duration {
	if len(p.fronts) == 1 {
		return promptTime
	}
	return crowdTime
}

// bound is how long something may take that began then, and takes so long where nothing fails.
func (p *play) bound(began time.Time, long time.Duration) time.Duration {
	if since, calm := p.stage.Calm(); calm && began.After(since.Add(calmTime)) {
		return long
	}
	return slowTime
}

// noElementIsLost looks for what was pushed and came to nobody.
func (p *play) noElementIsLost() {
	held := make(map[string]int)
	for _, key := range listKeys {
		for _, list := range p.stage.Elements(key) {
			for _, e := range list {
				held[e]++
			}
		}
	}
	var lost []string
	for name, e := range p.elements {
		if e.pushed && e.taken == 0 && held[name] < p.stage.Quorum() {
			lost = append(lost, name)
		}
	}
	if len(lost) > p.unknown && !p.stage.Forgets {
		p.stage.Broken(p.elements[lost[0]].key, "%q are lost, and %d commands may have happened", lost, p.unknown)
	}
}
