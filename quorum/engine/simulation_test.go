package engine

import (
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/go-hclog"

	"redlock-proxy/quorum"
	"redlock-proxy/quorum/marker"
)

var seedFlag = flag.Uint64("seed", 1, "seed of the random tests; 0 takes a new one for each run")

// Whole engines, and whole proxies, over fake masters, under faults drawn from a
// seed, with clients that check what they were promised: at no time do two of them
// hold one lock, and when the faults are over every lock can be had again. Masters
// forget, come back with what they held long ago, or have their clocks set; those run
// as much apart as the drift allows.
//
// A seed fixes the schedule of clients and faults; goroutines may still take
// turns differently, so a failure may take a few runs to come again.

var schedules = flag.Int("schedules", 0, "how many schedules to simulate; 0 is enough for a quick test")

var socketsOnly = flag.Bool("sockets", false, "have sockets be late in every schedule, more often than other faults come")

var holdersOnly = flag.Bool("holders", false, "look for two holders of one lock only, not for what is left behind")

// simulation is one schedule.
type simulation struct {
	t     *testing.T
	seed  uint64
	rand  *rand.Rand // of the faults
	world *world
	begun time.Time
	ends  time.Time     // of clients and faults
	pause int           // the longest between two faults, in milliseconds
	ttl   [2]int        // the shortest and the longest, in milliseconds
	rest  time.Duration // the shortest between two things that a holder does
	again time.Duration // until one who heard no asks once more, if at once

	alike    alike // whose tokens are, if all are
	constant int   // each so many-th client locks with a constant token
	far      bool  // masters are
	sockets  bool  // what is in a socket is carried out late, more often than other faults come

	locks        []string // by their names, as located reads them
	manners      []manner // in which clients lock; none: by SET NX
	reconfigured bool     // masters are
	hour         bool     // one master's clock is an hour off all the time
	machine      *machine // of the proxies; nil if it never stands still

	rare     bool        // proxies look rarely
	unsteady *fakeMaster // then: whose clock is set, over and over

	oneToken bool // each rover has one for all its locks

	mu      sync.Mutex // guards what follows
	engines []*Engine
	ways    map[way]*road
	turns   map[string]*simTurn
	strikes map[string][]*strike                    // of strangers, by lock; nil: there are none, nor rovers
	traces  map[string]*trace                       // of tokens; nil: what is left behind is not looked for
	kind    int                                     // of a schedule for catch-ups
	dull    bool                                    // proxies notice late what becomes of masters
	lulls   map[*Engine]time.Time                   // until when nobody asks it
	free    time.Time                               // until when nobody asks for a lock, and each that is held is released
	front   func(*testing.T, *Engine, uint64) Front // nil: clients ask the engines
	fronts  map[*Engine]Front
	born    []int // generation of each engine, which changes with a restart
	held    map[string]holding
	lost    map[string]string            // token that was answered no: what it was
	another bool                         // engine is being started
	jumped  map[*fakeMaster]marker.Nonce // each master's whose clock was set, at that time
	history []string
	wins    int
}

// holding is what a client has been promised.
type holding struct {
	client int
	token  string
	until  time.Time
}

func TestSimulatedFaultsNeverGiveTwoHolders(t *testing.T) {
	n, won := eachSeed(t, 50, simulate)
	if won < n && !t.Failed() {
		t.Errorf("only %d locks were won in %d schedules", won, n)
	}
}

// Of masters that are far, lanes send a batch before the one before it is answered.
func TestSimulatedFarMastersNeverGiveTwoHolders(t *testing.T) {
	n, won := eachSeed(t, 20, func(t *testing.T, seed uint64) int {
		return simulateWith(t, seed, func(s *simulation) {
			s.far, s.alike = true, []alike{notAlike, atOneProxy, notAlike, atLast}[seed%4]
		})
	})
	if won < n && !t.Failed() {
		t.Errorf("only %d locks were won in %d schedules", won, n)
	}
}

