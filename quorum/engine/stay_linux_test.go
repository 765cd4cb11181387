package engine

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"redlock-proxy/quorum"
	"redlock-proxy/quorum/decide"
)

func TestWhoStaysHasHisAnswerAndWakesNoLane(t *testing.T) {
	whileStaying(t, func(s *staying) {
		for i := range 100 {
			key := fmt.Sprint("k", i)
			s.want(s.answered(s.puts(acquiring(key))), quorum.Won)
			s.wantStayed(true)
			for _, l := range s.engine.zero.lanes {
				l.mu.Lock()
				sleeps := l.queue.lends
				l.mu.Unlock()
				if !sleeps {
					s.tooSlow()
					t.Fatalf("%s: the lane has got up", l.master.Name)
				}
			}
			for _, m := range s.masters {
				if m.value(key) != "t" {
					t.Fatalf("%s was not asked", m.name)
				}
			}
			s.want(s.answered(s.puts(releasing(key))), quorum.Won)
			s.want(s.answered(s.puts(releasing(key))), quorum.Contended)
		}
		s.wantOneLink()
	})
}

// A master that says nothing, or half of it, keeps him only until there is input; its lane waits on.
func TestWhoStaysLeavesAMasterThatIsSilent(t *testing.T) {
	for name, some := range map[string]int{"nothing": 0, "a byte": 1, "half": 20} {
		t.Run(name, func(t *testing.T) {
			whileStaying(t, func(s *staying) {
				for i := range 10 {
					release := s.wires[i%3].holds(some)
					key := fmt.Sprint("k", i)
					a := newWaiter()
					returned := make(chan struct{})
					r := acquiring(key)
					go func() {
						defer close(returned)
						s.engine.PutStaying(&r, a, time.Now(), s.stay)
					}()
					s.want(s.soon(a), quorum.Won) // by the others
					s.calls(true)
					<-returned
					s.wantStayed(false)
					s.calls(false)
					release()
					s.wantLent()
					s.want(s.answered(s.puts(releasing(key))), quorum.Won)
				}
				s.wantOneLink()
			})
		})
	}
}

// He waits only so long where nothing is said, and puts more meanwhile.
func TestWhoStaysIsNotKeptByMasters(t *testing.T) {
	whileStaying(t, func(s *staying) {
		s.stay.most = 1
		var release []func()
		for _, w := range s.wires {
			release = append(release, w.holds(3))
		}
		a := s.puts(acquiring("k"))
		b := s.puts(acquiring("l"))
		for _, r := range release {
			r()
		}
		s.want(s.soon(a), quorum.Won)
		s.want(s.soon(b), quorum.Won)
		s.wantLent()
		s.wantOneLink()
	})
}

// Who drips does not keep him either, though there is always something new.
func TestWhoStaysIsNotKeptByMastersThatDrip(t *testing.T) {
	whileStaying(t, func(s *staying) {
		s.want(s.soon(s.put(quorum.Request{Kind: quorum.Acquire, Key: "k", Token: strings.Repeat("t", 3000), TTL: time.Minute})), quorum.Won)
		s.wantLent()
		s.stay.most = 60 // three bytes, of thousands
		for _, w := range s.wires {
			w.left.Store(3000)
			w.drips.Store(true)
		}
		a := s.puts(quorum.Request{Kind: quorum.Read, Key: "k"})
		for _, w := range s.wires {
			if w.left.Load() < 1000 {
				t.Error("he has stayed for most of it")
			}
			w.drips.Store(false)
		}
		s.want(s.soon(a), quorum.Won)
		s.wantLent()
		s.wantOneLink()
	})
}

// An answer that is longer than what is kept of it is the lane's.
func TestWhoStaysLeavesALongAnswer(t *testing.T) {
	whileStaying(t, func(s *staying) {
		long := strings.Repeat("v", 300_000)
		for _, m := range s.masters {
			m.locked(func() { m.keys["k"] = fakeKey{value: long} })
		}
		r := s.soon(s.puts(quorum.Request{Kind: quorum.Read, Key: "k"}))
		if s.want(r, quorum.Won); r.Value != long {
			t.Errorf("%d bytes were read", len(r.Value))
		}
		s.wantOneLink()
	})
}

// What others put before he sends is the lane's: it may be more than a socket takes at once.
func TestWhoStaysLeavesWhatWasPutSince(t *testing.T) {
	whileStaying(t, func(s *staying) {
		db := s.engine.zero
		for i := range 4 {
			s.wantLent()
			a, key := newWaiter(), fmt.Sprint("big", i)
			o := newOp(&quorum.Request{Kind: quorum.Read, Key: "k"}, a)
			o.began, o.put, o.db, o.sleeps = time.Now(), time.Now(), db, db.sleeps.Load()
			o.Said, o.sent = make([]decide.Said, 3), make([]sending, 3)
			if !db.asks(o) {
				t.Fatal("it is not put")
			}
			db.inFlight.Add(1)
			_, borrowed, _, _ := db.push(o, s.stay)
			if borrowed != 7 {
				s.tooSlow()
				t.Fatalf("borrowed: %b", borrowed)
			}
			big := s.put(quorum.Request{Kind: quorum.Write, Key: key, Args: []string{"SET", key, strings.Repeat("v", 900_000), "PX", "10000"}, TTLArg: 4, TTL: 10 * time.Second})
			s.stay.carry(db, borrowed)
			s.soon(a)
			s.want(s.soon(big), quorum.Won)
			s.want(s.soon(s.put(acquiring(key+"s"))), quorum.Won) // a batch of one
		}
		s.wantOneLink()
	})
}

// What others put while he waits for answers is carried as soon as he gives the lanes back.
func TestWhoStaysGivesBackWhatWasPutMeanwhile(t *testing.T) {
	whileStaying(t, func(s *staying) {
		var release []func()
		for _, w := range s.wires {
			release = append(release, w.holds(3))
		}
		var a, b *waiter
		returned := make(chan struct{})
		go func() {
			defer close(returned)
			a = s.puts(acquiring("k"))
		}()
		s.awaitSent("k")
		b = s.put(acquiring("l"))
		for _, r := range release {
			r()
		}
		<-returned
		s.want(s.soon(a), quorum.Won)
		s.want(s.soon(b), quorum.Won)
		s.wantOneLink()
	})
}
