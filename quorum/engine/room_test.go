package engine

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"redlock-proxy/quorum"
	"redlock-proxy/quorum/decide"
	"redlock-proxy/quorum/master"
)

// Many values of which nothing is known are more than there is room for at once. All are told,
// as those that were left out are asked for again, and none takes part in two answers.
func TestLongValuesOfWhichNothingIsKnownAreTold(t *testing.T) {
	inWorld(t, 3, func(w *world) {
		long := strings.Repeat("v", 300<<10)
		for _, m := range w.masters {
			for i := range 60 {
				m.put(fmt.Sprint("k", i), long+fmt.Sprint(i), 0)
			}
			m.freeze()
		}
		var all []*waiter
		for i := range 60 {
			all = append(all, w.put(quorum.Request{Kind: quorum.Read, Key: fmt.Sprint("k", i), ValueOnly: i%2 == 0}))
		}
		lock := w.put(quorum.Request{Kind: quorum.Acquire, Key: "lock", Token: "t", TTL: time.Minute})
		for _, m := range w.masters {
			m.unfreeze()
		}
		for i, a := range all {
			if r := a.wait(t); r.Decision != quorum.Won || r.Value != long+fmt.Sprint(i) {
				t.Errorf("k%d: %v of %d bytes", i, r.Decision, len(r.Value))
			}
		}
		w.want(lock.wait(t), quorum.Won)
		if n := w.engine.Memory(); n != 0 {
			t.Errorf("%d bytes are taken when all is told", n)
		}
	}, func(c *Config) { c.Memory = 1 }) // the least room
}

// A value that there is no room for at all has no master vote on it, and keeps nobody else
// from being served on the same links.
func TestAValueThatThereIsNoRoomForHarmsNobodyElse(t *testing.T) {
	inWorld(t, 3, func(w *world) {
		huge := strings.Repeat("v", master.LeastRoom+1)
		for _, m := range w.masters {
			m.put("huge", huge, 0)
		}
		for _, ask := range []quorum.Request{
			{Kind: quorum.Read, Key: "huge", ValueOnly: true},
			{Kind: quorum.Read, Key: "huge"},
		} {
			w.put(ask)
			w.want(w.ask(quorum.Request{Kind: quorum.Read, Key: "small", ValueOnly: true}), quorum.Won)
		}
		w.want(w.ask(quorum.Request{Kind: quorum.Read, Key: "huge", ValueOnly: true}), quorum.Unavailable)
		w.want(w.ask(quorum.Request{Kind: quorum.Acquire, Key: "huge", Token: "t", TTL: time.Minute}), quorum.Contended)
		w.put(quorum.Request{Kind: quorum.Write, Key: "huge", Args: []string{"SET", "huge", "v"}}) // which tells what was there
		w.want(w.ask(quorum.Request{Kind: quorum.Read, Key: "small", ValueOnly: true}), quorum.Won)
		for _, m := range w.engine.Status().Masters {
			if m.Reconnects != 0 {
				t.Errorf("the link to %s has ended", m.Name)
			}
		}
	}, func(c *Config) { c.Memory = 1 })
}

// A master that lies fills its own room, and nobody else's.
func TestAMasterThatLiesIsOutvoted(t *testing.T) {
	for name, lie := range map[string]string{
		"a long string":   bulk(strings.Repeat("x", master.LeastRoom+1)),
		"a long array":    array(bulk(strings.Repeat("x", master.LeastRoom)), bulk(strings.Repeat("y", master.LeastRoom))),
		"arrays in array": "*4096\r\n" + strings.Repeat("*4096\r\n"+strings.Repeat(":1\r\n", 4096), 16),
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, 3, func(w *world) {
				w.masters[0].set(func(m *fakeMaster) {
					m.respond = func(args []string) string {
						if args[0] == "GET" || args[0] == "SET" || args[0] == "EVALSHA" {
							return lie
						}
						return ""
					}
				})
				for i := range 20 {
					key := fmt.Sprint("k", i)
					w.want(w.ask(quorum.Request{Kind: quorum.Acquire, Key: key, Token: "t", TTL: time.Minute}), quorum.Won)
					w.want(w.ask(quorum.Request{Kind: quorum.Read, Key: key, ValueOnly: true}), quorum.Won)
					w.want(w.ask(quorum.Request{Kind: quorum.Release, Key: key, Token: "t"}), quorum.Won)
					if n := w.engine.zero.Masters[0].Rooms.Used(); n > 2*master.LeastRoom {
						t.Fatalf("the master has %d bytes held", n)
					}
				}
			}, func(c *Config) { c.Memory = 1 })
		})
	}
}

