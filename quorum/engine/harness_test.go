package engine

import (
	"context"
	"fmt"
	"io"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/go-hclog"

	"redlock-proxy/quorum"
	"redlock-proxy/quorum/marker"
	"redlock-proxy/quorum/master"
	"redlock-proxy/quorum/members"
)

// testConfig has the defaults of the program.
func testConfig() Config {
	return Config{
		Set: master.Set{
			AcquireTimeout: 250 * time.Millisecond,
			MaxTTL:         5 * time.Minute,
			ConnectTimeout: 500 * time.Millisecond,
			MasterTimeout:  500 * time.Millisecond,
			ProbeInterval:  time.Second,
			Clock:          virtualClock,
		},
		SplitRetries: 3,
		SplitDelay:   25 * time.Millisecond,
		FirstStart:   true,
	}
}

// bootstrap marks the masters of a set for an engine of these words.
func bootstrap(ctx context.Context, cfg Config, how members.Bootstrapping) error {
	return members.Bootstrap(ctx, cfg.Equipped(), how)
}

// changeMasters makes one set of masters the other.
func changeMasters(ctx context.Context, old, cfg Config, how members.Changing) error {
	return members.Change(ctx, old.Equipped().Masters, cfg.Equipped(), how)
}

// virtualClock is that of synctest, which goes on while nothing happens.
func virtualClock() (time.Duration, time.Time) { return time.Since(time.Unix(0, 0)), time.Now() }

// world is an engine over fake masters, in virtual time. It has a method for each thing that
// tests do to masters or ask of the engine, so that they read as what happens.
type world struct {
	t       *testing.T
	masters []*fakeMaster
	engine  *Engine   // the one that is asked
	engines []*Engine // all that were started
	cfg     Config
	log     hclog.Logger // of the engines
}

// newWorld makes n masters; the engine is for the test to start with w.cfg.
// All of it ends with the test, or synctest fails it.
func newWorld(t *testing.T, n int) *world {
	w := &world{t: t, cfg: testConfig(), log: testLog()}
	for i := range n {
		m := newFakeMaster(fmt.Sprintf("m%d", i+1))
		w.masters = append(w.masters, m)
		w.cfg.Masters = append(w.cfg.Masters, m.master())
	}
	t.Cleanup(w.end)
	return w
}

// end ends the engines and the masters.
func (w *world) end() {
	for _, e := range w.engines {
		w.stop(e)
	}
	for _, m := range w.masters {
		m.unfreeze()
		m.cut()
	}
	time.Sleep(time.Minute) // so that slow masters find out
}

// inWorld runs f with an engine over n masters that are all voting.
func inWorld(t *testing.T, n int, f func(w *world), change ...func(*Config)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, n)
		for _, c := range change {
			c(&w.cfg)
		}
		w.engine = w.start(w.cfg)
		f(w)
	})
}

// notInstrumented leaves a test out under the race detector, that takes it many times longer: it
// goes through hours in which little is done at once, or through many bytes.
func notInstrumented(t *testing.T) {
	t.Helper()
	if instrumented {
		t.Skip("it is run without the race detector")
	}
}

// inSmallWorld is for what takes long, and is the same however many databases there are.
func inSmallWorld(t *testing.T, n int, f func(w *world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, n)
		w.withOneDatabase()
		w.engine = w.start(w.cfg)
		f(w)
	})
}

// bootstrap marks the masters as those that cfg names: all of them remember, and have been
// told of each other what proxies tell them at once.
func (w *world) bootstrap(cfg Config) {
	for _, m := range w.masters {
		others := make(map[string]string)
		for _, other := range w.masters {
			if other != m && !other.durable() {
				others[other.name] = marker.NoLog
			}
		}
		m.mark(marker.Marker{Installation: "test", Member: m.name, Terms: cfg.Terms(), RunID: m.runID, Durable: m.durable(), Others: others})
	}
}

// mark has a marker in each database, which lets the master vote.
func (m *fakeMaster) mark(mark marker.Marker) {
	for db := range m.databases() {
		if mark.Nonce, mark.DB = marker.NewNonce(false), db; db == 1 {
			mark.Others = nil
		}
		m.locked(func() { m.in(db, func() { m.keys[quorum.MarkerKey] = fakeKey{value: mark.String()} }) })
	}
}

// marked tells that some master has a marker.
func (w *world) marked() bool {
	return slices.ContainsFunc(w.masters, func(m *fakeMaster) bool { return m.value(quorum.MarkerKey) != "" })
}

