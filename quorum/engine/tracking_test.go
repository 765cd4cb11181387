package engine

import (
	"context"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"redlock-proxy/quorum/master"
)

// changes are what an observer was told.
type changes struct {
	mu   sync.Mutex
	keys []string
}

func (c *changes) Changed(_ int, key string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.keys = append(c.keys, key)
}

func (c *changes) Broadcasts(master int, on bool) {
	c.Changed(master, map[bool]string{true: "on", false: "off"}[on])
}

func (c *changes) Broadcast(master int, key string) { c.Changed(master, "any "+key) }

func (c *changes) Watched(master int, key string, absent bool) {
	if absent {
		c.Changed(master, key)
	}
}

// trackingsOf is how often a master was asked to tell of changes.
func trackingsOf(m *fakeMaster) (n int) {
	for _, call := range m.commands("CLIENT") {
		if strings.Contains(strings.ToUpper(call), "TRACKING") {
			n++
		}
	}
	return n
}

// A master that does not tell of changes is asked seldom, and nobody is told that something has changed; where no key
// was ever watched, but for those with long names, it is not asked at all.
func TestMasterThatTellsOfNoChangesIsAskedSeldom(t *testing.T) {
	inWorld(t, 3, func(w *world) {
		var told changes
		w.engine.Observe(&told)
		w.engine.Watch(0, strings.Repeat("k", master.LongestTracked+1))
		time.Sleep(time.Minute)
		for _, m := range w.masters {
			if n := trackingsOf(m); n != 0 {
				t.Errorf("%s was asked %d times, and no key is watched", m.name, n)
			}
		}
		w.engine.Watch(0, "k")
		time.Sleep(150 * time.Second)
		for range 2 * trackedAtOnce {
			w.engine.Watch(0, "k") // which never waits
		}
		for _, m := range w.masters {
			if n := trackingsOf(m); n != 3 {
				t.Errorf("%s was asked %d times in 150 s, want 3", m.name, n)
			}
		}
		if len(told.keys) > 0 {
			t.Errorf("%q have changed", told.keys)
		}
	})
}

// What is watched when the engine ends begins nothing.
func TestNothingIsWatchedAfterTheEnd(t *testing.T) {
	inWorld(t, 1, func(w *world) {
		w.engine.Observe(&changes{})
		w.stop(w.engine)
		w.engine.Watch(0, "k")
	})
}

// A master whose telling ends as soon as it has begun, or that answers what nobody understands, is asked ever less often.
func TestMasterThatDoesNotTellForLongIsAskedEverLessOften(t *testing.T) {
	for _, answer := range []string{"+OK\r\n", "?\r\n"} {
		inWorld(t, 3, func(w *world) {
			var told changes
			w.engine.Observe(&told)
			var n atomic.Int64
			w.masters[0].set(func(m *fakeMaster) {
				m.respond = func(args []string) string {
					switch {
					case args[0] == "CLIENT" && args[1] == "TRACKING":
						n.Add(1)
						return answer
					case args[0] == "PTTL" && args[1] == "k":
						return "?\r\n"
					}
					return ""
				}
			})
			for range 3000 {
				w.engine.Watch(0, "k")
				time.Sleep(100 * time.Millisecond)
			}
			if n := n.Load(); n < 5 || n > 15 {
				t.Errorf("%q: it was asked %d times in 5 minutes", answer, n)
			}
		})
	}
}

// That a master tells no more is known when its telling ends, and not when it begins anew, which may be much later.
func TestEndOfAMastersTellingIsTold(t *testing.T) {
	inWorld(t, 1, func(w *world) {
		var told changes
		w.engine.Observe(&told)
		var asked atomic.Int64
		w.masters[0].set(func(m *fakeMaster) {
			m.respond = func(args []string) string {
				switch {
				case args[0] == "CLIENT" && args[1] == "TRACKING":
					if asked.Add(1) > 1 {
						return "-ERR not any more\r\n"
					}
					return "+OK\r\n"
				case args[0] == "PTTL" && args[1] == "k":
					return "?\r\n" // which ends the connection
				}
				return ""
			}
		})
		w.engine.Watch(0, "k")
		time.Sleep(5 * time.Minute)
		told.mu.Lock()
		defer told.mu.Unlock()
		if n := len(told.keys); n != 2 || told.keys[0]+told.keys[1] != "" {
			t.Errorf("%q have changed, want what any may have twice: as the telling begins, and as it ends", told.keys)
		}
	})
}

// Who wants to be told of changes is refused when so many masters have refused to tell that the others do not do.
func TestItIsKnownWhetherEnoughMastersTell(t *testing.T) {
	for refuse, refused := range []bool{false, false, true, true} {
		inWorld(t, 3, func(w *world) {
			var told changes
			w.engine.Observe(&told)
			for i, m := range w.masters {
				if i >= refuse {
					m.set(func(m *fakeMaster) { m.respond = tellsOfChanges })
				}
			}
			ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
			defer cancel()
			if err := w.engine.Tells(ctx); (err != nil) != refused || ctx.Err() != nil {
				t.Errorf("%d refuse: %v, %v", refuse, err, ctx.Err())
			}
		})
	}
	inWorld(t, 3, func(w *world) {
		w.engine.Observe(&changes{})
		w.down(2, 3)
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if err := w.engine.Tells(ctx); err != nil || ctx.Err() == nil {
			t.Errorf("two are away: %v, %v", err, ctx.Err())
		}
	})
}

func tellsOfChanges(args []string) string {
	if args[0] == "CLIENT" && args[1] == "TRACKING" {
		return "+OK\r\n"
	}
	return ""
}

// Masters tell of all changes for as long as that is wanted, and each one's end is told, and begins anew.
func TestMastersTellOfAllChangesWhileThatIsWanted(t *testing.T) {
	inWorld(t, 1, func(w *world) {
		var told changes
		var all atomic.Int64
		w.engine.Observe(&told)
		w.masters[0].set(func(m *fakeMaster) {
			m.respond = func(args []string) string {
				if len(args) == 4 && args[3] == "BCAST" {
					all.Add(1)
				}
				return tellsOfChanges(args)
			}
		})
		for range 2 {
			w.engine.Broadcast(true)
			w.engine.Broadcast(true)
			time.Sleep(5 * time.Second)
			w.engine.Broadcast(false)
			w.engine.Broadcast(true)
			time.Sleep(5 * time.Second)
			w.engine.Broadcast(false)
			time.Sleep(5 * time.Second)
		}
		told.mu.Lock()
		defer told.mu.Unlock()
		if text := strings.Join(told.keys, " "); text != strings.TrimSpace(strings.Repeat("on off ", 4)) {
			t.Errorf("told: %s", text)
		}
		if n := all.Load(); n != 4 {
			t.Errorf("it was asked %d times, want 4", n)
		}
	})
}
