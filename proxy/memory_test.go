package proxy

import (
	"fmt"
	"io"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"redlock-proxy/quorum"
)

// The largest go first, and those who take little stay.
func TestClientsThatTakeMostAreCutOffWhereAllTakeTooMuch(t *testing.T) {
	word := func(n int) string { return fmt.Sprintf("$%d\r\n%s", n, strings.Repeat("x", n-1)) }
	for name, take := range map[string]func(r *rig, c *client){
		"by what they have not sent to its end": func(r *rig, c *client) { c.send("*2\r\n$4\r\nECHO\r\n" + word(100<<10)) },
		"by what they do not read":              func(r *rig, c *client) { go io.WriteString(c.nc, "big 100000\r\n") },
		"by what masters have not answered": func(r *rig, c *client) {
			c.send("*2\r\n$5\r\nwrite\r\n" + word(100<<10) + "x\r\n")
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, Config{MaxClientMemory: 1 << 20})
				small := r.dial()
				small.send("*2\r\n$4\r\nECHO\r\n$3\r\nab")
				large := make([]*client, 30)
				for i := range large {
					large[i] = r.dial()
					take(r, large[i])
					synctest.Wait()
					if used := r.server.memory.used.Load(); used > 1<<20 {
						t.Fatalf("%d bytes are used", used)
					}
				}
				evicted := int(r.server.stats.evicted.Load())
				if evicted < 10 || evicted >= len(large) {
					t.Errorf("%d clients were cut off", evicted)
				}
				lines := regexp.MustCompile(`a client is cut off: all clients take too much memory, and it takes most: id=\d+ addr=pipe bytes=1\d{5} `).FindAllString(r.log.String(), -1)
				if len(lines) != evicted {
					t.Errorf("%d lines in the log of %d clients\n%s", len(lines), evicted, r.log)
				}
				small.send("c\r\n")
				small.expect("$3\r\nabc\r\n")
				for _, c := range large {
					c.nc.Close()
				}
				synctest.Wait()
				time.Sleep(2 * closeTimeout)
				r.engine.mu.Lock()
				waiting := r.engine.waiting
				r.engine.mu.Unlock()
				for _, a := range waiting {
					a.asker.Answer(quorum.Result{Decision: quorum.Contended}).Flush()
				}
				synctest.Wait()
				if used := r.server.memory.used.Load(); used > 2*connSize {
					t.Errorf("%d bytes are used when they are gone", used)
				}
				r.end()
			})
		})
	}
}

func TestWhatIsRememberedForAllCounts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, Config{MaxClientMemory: 1 << 20})
		r.remembered.Store(700 << 10)
		c := r.dial()
		time.Sleep(2 * time.Second)
		go io.WriteString(c.nc, "*2\r\n$4\r\nECHO\r\n$500000\r\n"+strings.Repeat("x", 400_000)) // which the end interrupts
		synctest.Wait()
		if evicted := r.server.stats.evicted.Load(); evicted != 1 {
			t.Errorf("%d clients were cut off", evicted)
		}
		r.end()
	})
}

// values has the engine answer reads with values of so many bytes: one for all, or one each.
func values(size int, same bool) func(e *fakeEngine, a asked) {
	one := strings.Repeat("v", size)
	return func(e *fakeEngine, a asked) {
		value := one
		if !same {
			value = strings.Clone(one)
		}
		a.asker.Answer(quorum.Result{Decision: quorum.Won, Exists: true, Type: "string", Value: value}).Flush()
	}
}

// mget asks for n keys that are named once each, or all the same.
func mget(n int, same bool) string {
	text := "MGET"
	for i := range n {
		if same {
			i = 0
		}
		text += fmt.Sprint(" k", i)
	}
	return text + "\r\n"
}

// A value that is told many times is there once.
func TestAReplyIsChargedWhatItHolds(t *testing.T) {
	for name, same := range map[string]bool{"one value many times": true, "many values": false} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, Config{MaxClientMemory: 1 << 20})
				r.engine.auto = values(100_000, same)
				c := r.dial()
				go io.WriteString(c.nc, mget(50, same)) // which the end interrupts
				synctest.Wait()
				if evicted := int(r.server.stats.evicted.Load()); (evicted == 0) != same {
					t.Errorf("%d clients were cut off", evicted)
				}
				if same {
					c.expect("*50\r\n" + strings.Repeat("$100000\r\n"+strings.Repeat("v", 100_000)+"\r\n", 50))
					synctest.Wait()
					if used := r.server.memory.used.Load(); used > 2*connSize {
						t.Errorf("%d bytes are used when it is read", used)
					}
				}
				r.end()
			})
		})
	}
}

// What waits for the last of its command's answers counts.
func TestAnswersOfAnUnfinishedCommandCount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, Config{MaxClientMemory: 1 << 20})
		answer := values(100_000, false)
		r.engine.auto = func(e *fakeEngine, a asked) {
			if a.request.Key != "k0" {
				answer(e, a)
			}
		}
		c := r.dial()
		go io.WriteString(c.nc, mget(50, false))
		synctest.Wait()
		if evicted := r.server.stats.evicted.Load(); evicted != 1 {
			t.Errorf("%d clients were cut off", evicted)
		}
		r.end()
	})
}

