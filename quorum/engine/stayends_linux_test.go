package engine

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"redlock-proxy/quorum"
)

// The time that a lane gives a master is not that of who stays later, nor the other way round.
func TestWhoStaysIsBoundByNoDeadlineOfBefore(t *testing.T) {
	whileStaying(t, func(s *staying) {
		for i := range 2 {
			s.want(s.soon(s.put(acquiring(fmt.Sprint("k", i)))), quorum.Won)
			s.wantLent()
			time.Sleep(s.cfg.MasterTimeout)
			s.want(s.answered(s.puts(acquiring(fmt.Sprint("l", i)))), quorum.Won)
			time.Sleep(s.cfg.MasterTimeout)
		}
		s.wantOneLink()
	}, func(cfg *Config) { cfg.MasterTimeout = 2 * time.Second })
}

// What is to be done twice, as a master has lost our scripts, is the lane's.
func TestWhoStaysLeavesWhatIsToBeSentAgain(t *testing.T) {
	whileStaying(t, func(s *staying) {
		s.want(s.answered(s.puts(acquiring("k"))), quorum.Won)
		for _, m := range s.masters {
			m.locked(func() { clear(m.scripts) })
		}
		s.want(s.soon(s.puts(releasing("k"))), quorum.Won)
		s.wantLent()
		s.want(s.answered(s.puts(acquiring("k"))), quorum.Won)
		s.wantOneLink()
	})
}

// A master that ends the link meanwhile loses it, and is reached again.
func TestWhoStaysSurvivesALinkThatEnds(t *testing.T) {
	whileStaying(t, func(s *staying) {
		for i := range 20 {
			m := s.masters[i%3]
			m.cut()
			s.want(s.soon(s.puts(acquiring(fmt.Sprint("k", i)))), quorum.Won)
			m.rejoin()
			for s.engine.Status().Masters[i%3].Reconnects != uint64(i/3+1) {
				time.Sleep(time.Millisecond)
			}
			s.wantLent()
		}
	}, func(cfg *Config) { cfg.ProbeInterval = 20 * time.Millisecond })
}

// Others put requests meanwhile: each is answered once, and no lane sleeps over one.
func TestWhoStaysIsNotAlone(t *testing.T) {
	whileStaying(t, func(s *staying) {
		s.stay.most = 1
		var group sync.WaitGroup
		stop := make(chan struct{})
		for i := range 3 {
			group.Go(func() {
				for n := 0; ; n++ {
					select {
					case <-stop:
						return
					case <-time.After(time.Duration(n%7) * 100 * time.Microsecond):
					}
					key := fmt.Sprint("k", i)
					for _, r := range []quorum.Request{acquiring(key), releasing(key)} {
						if got := s.soon(s.put(r)); got.Decision != quorum.Won {
							t.Errorf("%v of %s: %+v", r.Kind, key, got)
							return
						}
					}
				}
			})
		}
		for range 300 {
			s.want(s.soon(s.puts(acquiring("mine"))), quorum.Won)
			s.want(s.soon(s.puts(releasing("mine"))), quorum.Won)
		}
		close(stop)
		group.Wait()
		s.wantLent()
		s.wantOneLink()
	})
}

// One who panics as he is answered leaves no lane behind, though others have not answered.
func TestWhoStaysLeavesNoLaneWhereOneMakesHimPanic(t *testing.T) {
	whileStaying(t, func(s *staying) {
		s.stay.most = 100
		for i := 0; i < 3; {
			release := s.wires[i].holds(0)
			p := &panics{waiter: newWaiter(), on: goroutine()}
			func() {
				defer func() { recover() }()
				r := acquiring("k")
				s.engine.PutStaying(&r, p, time.Now(), s.stay)
			}()
			release()
			s.wantLent()
			s.want(s.soon(s.put(releasing("k"))), quorum.Won)
			s.wantLent()
			if p.did { // or a lane had to look at its master, and was who answered
				i++
			}
		}
	}, func(cfg *Config) { cfg.ProbeInterval = 20 * time.Millisecond })
}

// panics is an asker that does so on one goroutine.
type panics struct {
	*waiter
	on  string
	did bool
}

func (p *panics) Answer(r quorum.Result) quorum.Flusher {
	if goroutine() != p.on {
		return p.waiter.Answer(r)
	}
	p.did = true
	panic("as the test asked")
}

// goroutine names the one that calls it.
func goroutine() string {
	b := make([]byte, 64)
	name, _, _ := strings.Cut(string(b[:runtime.Stack(b, false)]), " [")
	return name
}

// A look at a master that is due is its lane's, also where nobody but who stays has anything for it.
func TestWhoStaysLeavesTheLooksThatAreDue(t *testing.T) {
	whileStaying(t, func(s *staying) {
		looked := func() (at []time.Duration) {
			s.wantLent()
			for _, l := range s.engine.zero.lanes {
				l.mu.Lock()
				at = append(at, l.keeper.looked)
				l.mu.Unlock()
			}
			return at
		}
		before := looked()
		for began := time.Now(); time.Since(began) < 20*time.Second; {
			s.want(s.soon(s.puts(acquiring("k"))), quorum.Won)
			s.want(s.soon(s.puts(releasing("k"))), quorum.Won)
			due := 0
			for i, at := range looked() {
				if at > before[i] {
					due++
				}
			}
			if due == len(before) {
				return
			}
		}
		t.Error("nobody looks")
	}, func(cfg *Config) { cfg.ProbeInterval = 50 * time.Millisecond })
}

// The engine ends though masters are silent, and who stays with it.
func TestWhoStaysEndsWithTheEngine(t *testing.T) {
	whileStaying(t, func(s *staying) {
		s.stay.most = 1
		for _, w := range s.wires {
			defer w.holds(5)()
		}
		a := s.puts(acquiring("k"))
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
		defer cancel()
		s.engine.Close(ctx)
		s.want(s.soon(a), quorum.Unavailable)
	})
}

// Nobody uses a lane that somebody has borrowed, nor ends its link, as the engine ends.
func TestWhoStaysKeepsWhatHeHasBorrowed(t *testing.T) {
	whileStaying(t, func(s *staying) {
		s.stay.most = 300
		for _, w := range s.wires {
			defer w.holds(3)()
		}
		var a *waiter
		returned := make(chan struct{})
		go func() {
			defer close(returned)
			a = s.puts(acquiring("k"))
		}()
		s.awaitSent("k")
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
		defer cancel()
		s.engine.Close(ctx)
		<-returned
		s.want(s.soon(a), quorum.Unavailable)
	})
}
