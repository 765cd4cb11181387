package engine

import (
	"fmt"
	"time"

	"redlock-proxy/quorum"
)

// begin starts masters and engines.
func (s *simulation) begin() {
	n := 3 + 2*s.rand.IntN(2)
	if s.alike == atOneProxy {
		n = 3
	}
	s.world = newWorld(s.t, n)
	s.world.log = s.log()
	s.fewDatabases()
	s.differ()
	s.world.cfg.MaxTTL = simMaxTTL
	s.again = ms / 10
	s.constant = []int{2, 4}[s.rand.IntN(2)]
	s.sockets = s.rand.IntN(4) == 0 || *socketsOnly
	s.pause = []int{30, 120, 400}[s.rand.IntN(3)]
	s.ttl = [][2]int{{30, 900}, {30, 250}, {500, 900}}[s.rand.IntN(3)]
	engines := 1 + s.rand.IntN(3)
	switch s.alike {
	case atOneProxy:
		engines = s.beginAtOne()
	case atSeveral:
		engines = s.beginAtSeveral()
	case atLast:
		engines = s.beginAtLast()
	}
	if s.reconfigured {
		s.beginReconfigured()
	}
	if s.strikes != nil {
		engines = s.beginRoving()
	}
	if s.machine != nil {
		s.beginStill()
	}
	if s.rare {
		s.beginRare()
	}
	for _, m := range s.world.masters {
		if s.far {
			m.far = time.Duration(500+s.rand.IntN(1500)) * time.Microsecond
		}
	}
	for i := range engines {
		s.engines = append(s.engines, s.world.start(s.reach(i)))
		s.born = append(s.born, 0)
		s.serve(s.engines[i])
	}
	for _, m := range s.world.masters {
		m.remember()
	}
	if s.ends.IsZero() {
		s.ends = time.Now().Add(3 * time.Second)
	}
}

// differ has masters be of several versions, some durable, and their clocks perhaps run apart.
func (s *simulation) differ() {
	drifting := s.rand.IntN(2) == 0
	for _, m := range s.world.masters {
		m.quiet = true
		if *schedules == 1 {
			m.after = s.carriedOut
		}
		if drifting {
			m.rate = 0.991 + 0.018*s.rand.Float64()
		}
		if s.rand.IntN(10) == 0 {
			m.version = "6.2.14"
		}
	}
	for _, m := range s.world.masters {
		if s.rand.IntN(4) == 0 {
			m.settings = map[string]string{"appendonly": "yes", "appendfsync": "always", "no-appendfsync-on-rewrite": "no"}
		}
	}
}

// engine is one of the engines, with the constant token that its clients use: mostly
// it is constant within one engine, as only that knows of an order.
func (s *simulation) engine(i int) (*Engine, string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	i %= len(s.engines)
	if s.alike == atSeveral {
		return s.engines[i], "1"
	}
	return s.engines[i], fmt.Sprintf("1@%d.%d", i, s.born[i])
}

// waits is how long it is until locks may be asked for.
func (s *simulation) waits() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	return time.Until(s.free)
}

func (s *simulation) ask(e *Engine, r quorum.Request) quorum.Result {
	if turn := s.turns[r.Key]; turn != nil {
		defer turn.take(r.Kind == quorum.Release)()
	}
	if r.Key, r.DB = located(r.Key); r.Kind == quorum.Run {
		r.Keys = []string{r.Key}
	}
	if r.Script == watchStep {
		r.Keys = append(r.Keys, countOf(r.Key))
	}
	if f := s.before(e); f != nil {
		return f.Ask(r)
	}
	s.mu.Lock()
	lull := time.Until(s.lulls[e])
	s.mu.Unlock()
	time.Sleep(lull)
	e.Open(r.DB)
	a := newWaiter()
	e.Put(&r, a)
	got := <-a.answers
	if got.Reply.Kind == quorum.FailureReply {
		got.Decision = quorum.Contended // it is a lock of another manner
	}
	return got
}

// before is the proxy before an engine, if there is one.
func (s *simulation) before(e *Engine) Front {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.fronts[e]
}

// serve puts a proxy before an engine, if there are to be any.
func (s *simulation) serve(e *Engine) {
	if s.front == nil {
		return
	}
	f := s.front(s.t, e, s.seed)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fronts == nil {
		s.fronts = make(map[*Engine]Front)
	}
	s.fronts[e] = f
}

// restart closes one engine, perhaps in a hurry, and starts another.
func (s *simulation) restart(i int) string {
	// No clock is set from here on of which only the one that ends would know.
	s.mu.Lock()
	s.another = true
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.another = false
	}()
	if !s.jumpsNoticed() {
		return "is as it was"
	}
	old, _ := s.engine(i)
	if f := s.before(old); f != nil {
		f.End()
	}
	ctx, cancel := contextOf(time.Duration(s.rand.IntN(100)) * ms)
	defer cancel()
	old.Close(ctx)
	e := New(s.reach(i), old.zero.log)
	s.serve(e)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.engines[i] = e
	s.born[i]++
	s.world.engines = append(s.world.engines, e)
	return fmt.Sprintf("is left alone, and engine %d restarted", i)
}