// eachSeed simulates as many schedules as the flags say, or a few for a quick test, up
// to the first that fails. It returns how many these are, and the sum of what each
// returns.
func eachSeed(t *testing.T, few int, simulate func(*testing.T, uint64) int) (n, total int) {
	n = few
	if testing.Short() {
		n = few / 2
	}
	if *schedules != 0 {
		n = *schedules
	}
	first := *seedFlag
	if first == 0 {
		first = uint64(rand.Uint32())
	}
	// The few of a quick test take turns, so that their goroutines can be counted.
	workers := 1
	if *schedules > 1 {
		workers = min(runtime.GOMAXPROCS(0), n)
	}
	name := t.Name()
	var sum atomic.Int64
	var failed atomic.Bool
	t.Run("schedules", func(t *testing.T) {
		for w := range workers {
			t.Run(fmt.Sprint(w), func(t *testing.T) {
				t.Parallel()
				seed := first + uint64(w)
				defer func() { // a bubble that fails ends its worker
					if t.Failed() {
						failed.Store(true)
						t.Logf("repeat with: go test ./quorum/engine -run '^%s$' -seed %d -schedules 1 -count 20", name, seed)
					}
				}()
				for ; seed < first+uint64(n) && !failed.Load(); seed += uint64(workers) {
					sum.Add(int64(simulate(t, seed)))
				}
			})
		}
	})
	return n, int(sum.Load())
}

func simulate(t *testing.T, seed uint64) (wins int) {
	return simulateWith(t, seed, func(*simulation) {})
}

func simulateWith(t *testing.T, seed uint64, change func(*simulation)) (wins int) {
	synctest.Test(t, func(t *testing.T) {
		s := &simulation{
			t: t, seed: seed, rand: rand.New(rand.NewPCG(seed, 1)), begun: time.Now(),
			held: make(map[string]holding), lost: make(map[string]string), jumped: make(map[*fakeMaster]marker.Nonce),
			locks: oneDatabase,
		}
		change(s)
		s.begin()
		goroutines := runtime.NumGoroutine()
		var wait sync.WaitGroup
		for c := range s.clients() {
			wait.Go(func() { s.client(c, rand.New(rand.NewPCG(seed, uint64(c+2)))) })
		}
		if len(s.manners) > 0 && s.front == nil {
			for c := range 2 {
				wait.Go(func() { s.watcher(c, rand.New(rand.NewPCG(seed, uint64(c+100)))) })
			}
		}
		if s.strikes != nil {
			wait.Go(func() { s.stranger(rand.New(rand.NewPCG(seed, 0))) })
		}
		wait.Go(s.faults)
		wait.Wait()
		s.heal()
		if !*holdersOnly {
			s.checkAfterwards(goroutines)
		}
		for _, f := range s.fronts {
			f.End()
		}
		wins = s.wins
	})
	return wins
}

