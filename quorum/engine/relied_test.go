package engine

import (
	"testing"
	"testing/synctest"
	"time"

	"redlock-proxy/quorum"
)

// put asks after a while, and returns when it waits or is on its way.
func (w *world) putAfter(after time.Duration, r quorum.Request) *waiter {
	synctest.Wait()
	time.Sleep(after)
	defer synctest.Wait()
	return w.put(r)
}

// A client asks for its lock by a script, hears nothing, and asks again, by whatever finds that
// the lock is its own. Both go in one batch, whose answer comes too late for the first, and in
// time for the second. What that was told is true.
func TestWhoIsToldThatHeHoldsALockHoldsIt(t *testing.T) {
	own := func(s *quorum.Script, more ...string) quorum.Request {
		return runOf(s, "k", append([]string{"a", "60000"}, more...)...)
	}
	byKey := func(request string) quorum.Request {
		r := runOf(keyScript, "k", request, "60000")
		r.Keys = []string{"k", "a"}
		return r
	}
	for name, asked := range map[string][2]quorum.Request{
		"the same script":                 {own(lockScript), own(lockScript)},
		"one that says so":                {own(ownScript), own(ownScript)},
		"one that says so in other words": {own(otherScript), own(otherScript)},
		"one that is told more":           {own(otherScript, "r1"), own(otherScript, "r2")},
		"one by a part of an argument":    {runOf(partScript, "k", "a|r1", "60000"), runOf(partScript, "k", "a|r2", "60000")},
		"one by a key":                    {byKey("r1"), byKey("r2")},
		"one by a number of ten digits":   {runOf(otherScript, "k", "1795661296", "60000", "r1"), runOf(otherScript, "k", "1795661296", "60000", "r2")},
		"a SET":                           {own(lockScript), setOf("a", time.Minute)},
		"a script that only looks":        {own(lockScript), runOf(looksScript, "k")},
		"a step":                          {own(lockScript), own(takeStep)},
		"a transaction":                   {own(lockScript), runOf(tellStep, "k", "SET", "k", "a", "NX", "PX", "60000", "GET", "k")},
		"a SET NX GET":                    {own(lockScript), {Kind: quorum.Acquire, Token: "a", TTL: time.Minute, TellsValue: true}},
	} {
		first, again := asked[0], asked[1]
		again.Key = "k"
		t.Run(name, func(t *testing.T) {
			inWorld(t, 3, func(w *world) {
				time.Sleep(3 * time.Second)
				w.delayed(240*ms, 1, 2, 3)
				busy := w.putAfter(0, quorum.Request{Kind: quorum.Read, Key: "other"})
				late := w.putAfter(10*ms, first)
				early := w.putAfter(200*ms, again)
				w.delayed(40*ms, 1, 2, 3)
				busy.wait(t)
				w.want(late.wait(t), quorum.Unavailable)
				if got := early.wait(t); got.Decision != quorum.Won && got.Decision != quorum.Contended {
					t.Fatalf("who asks again is told %v", got.Decision)
				}
				w.delayed(0, 1, 2, 3)
				time.Sleep(500 * ms)
				held := 0
				for _, m := range w.masters {
					if v := m.value("k"); v == "a" || v == "1795661296" {
						held++
					}
				}
				if held < 2 || again.Kind != quorum.Acquire && held < 3 { // who is only told asks no more masters than that takes
					t.Errorf("%d masters hold it: %q", held, w.masters[0].value("k"))
				}
				time.Sleep(3 * time.Second) // the lanes may have given up their connections
				w.want(w.ask(lockOf("k", "c", 60_000)), quorum.Contended)
			})
		})
	}
}

// A lock is granted, and its client hears nothing of that, as its connection ends. By then the
// client has been told on another one that the lock is its own, or has set it.
func TestWhatIsToldOnAnotherConnectionIsNotTakenBack(t *testing.T) {
	for name, again := range map[string]quorum.Request{
		"a SET":                  setOf("a", time.Minute),
		"a SET NX GET":           {Kind: quorum.Acquire, Token: "a", TTL: time.Minute, TellsValue: true},
		"a script that says so":  runOf(ownScript, "k", "a", "60000"),
		"a script that takes it": runOf(lockScript, "k", "a", "60000"),
	} {
		again.Key = "k"
		t.Run(name, func(t *testing.T) {
			inWorld(t, 3, func(w *world) {
				first := w.acquire("k", "a", time.Minute)
				w.want(first, quorum.Won)
				if got := w.ask(again); got.Decision != quorum.Won && got.Decision != quorum.Contended {
					t.Fatalf("who asks again is told %v", got.Decision)
				}
				w.engine.TakeBack(first.Lock)
				time.Sleep(time.Second)
				w.want(w.ask(lockOf("k", "c", 60_000)), quorum.Contended)
			})
		})
	}
}

