package proxy

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"
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