// begin starts masters and engines.
func (s *simulation) begin() {
	n := 3 + 2*s.rand.IntN(2)
	if s.alike == atOneProxy {
		n = 3
	}
	s.world = newWorld(s.t, n)
	s.world.log = s.log()
	s.fewDatabases()
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
	s.world.cfg.MaxTTL = simMaxTTL
	for _, m := range s.world.masters {
		if s.rand.IntN(4) == 0 {
			m.settings = map[string]string{"appendonly": "yes", "appendfsync": "always", "no-appendfsync-on-rewrite": "no"}
		}
	}
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

func (s *simulation) note(format string, args ...any) {
	at := time.Since(s.begun)
	s.history = append(s.history, fmt.Sprintf("%8.1fms ", float64(at)/1e6)+fmt.Sprintf(format, args...))
}

// carriedOut notes what a master was told about a key, if one schedule is repeated.
func (s *simulation) carriedOut(args []string, m *fakeMaster) {
	for _, lock := range s.locks {
		key, db := located(lock)
		if m.using == db && slices.Contains(args, key) {
			k, _ := m.key(key)
			s.mu.Lock()
			s.note(" %s %s: %s, and holds %q for %v", lock, m.name, told(args), k.value, time.Duration(max(k.until-m.now(), 0)))
			s.mu.Unlock()
		}
	}
}

// log is that of the engines: what they say is part of what happened.
func (s *simulation) log() hclog.Logger {
	return hclog.New(&hclog.LoggerOptions{Output: logWriter{s}, DisableTime: true})
}

type logWriter struct{ *simulation }

func (l logWriter) Write(line []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.note("log: %s", strings.TrimSpace(string(line)))
	if strings.Contains(string(line), "master is down") {
		l.linkBroken()
	}
	return len(line), nil
}

// broken reports a broken promise with what happened to that key before it.
func (s *simulation) broken(key, format string, args ...any) {
	if s.t.Failed() {
		return
	}
	var told []string
	asked, most := 0, 150
	if *schedules == 1 {
		most = 1500 // with what each master was told
	}
	for i := len(s.history) - 1; i >= 0 && len(told) < most; i-- {
		switch h := s.history[i]; {
		case strings.Contains(h, "fault: "), strings.Contains(h, "log: "):
		case !strings.Contains(h, " "+key+" "):
			continue
		case strings.Contains(h, ": no ("):
			if asked++; asked > most/7 {
				continue
			}
		}
		told = append(told, s.history[i])
	}
	slices.Reverse(told)
	s.t.Errorf("seed %d: %s\n%s", s.seed, fmt.Sprintf(format, args...), strings.Join(told, "\n"))
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

// faults happen until the end of the schedule.
func (s *simulation) faults() {
	for time.Now().Before(s.ends) {
		time.Sleep(time.Duration(s.rand.IntN(s.pause)) * ms)
		m := s.world.masters[s.rand.IntN(len(s.world.masters))]
		fault := ""
		switch {
		case s.reconfigured && s.rand.IntN(5) == 0:
			fault = s.reconfigure(m)
		case s.strikes != nil && s.rand.IntN(3) > 0:
			fault = s.setApart(m)
		case s.machine != nil && s.rand.IntN(2) == 0:
			fault = s.stands(m)
		case s.rare:
			fault = s.rarely(m)
		case s.rand.IntN(12) == 0 && s.alike == notAlike:
			fault = s.loss(m)
		default:
			fault = s.fault(m)
		}
		if s.strikes != nil {
			time.AfterFunc(mostLate/8+time.Duration(s.rand.IntN(int(mostLate/8*7))), m.comeBack)
		}
		s.mu.Lock()
		s.note("fault: %s %s", m.name, fault)
		s.mu.Unlock()
	}
}

// loss takes from a master what it held, or may have, and says how. A master that
// says it is durable keeps what it answered.
func (s *simulation) loss(m *fakeMaster) string {
	r := s.rand
	switch r.IntN(6) {
	case 0:
		// Between two commands of one batch, too.
		once(m, []string{"SET", "GETRANGE", "EVALSHA", "TIME"}[r.IntN(4)], forgetAll)
		return "is flushed"
	case 1:
		if s.hour {
			break // two clocks that are wrong would be a quorum of them
		}
		// None as another's: several that jump alike are taken for the proxy's own.
		n := len(s.world.masters)
		by := time.Duration(r.IntN(4000/150/n)*n+slices.Index(s.world.masters, m))*150*ms - time.Second
		// What tells of it first may be slow, and so as vague as the jump is great.
		slow := time.Duration(r.IntN(2)*r.IntN(450)) * ms
		once(m, []string{"SET", "GETRANGE", "EVALSHA", "TIME"}[r.IntN(4)], func(m *fakeMaster) {
			if !s.sighted(m) {
				return
			}
			s.setClock(m, by)
			if slow > 0 {
				m.answersLate(slow)
				time.AfterFunc(slow/2, func() { m.set(func(m *fakeMaster) { m.answersLate(m.far) }) })
			}
		})
		return fmt.Sprintf("has its clock set by %v, and answers late by %v meanwhile", by, slow)
	case 2, 3:
		if old := m.memories(); len(old) > 0 {
			kept := old[r.IntN(len(old))]
			m.restartWith(kept)
			return "restarts with what it held long ago"
		}
	case 4:
		m.remember()
		return "writes a dump"
	}
	if m.durable() {
		m.restartWith(m.copy())
		return "restarts with all it held"
	}
	m.restartBlank()
	return "restarts blank"
}

// setClock has a master's clock jump, of which its marker does not tell yet. Its mu is held.
func (s *simulation) setClock(m *fakeMaster, by time.Duration) {
	m.jumped += by
	s.mu.Lock()
	defer s.mu.Unlock()
	m.in(0, func() { s.jumped[m] = marker.NonceOf(m.marker()) })
}

// fault does something to a master, and says what.
func (s *simulation) fault(m *fakeMaster) string {
	r := s.rand
	sometimes := time.Duration(r.IntN(2)*r.IntN(150)) * ms
	kind := r.IntN(14)
	switch s.alike {
	case atOneProxy:
		if s.sockets {
			return s.holdBackTwo(m)
		}
		kind = []int{5, 6, 7, 9}[r.IntN(4)]
	case atLast:
		return s.lateTogether(m)
	case atSeveral:
		return s.part(r.IntN(len(s.engines)), m, time.Duration(20+r.IntN(400))*ms)
	}
	if s.sockets && r.IntN(2) == 0 {
		kind = 12
	}
	if s.strikes != nil && kind == 12 {
		kind = 9 // nothing is carried out so late that nobody knows when
	}
	if s.traces != nil {
		kind = []int{5, 8, 9, 9, 9, 10, 10, 10}[r.IntN(8)]
	}
	switch kind {
	case 0, 1:
		m.freeze()
		return "frozen"
	case 2, 3, 4:
		m.unfreeze()
		return "goes on"
	case 5:
		m.cut()
		return "cut off"
	case 6, 7:
		m.mend()
		return "mended"
	case 8:
		m.sever()
		return "severed"
	case 9:
		m.set(func(m *fakeMaster) { m.lag = sometimes })
		return fmt.Sprint("carries out late by ", sometimes)
	case 10:
		m.set(func(m *fakeMaster) { m.delay = sometimes })
		return fmt.Sprint("answers late by ", sometimes)
	case 11:
		if r.IntN(4) == 0 && s.jumpsNoticed() {
			return s.restart(r.IntN(len(s.engines)))
		}
		m.set(func(m *fakeMaster) { clear(m.scripts) })
		return "forgets its scripts"
	case 12:
		// What its sockets hold is carried out behind what later ones bring.
		time.AfterFunc(time.Duration(300+r.IntN(1000))*ms, m.holdBack())
		return "holds its sockets back"
	}
	// All others are out of reach for a while.
	away := time.Duration(50+r.IntN(500)) * ms
	for _, other := range s.world.masters {
		if other != m {
			other.cut()
			time.AfterFunc(away, other.mend)
		}
	}
	return fmt.Sprint("is alone for ", away)
}

// jumpsNoticed tells that the marker tells of each clock that was set. An engine that
// is started before cannot know.
func (s *simulation) jumpsNoticed() bool {
	s.mu.Lock()
	jumped := maps.Clone(s.jumped)
	s.mu.Unlock()
	for m, n := range jumped {
		if n.Valid() && marker.NonceOf(m.value(quorum.MarkerKey)) == n {
			return false
		}
	}
	return true
}

// sighted tells that each engine has seen how a master's clock runs. One that has not,
// as it was started while the master was away, cannot know of a jump.
func (s *simulation) sighted(m *fakeMaster) bool {
	s.mu.Lock()
	engines, another := slices.Clone(s.engines), s.another
	s.mu.Unlock()
	i := slices.Index(s.world.masters, m)
	return !another && !slices.ContainsFunc(engines, func(e *Engine) bool {
		a := e.zero.lanes[i].sighted()
		return !a.Known()
	})
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

// heal ends all faults.
func (s *simulation) heal() {
	for _, m := range s.world.masters {
		m.comeBack()
		m.set(func(m *fakeMaster) { m.respond = nil })
	}
}

// comeBack has a master be there, and as fast as it can be.
func (m *fakeMaster) comeBack() {
	m.unfreeze()
	m.mend()
	m.set(func(m *fakeMaster) { m.lag, m.delay = 0, 0 })
}
