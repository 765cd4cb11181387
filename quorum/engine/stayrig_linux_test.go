package engine

import (
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"redlock-proxy/quorum"
)

// staying is an engine over fake masters behind real sockets, in real time, and somebody who stays.
type staying struct {
	*world
	stay  *stay
	reads *os.File // where he waits for input
	input *os.File
	wires []*wiring
}

// wiring carries what a master says to its socket; hold has the rest of the next of it wait, but for some bytes.
type wiring struct {
	mu   sync.Mutex
	hold chan struct{} // nil: nothing waits
	some int

	drips atomic.Bool
	left  atomic.Int64 // bytes that are still to drip
}

func (w *wiring) holds(some int) (release func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	hold := make(chan struct{})
	w.hold, w.some = hold, some
	return func() { close(hold) }
}

func (w *wiring) carry(to, from net.Conn) {
	defer to.Close()
	b := make([]byte, 64<<10)
	for {
		n, err := from.Read(b)
		if err != nil {
			return
		}
		w.mu.Lock()
		hold, some := w.hold, min(w.some, n)
		w.hold = nil
		w.mu.Unlock()
		p := b[:n]
		if hold != nil {
			to.Write(p[:some])
			<-hold
			p = p[some:]
		}
		for w.drips.Load() && len(p) > 1 {
			to.Write(p[:1])
			p = p[1:]
			w.left.Store(int64(len(p)))
			time.Sleep(20 * time.Millisecond)
		}
		if _, err := to.Write(p); err != nil {
			return
		}
	}
}

// whileStaying runs f with an engine over three masters that all vote, and somebody who waits for them as long as
// it takes, unless there is input.
func whileStaying(t *testing.T, f func(s *staying), change ...func(*Config)) {
	t.Helper()
	w := &world{t: t, cfg: testConfig(), log: testLog()}
	w.cfg.MasterTimeout, w.cfg.AcquireTimeout, w.cfg.ConnectTimeout, w.cfg.ProbeInterval = 10*time.Second, 10*time.Second, 10*time.Second, time.Hour
	for _, c := range change {
		c(&w.cfg)
	}
	s := &staying{world: w}
	for i := range 3 {
		m, wire := newFakeMaster(fmt.Sprintf("m%d", i+1)), new(wiring)
		w.masters, s.wires = append(w.masters, m), append(s.wires, wire)
		at, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { at.Close() })
		go func() {
			for {
				theirs, err := at.Accept()
				if err != nil {
					return
				}
				ours, err := m.dial(t.Context(), "", "")
				if err != nil {
					theirs.Close()
					continue
				}
				go wire.carry(theirs, ours)
				go func() { io.Copy(ours, theirs); ours.Close() }()
			}
		}()
		reached := m.master()
		reached.Dial = func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "tcp", at.Addr().String())
		}
		w.cfg.Masters = append(w.cfg.Masters, reached)
	}
	w.bootstrap(w.cfg)
	w.engine = New(w.cfg, w.log)
	<-w.engine.Tried()
	defer func() {
		w.stop(w.engine)
		for _, m := range w.masters {
			m.unfreeze()
			m.cut()
		}
	}()
	var err error
	if s.reads, s.input, err = os.Pipe(); err != nil {
		t.Fatal(err)
	}
	defer s.reads.Close()
	defer s.input.Close()
	stays, err := w.engine.Stay(int(s.reads.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	s.stay = stays.(*stay)
	defer s.stay.Close()
	s.stay.most = 3_600_000                               // a fault hangs
	s.want(s.soon(s.put(acquiring("first"))), quorum.Won) // the lanes have had their first look at the masters
	s.wantLent()
	f(s)
}

// wantLent waits until each lane has nothing to do.
func (s *staying) wantLent() {
	s.t.Helper()
	for _, l := range s.engine.zero.lanes {
		for began := time.Now(); ; time.Sleep(time.Millisecond) {
			l.mu.Lock()
			lends := l.queue.idle && l.queue.lends && l.queue.waiting() == 0
			l.mu.Unlock()
			if lends {
				break
			}
			if time.Since(began) > 20*time.Second {
				s.tooSlow()
				s.t.Fatalf("%s: the lane is never idle", l.master.Name)
			}
		}
	}
}

// awaitSent waits until each master has been asked for a lock.
func (s *staying) awaitSent(key string) {
	for _, m := range s.masters {
		for m.value(key) == "" {
			time.Sleep(time.Millisecond)
		}
	}
}

// tooSlow leaves the test out where masters on the same machine seem to be far: who stays leaves those to their lanes.
func (s *staying) tooSlow() {
	for _, m := range s.engine.Status().Masters {
		if m.RoundTrip > perBatch/2 {
			s.t.Skip("this machine takes too long to answer itself")
		}
	}
}

// wantOneLink fails the test where a link was given up.
func (s *staying) wantOneLink() {
	s.t.Helper()
	for _, m := range s.engine.Status().Masters {
		if m.Reconnects != 0 {
			s.t.Errorf("%s: the link was given up", m.Name)
		}
	}
}

// puts puts a request by who stays.
func (s *staying) puts(r quorum.Request) *waiter {
	a := newWaiter()
	s.engine.PutStaying(&r, a, time.Now(), s.stay)
	return a
}

// answered is what was answered by now.
func (s *staying) answered(a *waiter) quorum.Result {
	s.t.Helper()
	select {
	case r := <-a.answers:
		<-a.flushed
		return r
	default:
		s.tooSlow()
		s.t.Fatal("it is not answered")
		return quorum.Result{}
	}
}

// soon is what is answered at last.
func (s *staying) soon(a *waiter) quorum.Result {
	r := <-a.answers
	<-a.flushed
	return r
}

// wantStayed fails the test where he tells otherwise, or twice.
func (s *staying) wantStayed(want bool) {
	s.t.Helper()
	if got, again := s.stay.Stayed(), s.stay.Stayed(); got != want || again {
		s.tooSlow()
		s.t.Errorf("he stayed: %v, %v; want %v, false", got, again, want)
	}
}

// calls has input be there, or not any more.
func (s *staying) calls(yes bool) {
	if yes {
		s.input.Write([]byte{1})
	} else {
		s.reads.Read(make([]byte, 1))
	}
}

func acquiring(key string) quorum.Request {
	return quorum.Request{Kind: quorum.Acquire, Key: key, Token: "t", TTL: time.Minute}
}

func releasing(key string) quorum.Request {
	return quorum.Request{Kind: quorum.Release, Key: key, Token: "t"}
}
