package proxy

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"redlock-proxy/quorum"
)

// The engine is closed once AwaitPutBack is over: what is put back later would be gone.
func TestWhatIsTakenForWhoIsCutOffAtTheEndIsPutBack(t *testing.T) {
	const timeout, slow = time.Second, "masters are slow"
	for name, play := range map[string]func(c, other *client){
		"he does not read": func(c, _ *client) {
			c.send("BLPOP q 0\r\n")
		},
		slow: func(c, _ *client) {
			c.send("BLPOP q 0\r\n")
		},
		"and waits behind others": func(c, other *client) {
			other.send("BLPOP none 0\r\nECHO end\r\n")
			c.send("BLPOP q 0\r\nBLPOP q 0\r\nBLPOP q 0\r\n")
		},
		"he finds nothing": func(c, _ *client) {
			c.send("BLPOP none 0\r\n")
		},
		"he is cut off in between": func(c, _ *client) {
			c.send("BLPOP q 0\r\n")
			time.Sleep(timeout / 2)
			c.nc.Close()
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r, e := newBlockingRig(t, Config{})
				e.lists["q"] = []string{"a", "b", "c"}
				if name == slow {
					r.engine.mu.Lock()
					r.engine.auto = func(_ *fakeEngine, a asked) {
						time.AfterFunc(timeout*3/2, func() { a.asker.Answer(e.carryOut(&a.request)).Flush() })
					}
					r.engine.mu.Unlock()
				}
				c, other := r.dial(), r.dial()
				go play(c, other)
				synctest.Wait()
				ctx, cancel := context.WithTimeout(t.Context(), timeout)
				defer cancel()
				r.server.Shutdown(ctx)
				all, cancelAll := context.WithTimeout(t.Context(), 3*timeout)
				defer cancelAll()
				r.server.AwaitPutBack(all)
				if all.Err() != nil {
					t.Error("something is not known to be settled")
				}
				e.mu.Lock()
				defer e.mu.Unlock()
				if !slices.Equal(e.lists["q"], []string{"a", "b", "c"}) {
					t.Errorf("left is %q", e.lists["q"])
				}
				r.served.Wait()
			})
		})
	}
}

// However many there are, of however many clients, they are where they were.
func TestWhatIsPutBackIsInItsOrder(t *testing.T) {
	const clients, each, rest = 20, 40, 7
	for _, pop := range []string{"BLPOP q 0\r\n", "BRPOP q 0\r\n"} {
		synctest.Test(t, func(t *testing.T) {
			r, e := newBlockingRig(t, Config{})
			var want []string
			for i := range clients*each + rest {
				want = append(want, fmt.Sprint(i))
			}
			e.lists["q"] = slices.Clone(want)
			var all []*client
			for range clients {
				c := r.dial() // and does not read
				c.send(strings.Repeat(pop, each))
				time.Sleep(each * 3 * roundTrip)
				all = append(all, c)
			}
			e.mu.Lock()
			if n := len(e.lists["q"]); n != rest {
				t.Errorf("%d are left, want %d", n, rest)
			}
			e.mu.Unlock()
			for _, c := range all {
				c.nc.Close()
			}
			time.Sleep(time.Second)
			e.mu.Lock()
			defer e.mu.Unlock()
			if !slices.Equal(e.lists["q"], want) {
				t.Errorf("%s: there are %q", pop, e.lists["q"])
			}
			r.end()
		})
	}
}

// tried is a step that came to nothing, and which masters may have done it.
type tried uint16

func (t tried) MayHaveDone() uint16 { return uint16(t) }

// It is tried again, and told what it came to before: where masters may have it, it might be there twice.
func TestWhatCannotBePutBackYetIsLater(t *testing.T) {
	for _, lost := range []quorum.Tried{nil, tried(1)} {
		synctest.Test(t, func(t *testing.T) {
			r, e := newBlockingRig(t, Config{})
			e.lists["q"] = []string{"a", "b"}
			var away atomic.Bool
			var tries atomic.Int32
			r.engine.mu.Lock()
			r.engine.auto = func(_ *fakeEngine, a asked) {
				time.AfterFunc(roundTrip, func() {
					if away.Load() {
						switch n := tries.Add(1); {
						case n == 1 && a.request.Again != nil, n > 1 && a.request.Again != lost:
							t.Errorf("try %d is told that %v was tried before, want %v", n, a.request.Again, lost)
						}
						a.asker.Answer(quorum.Result{Decision: quorum.Unavailable, Tried: lost}).Flush()
						return
					}
					result := e.carryOut(&a.request)
					a.asker.Answer(result).Flush()
				})
			}
			r.engine.mu.Unlock()
			client := r.dial()
			client.send("BLPOP q 0\r\n")
			time.Sleep(3 * roundTrip)
			away.Store(true)
			client.nc.Close()
			time.Sleep(10 * time.Second)
			away.Store(false)
			time.Sleep(10 * time.Second)
			e.mu.Lock()
			defer e.mu.Unlock()
			if n := len(e.lists["q"]); n != 2 || tries.Load() < 2 {
				t.Errorf("there are %d elements after %d tries, want 2", n, tries.Load())
			}
			r.end()
		})
	}
}

// Who is not to be answered has his element when it is not sent, but not when he is gone by then.
func TestWhoIsMutedAndIsCutOffTakesNoElement(t *testing.T) {
	for cut, want := range map[bool]int{true: 2, false: 1} {
		synctest.Test(t, func(t *testing.T) {
			r, e := newBlockingRig(t, Config{})
			c, other := r.dial(), r.dial()
			c.send("CLIENT REPLY OFF\r\nBLPOP q 0\r\n")
			time.Sleep(5 * roundTrip)
			e.mu.Lock()
			e.lists["q"] = []string{"a", "b"}
			e.mu.Unlock()
			r.server.blocked.stirred(r.server, 0, "q")
			time.Sleep(roundTrip / 2)
			if cut {
				other.send("CLIENT KILL TYPE normal\r\n")
			}
			time.Sleep(time.Second)
			e.mu.Lock()
			defer e.mu.Unlock()
			if n := len(e.lists["q"]); n != want {
				t.Errorf("cut off %t: there are %d elements, want %d", cut, n, want)
			}
			r.end()
		})
	}
}