// What is to be taken back is bounded in bytes. What does not fit is left to its ttl, and told.
func TestWhatIsToBeTakenBackIsBoundedInBytes(t *testing.T) {
	inWorld(t, 3, func(w *world) {
		l := w.engine.zero.lanes[0]
		l.mu.Lock()
		n := l.nonce
		l.mu.Unlock()
		w.masters[0].freeze()
		now := time.Now()
		undo := func(i int) {
			l.queue.undo(debt{key: fmt.Sprint("k", i), value: strings.Repeat("t", 1<<20), nonce: n, eternal: true, dies: now.Add(time.Minute)}, now)
		}
		const all = 3 * master.LeastRoom >> 20
		for i := range all {
			undo(i)
		}
		if used := l.master.Rooms.Errands.Used.Load(); used > master.LeastRoom || used < master.LeastRoom/2 {
			t.Errorf("%d bytes wait", used)
		}
		if missed := l.missed.Load(); missed < all/2 {
			t.Errorf("%d of %d were left out", missed, all)
		}
		w.masters[0].unfreeze()
		time.Sleep(time.Second)
		if used := l.master.Rooms.Errands.Used.Load(); used != 0 {
			t.Errorf("%d bytes are taken when nothing waits", used)
		}
		undo(all)
		time.Sleep(time.Second)
		if missed := w.engine.Status().UndosMissed; missed > all {
			t.Errorf("%d were left out, though there was room", missed)
		}
	}, func(c *Config) { c.Memory = 1 })
}

// Debts share a room, whatever database they are of.
func TestDebtsOfAllDatabasesAreBoundedTogether(t *testing.T) {
	shared := &master.Room{Most: 1 << 20}
	now := time.Now()
	lists := []debts{{room: shared}, {room: shared}}
	dropped := 0
	for i := range 40 {
		dropped += lists[i%2].add(debt{key: fmt.Sprint(i), value: strings.Repeat("t", 100<<10), dies: now.Add(time.Minute)}, now)
	}
	if used := shared.Used.Load(); used > shared.Most || dropped+lists[0].len()+lists[1].len() != 40 {
		t.Errorf("%d bytes are owed, %d were dropped", used, dropped)
	}
	for i := range lists {
		lists[i].expire(now.Add(time.Hour))
	}
	if used := shared.Used.Load(); used != 0 {
		t.Errorf("%d bytes are taken by nothing", used)
	}
}

// What is remembered by name does not grow with the names.
func TestLongNamesAreNotRememberedInFull(t *testing.T) {
	now, long := time.Now(), strings.Repeat("k", 1<<20)
	var b laggards
	r := &decide.UndoRecord{Before: "a", After: "a"}
	b.still(long, 0, r, now, time.Second)
	for id := range b.since {
		if len(id.key) > 100 {
			t.Errorf("a name of %d bytes is kept", len(id.key))
		}
	}
	if !b.still(long, 0, r, now.Add(time.Second), time.Second) {
		t.Error("it is not known again")
	}
	if b.caughtUp(long, 0); len(b.since) != 0 {
		t.Error("it is not forgotten")
	}
}