// start starts an engine. The masters are marked if none of them is and it has several.
func (w *world) start(cfg Config) *Engine {
	if len(cfg.Masters) > 1 && !w.marked() {
		w.bootstrap(cfg)
	}
	e := New(cfg, w.log)
	w.engines = append(w.engines, e)
	<-e.Tried()
	synctest.Wait()
	return e
}

func testLog() hclog.Logger { return hclog.New(&hclog.LoggerOptions{Output: io.Discard}) }

func (w *world) stop(e *Engine) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	e.Close(ctx)
}

// waiter is an asker that a test waits for.
type waiter struct {
	answers chan quorum.Result
	flushed chan struct{}
}

func newWaiter() *waiter {
	return &waiter{make(chan quorum.Result, 16), make(chan struct{}, 1024)}
}

func (a *waiter) Flush() { a.flushed <- struct{}{} }

func (a *waiter) Answer(r quorum.Result) quorum.Flusher {
	a.answers <- r
	return a
}

// put puts a request without waiting.
func (w *world) put(r quorum.Request) *waiter {
	a := newWaiter()
	w.engine.Put(&r, a)
	return a
}

// ask puts a request and waits for its answer; it fails the test if no flush
// follows the answer.
func (w *world) ask(r quorum.Request) quorum.Result {
	w.t.Helper()
	return w.put(r).wait(w.t)
}

func (a *waiter) wait(t *testing.T) quorum.Result {
	t.Helper()
	r := <-a.answers
	synctest.Wait()
	select {
	case <-a.flushed:
	default:
		t.Error("an answer without a flush")
	}
	return r
}

func (w *world) acquire(key, token string, ttl time.Duration) quorum.Result {
	w.t.Helper()
	return w.ask(quorum.Request{Kind: quorum.Acquire, Key: key, Token: token, TTL: ttl})
}

func (w *world) release(key, token string) quorum.Result {
	w.t.Helper()
	return w.ask(quorum.Request{Kind: quorum.Release, Key: key, Token: token})
}

func (w *world) want(r quorum.Result, d quorum.Decision) {
	w.t.Helper()
	if r.Decision != d {
		w.t.Fatalf("decision is %v, want %v (%+v)", r.Decision, d, r)
	}
}

// wantValues compares what the masters hold, in their order; "" is nothing.
func (w *world) wantValues(key string, values ...string) {
	w.t.Helper()
	synctest.Wait()
	for i, m := range w.masters {
		if v := m.value(key); v != values[i] {
			w.t.Errorf("%s holds %q, want %q", m.name, v, values[i])
		}
	}
}

// now is the time of day by the masters.
func (w *world) now() time.Time {
	w.t.Helper()
	now, known := w.engine.Now()
	if !known {
		w.t.Error("the time of day is not known")
	}
	return now
}

func (w *world) extend(key, token string, ttl time.Duration) quorum.Result {
	w.t.Helper()
	return w.ask(quorum.Request{Kind: quorum.Extend, Key: key, Token: token, TTL: ttl})
}

func (w *world) read(key string) quorum.Result {
	w.t.Helper()
	return w.ask(quorum.Request{Kind: quorum.Read, Key: key})
}

// each calls f for the masters with these numbers, counted from 1.
func (w *world) each(f func(*fakeMaster), numbers ...int) {
	for _, n := range numbers {
		f(w.masters[n-1])
	}
}

// late has masters answer 5 ms later while f runs, so that the others have been asked
// before: what is decided already is sent to nobody any more.
func (w *world) late(f func(), numbers ...int) {
	later := func(by time.Duration) {
		w.each(func(m *fakeMaster) { m.set(func(m *fakeMaster) { m.delay += by }) }, numbers...)
	}
	later(5 * time.Millisecond)
	f()
	later(-5 * time.Millisecond)
}

// down tells the engine's lane that its master is gone, and waits until it has noticed.
func (w *world) down(numbers ...int) {
	w.each((*fakeMaster).cut, numbers...)
	synctest.Wait()
	time.Sleep(w.cfg.ProbeInterval + 100*time.Millisecond)
	synctest.Wait()
}

// up mends what down did, and waits until the masters vote again.
func (w *world) up(numbers ...int) {
	w.each((*fakeMaster).rejoin, numbers...)
	time.Sleep(w.cfg.ProbeInterval)
	synctest.Wait()
}

// settle lets what is under way be carried out.
func (w *world) settle() {
	time.Sleep(20 * time.Millisecond)
	synctest.Wait()
}