// Two of four masters are enough for a no, and so for what a script says that does nothing.
func TestWhoIsToldByHalfOfTheMastersThatHeHoldsALockHoldsItThere(t *testing.T) {
	inWorld(t, 4, func(w *world) {
		time.Sleep(3 * time.Second)
		for _, m := range w.masters[:2] {
			m.put("k", "x", time.Minute)
		}
		w.delayed(20*ms, 1, 2, 3, 4)
		busy := w.putAfter(0, quorum.Request{Kind: quorum.Read, Key: "other"})
		take := w.putAfter(5*ms, runOf(otherScript, "k", "a", "60000"))
		look := w.putAfter(0, runOf(otherScript, "k", "a", "60000"))
		w.delayed(2*ms, 3, 4)
		w.delayed(5*ms, 1, 2)
		busy.wait(t)
		w.want(take.wait(t), quorum.Contended)
		told := look.wait(t).Script
		w.delayed(0, 1, 2, 3, 4)
		time.Sleep(time.Second)
		if told != nil && told.Int == 2 && w.masters[2].value("k")+w.masters[3].value("k") != "aa" {
			t.Errorf("who asks again is told that it is his, and the masters hold %q and %q", w.masters[2].value("k"), w.masters[3].value("k"))
		}
	})
}

// Master 2 holds a client's lock since an earlier call, of which nothing was heard, and master 3
// is away, or hangs. The client asks by a script that says 1 where it takes the lock, and 1, or 2,
// where that is the client's. So does a second call, in the same batch.
func TestNobodyIsToldByOneMasterThatHeHoldsALock(t *testing.T) {
	for name, c := range map[string]struct {
		scripts []*quorum.Script
		away    func(w *world)
	}{
		"once":               {[]*quorum.Script{ownScript}, func(w *world) { w.down(3) }},
		"twice":              {[]*quorum.Script{ownScript, ownScript}, func(w *world) { w.down(3) }},
		"twice, one hangs":   {[]*quorum.Script{ownScript, ownScript}, func(w *world) { w.delayed(time.Second, 3) }},
		"in two words":       {[]*quorum.Script{otherScript, otherScript}, func(w *world) { w.delayed(time.Second, 3) }},
		"while another's is": {[]*quorum.Script{otherScript, otherScript}, func(w *world) { w.masters[2].put("k", "x", 2*time.Second) }},
		"in one word":        {[]*quorum.Script{okScript}, func(w *world) { w.down(3) }},
		"in one word, twice": {[]*quorum.Script{okScript, okScript}, func(w *world) { w.masters[2].put("k", "x", 2*time.Second) }},
		"by another script":  {[]*quorum.Script{otherScript, namesDelete}, func(w *world) { w.masters[2].put("k", "x", 2*time.Second) }},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, 3, func(w *world) {
				time.Sleep(time.Second)
				w.masters[1].put("k", "a", time.Minute)
				w.delayed(20*ms, 1, 2)
				c.away(w)
				busy := w.putAfter(0, quorum.Request{Kind: quorum.Read, Key: "other"})
				var asked []*waiter
				for _, script := range c.scripts {
					asked = append(asked, w.putAfter(ms, runOf(script, "k", "a", "60000")))
				}
				w.delayed(2*ms, 1, 2)
				busy.wait(t)
				held := false
				for _, a := range asked {
					got := a.wait(t)
					held = held || got.Script != nil && (got.Script.Int > 0 || got.Script.Str == "OK")
				}
				w.delayed(0, 1, 2, 3)
				time.Sleep(3 * time.Second)
				w.up(3)
				if got := w.ask(runOf(c.scripts[0], "k", "c", "60000")); held && got.Decision == quorum.Won {
					t.Error("one is told that he holds the lock, and another gets it")
				}
			})
		})
	}
}

// A lock is read as its acquire is in flight, and given a ttl by the same client: that is told of
// the lock as well, though it waits for the acquire.
func TestWhoHasReadALockThatIsBeingTakenMayKeepIt(t *testing.T) {
	for name, read := range map[string]quorum.Request{
		"GET":      {Kind: quorum.Read, Key: "k", ValueOnly: true},
		"a script": runOf(readsOnly, "k"),
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, 3, func(w *world) {
				w.lagging(20*ms, 1, 2, 3)
				acquired := w.put(quorum.Request{Kind: quorum.Acquire, Key: "k", Token: "a", TTL: time.Minute})
				readBy := w.putAfter(ms, read)
				expired := w.put(quorum.Request{Kind: quorum.Write, Key: "k", Args: []string{"PEXPIRE", "k", ""}, TTLArg: 2, TTL: time.Hour})
				w.want(acquired.wait(t), quorum.Won)
				if got := readBy.wait(t); got.Value != "a" && (got.Script == nil || got.Script.Str != "a") {
					t.Fatalf("the lock is read as %q", got.Value)
				}
				if got := expired.wait(t); got.Reply.Int != 1 {
					t.Errorf("EXPIRE is answered %+v", got.Reply)
				}
			})
		})
	}
}
