package engine

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

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

// simulation is one schedule. It has a method for each thing that clients, strangers and faults
// do, in a file for each kind of schedule, and a field for each way in which those differ, since
// whatever happens is held against what one client was promised.
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
