package proxy

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"redlock-proxy/quorum"
)

// fresh is a script that nobody has run before.
func fresh(i int) string { return fmt.Sprintf("return redis.call('set', KEYS[1], 'x') -- %d", i) }

// evals has a client send a script with its keys.
func (c *client) evals(text string, keys ...string) {
	c.send(fmt.Sprintf("EVAL \"%s\" %d %s\r\n", text, len(keys), strings.Join(keys, " ")))
	synctest.Wait()
}

// TestScriptsThatNobodyHasSeenAreCarriedOutAFewAtATime, whoever sends them, each another one and by a
// connection of its own; and what is known waits for none of them.
func TestScriptsThatNobodyHasSeenAreCarriedOutAFewAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, Config{})
		known := r.dial()
		known.evals("return 1", "known")
		r.engine.answer(t, "known", fine)
		known.told("+OK")
		const n = 20
		clients := make([]*client, n)
		for i := range clients {
			clients[i] = r.dial()
			clients[i].evals(fresh(i), fmt.Sprint("k", i))
		}
		for i, c := range clients {
			if got, want := r.put()-1-i, min(mostStrange+i, n); got != want {
				t.Fatalf("%d requests are put, want %d", got, want)
			}
			known.evals("return 1", "known")
			r.engine.answer(t, "known", fine)
			known.told("+OK")
			r.engine.answer(t, fmt.Sprint("k", i), noSteps)
			c.told("-ERR the script takes")
			synctest.Wait()
		}
		r.end()
	})
}

// TestScriptIsKnownOnceSomebodyHasRunIt, and all who wait with it go on at once.
func TestScriptIsKnownOnceSomebodyHasRunIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, Config{})
		const n = 20
		clients := make([]*client, n)
		for i := range clients {
			clients[i] = r.dial()
			clients[i].evals(fresh(0), fmt.Sprint("k", i))
		}
		if got := r.put(); got != mostStrange {
			t.Fatalf("%d requests are put, want %d", got, mostStrange)
		}
		r.engine.answer(t, "k0", fine)
		synctest.Wait()
		if got := r.put(); got != n {
			t.Errorf("%d requests are put, want all %d", got, n)
		}
		for i, c := range clients {
			if i > 0 {
				r.engine.answer(t, fmt.Sprint("k", i), fine)
			}
			c.told("+OK")
		}
		if used, line := r.server.strange.used, len(r.server.strange.line); used != 0 || line != 0 {
			t.Errorf("%d are carried out and %d wait when all is decided", used, line)
		}
		r.end()
	})
}

// TestScriptThatToilsWithManyKeysWaitsForNobodyWithOne: who calls it so has no part in it.
func TestScriptThatToilsWithManyKeysWaitsForNobodyWithOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, Config{})
		one, many, other := r.dial(), r.dial(), r.dial()
		one.evals(fresh(0), "one")
		r.engine.answer(t, "one", fine)
		one.told("+OK")
		keys := make([]string, 380)
		for i := range keys {
			keys[i] = fmt.Sprint("many", i)
		}
		many.evals(fresh(0), keys...)
		r.engine.answer(t, keys[0], toiled)
		many.told("+OK")
		many.evals(fresh(0), keys...) // waits for answer, and others for it
		other.evals(fresh(0), keys[1:]...)
		one.evals(fresh(0), "one")
		if got := r.put(); got != 4 {
			t.Errorf("%d requests are put, want all but that of who calls it with as many keys", got)
		}
		r.engine.answer(t, "one", fine)
		one.told("+OK")
		r.engine.answer(t, keys[0], toiled)
		synctest.Wait()
		r.engine.answer(t, keys[1], toiled)
		many.told("+OK")
		other.told("+OK")
		r.end()
	})
}

// TestScriptThatMastersDoNotAnswerIsNoneThatIsKnown: it may be what keeps them. That nobody can vote
// says nothing.
func TestScriptThatMastersDoNotAnswerIsNoneThatIsKnown(t *testing.T) {
	silence := quorum.Result{Decision: quorum.Unavailable, Toiled: true}
	for _, test := range []struct {
		answer           quorum.Result
		client           int  // probation, of one whose script nobody had seen
		strange, toiling bool // the script then
	}{{silence, probation, true, true}, {nobody, 0, true, false}} {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, Config{})
			one, other := r.dial(), r.dial()
			conduct := func(key string) conduct {
				r.engine.mu.Lock()
				defer r.engine.mu.Unlock()
				for i := range r.engine.all {
					if r.engine.all[i].Key == key {
						return conductOf(r.engine.all[i].Script)
					}
				}
				t.Fatalf("nothing is put for %s", key)
				return conduct{}
			}
			one.evals(fresh(0), "new")
			r.engine.answer(t, "new", test.answer)
			one.told("-NOQUORUM")
			heft := heftOf(&quorum.Request{Keys: []string{"new"}})
			if k := conduct("new"); k.strange(heft) != test.strange || k.toils(heft) != test.toiling {
				t.Errorf("strange: %v, toils: %v, want %v and %v", k.strange(heft), k.toils(heft), test.strange, test.toiling)
			}
			if got := r.server.conn(1).probation; got != test.client {
				t.Errorf("its client has %d scripts to do well, want %d", got, test.client)
			}
			// Of one that was known it is not said that it toils, nor of who ran it.
			other.evals(fresh(1), "old")
			r.engine.answer(t, "old", fine)
			other.told("+OK")
			other.evals(fresh(1), "old")
			r.engine.answer(t, "old", test.answer)
			other.told("-NOQUORUM")
			if k := conduct("old"); k.strange(heft) != test.answer.Toiled || k.toils(heft) {
				t.Errorf("known: strange: %v, toils: %v, want %v and false", k.strange(heft), k.toils(heft), test.answer.Toiled)
			}
			if got := r.server.conn(2).probation; got != 0 {
				t.Errorf("who ran a known one has %d scripts to do well", got)
			}
			r.end()
		})
	}
}