// What WATCH has read is kept until EXEC or UNWATCH, though the client says nothing meanwhile.
func TestWhatIsWatchedCounts(t *testing.T) {
	for name, size := range map[string]int{"much": 100_000, "little": 2000} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, Config{MaxClientMemory: 1 << 20})
				clients := make([]*client, 20)
				watch := "WATCH" + strings.TrimPrefix(mget(5, false), "MGET")
				for i := range clients {
					clients[i] = r.dial()
					clients[i].send(watch)
					synctest.Wait()
					for k := range 5 { // when the session has done with it
						r.engine.answer(t, fmt.Sprint("k", k), quorum.Result{
							Decision: quorum.Won, Exists: true, Type: "string", Value: strings.Repeat("v", size)})
					}
					synctest.Wait()
					if used, least := r.server.memory.used.Load(), int64(min((i+1)*5*size, 500_000)); used > 1<<20 || used < least {
						t.Fatalf("%d bytes are used, want at least %d", used, least)
					}
				}
				if evicted := r.server.stats.evicted.Load(); (evicted > 0) != (size > 10_000) {
					t.Errorf("%d clients were cut off", evicted)
				}
				last := clients[len(clients)-1]
				if last.expect("+OK\r\n"); size < 10_000 {
					for _, c := range clients {
						if c != last {
							c.expect("+OK\r\n")
						}
						c.send("UNWATCH\r\n")
						c.expect("+OK\r\n")
					}
					synctest.Wait()
					if used := r.server.memory.used.Load(); used > int64(len(clients)+1)*connSize {
						t.Errorf("%d bytes are used when nothing is watched", used)
					}
				}
				r.end()
			})
		})
	}
}

// Who waits for elements of many lists takes more than his words do.
func TestLinesForElementsCount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, _ := newBlockingRig(t, Config{MaxClientMemory: 8 << 20})
		few := r.dial()
		few.send("BLPOP q 0\r\n")
		for i := range 20 {
			c := r.dial()
			c.send(strings.NewReplacer("MGET", "BLPOP", "\r\n", " 0\r\n").Replace(mget(1000, false)))
			time.Sleep(20 * roundTrip)
			if used, least := r.server.memory.used.Load(), int64(min((i+1)*500_000, 4<<20)); used > 8<<20 || used < least {
				t.Fatalf("%d bytes are used, want at least %d", used, least)
			}
		}
		if r.server.stats.evicted.Load() == 0 || r.server.blocked.count.Load() < 2 {
			t.Errorf("%d clients were cut off, %d wait", r.server.stats.evicted.Load(), r.server.blocked.count.Load())
		}
		pusher := r.dial()
		pusher.send("RPUSH q v\r\n")
		few.expect(popped("q", "v"))
		synctest.Wait()
		few.nc.Close()
		r.end()
	})
}

// What masters have answered, are asked and are owed is part of what there is.
func TestWhatMastersTakeCounts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, Config{MaxClientMemory: 1 << 20})
		small, large := r.dial(), r.dial()
		go io.WriteString(large.nc, "*2\r\n$4\r\nECHO\r\n$900000\r\n"+strings.Repeat("x", 600_000))
		synctest.Wait()
		if evicted := r.server.stats.evicted.Load(); evicted != 0 {
			t.Errorf("%d clients were cut off before", evicted)
		}
		r.engine.memory.Store(450 << 10)
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if evicted := r.server.stats.evicted.Load(); evicted != 1 {
			t.Errorf("%d clients were cut off", evicted)
		}
		r.engine.memory.Store(1 << 30)
		time.Sleep(2 * time.Second)
		small.send("PING\r\n")
		small.expect("+PONG\r\n")
		r.end()
	})
}

func TestErrorsAreNotRememberedByLongWords(t *testing.T) {
	s := newStats(nil)
	s.errorReply(strings.Repeat("E", 1<<20))
	s.errorReply("ERR " + strings.Repeat("x", 1<<20))
	if kinds := s.errorKinds(); len(kinds) != 1 || kinds["ERR"] != 1 {
		t.Errorf("%d kinds", len(kinds))
	}
}

// A command may be a megabyte, and whoever sent it silent for days.
func TestClientThatIsIdleHoldsNoCommand(t *testing.T) {
	const idle, size = 30, 512 << 10
	r := newRig(t, Config{})
	r.engine.auto = func(e *fakeEngine, a asked) {
		answerAtOnce(e, a)
		e.mu.Lock()
		e.all = nil
		e.mu.Unlock()
	}
	lock := fmt.Sprintf("*6\r\n$3\r\nSET\r\n$1\r\nk\r\n$%d\r\n%s\r\n$2\r\nNX\r\n$2\r\nPX\r\n$4\r\n1000\r\n", size, strings.Repeat("v", size))
	held := func() int {
		var m runtime.MemStats
		runtime.GC()
		runtime.GC() // what is pooled is gone by the second one
		runtime.ReadMemStats(&m)
		return int(m.HeapAlloc)
	}
	before := held()
	for range idle {
		c := r.dial()
		c.send(lock)
		c.expect("+OK\r\n")
	}
	if bytes := held() - before; bytes > idle*size/4 {
		t.Errorf("%d clients that have nothing undecided hold %d bytes", idle, bytes)
	}
	r.end()
}
