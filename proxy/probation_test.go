package proxy

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"redlock-proxy/proxy/resp"
	"redlock-proxy/quorum"
)

const toils = "EVAL \"redis.call('set', KEYS[1], 'x') while true do end\" 1 %s\r\n"

var (
	noSteps = quorum.Result{Decision: quorum.Contended, Toiled: true, Script: &quorum.ScriptReply{
		Reply: quorum.Reply{Kind: quorum.FailureReply, Str: "ERR the script takes more than 10000 steps (script-steps)"}}}
	fine   = quorum.Result{Decision: quorum.Won, Script: &quorum.ScriptReply{Reply: quorum.Reply{Kind: quorum.StatusReply, Str: "OK"}}}
	nobody = quorum.Result{Decision: quorum.Unavailable}
	toiled = quorum.Result{Decision: quorum.Won, Toiled: true, Script: &quorum.ScriptReply{Reply: quorum.Reply{Kind: quorum.StatusReply, Str: "OK"}}}
	says   = quorum.Result{Decision: quorum.Contended, Script: &quorum.ScriptReply{Reply: quorum.Reply{Kind: quorum.FailureReply, Str: "NOTYOURS it is not yours"}}}
)

// runs has a client send a script, and answer reads what it is told.
func (c *client) runs(key string) { c.send(fmt.Sprintf(toils, key)) }

func (c *client) told(prefix string) {
	c.t.Helper()
	line := make([]byte, 0, 200)
	one := make([]byte, 1)
	for !strings.HasSuffix(string(line), "\r\n") {
		if _, err := c.nc.Read(one); err != nil {
			c.t.Fatalf("%v after %q", err, line)
		}
		line = append(line, one[0])
	}
	if !strings.HasPrefix(string(line), prefix) {
		c.t.Fatalf("got %q, want %q", line, prefix)
	}
}

// put is how many requests there were so far.
func (r *rig) put() int { return len(strings.Fields(r.engine.keys())) }

// toiling are n clients whose first scripts have toiled.
func (r *rig) toiling(n int) []*client {
	clients := make([]*client, n)
	for i := range clients {
		clients[i] = r.dial()
		clients[i].runs(fmt.Sprint("k", i))
		synctest.Wait()
		r.engine.answer(r.t, fmt.Sprint("k", i), noSteps)
		clients[i].told("-ERR the script takes")
	}
	return clients
}

// TestScriptsOfThoseWhoseScriptsToilGoOneByOne, in their order, and those of others beside them.
func TestScriptsOfThoseWhoseScriptsToilGoOneByOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, Config{})
		clients := r.toiling(3)
		for i, c := range clients {
			c.runs(fmt.Sprint("k", i))
			synctest.Wait()
		}
		if got := r.put(); got != 4 {
			t.Fatalf("%d requests are put, want 1 after the first 3", got)
		}
		other := r.dial()
		other.send("EVAL \"return redis.call('set', KEYS[1], 'x')\" 1 other\r\n")
		synctest.Wait()
		r.engine.answer(t, "other", fine)
		other.told("+OK")
		for i, c := range clients {
			synctest.Wait()
			if got := r.put(); got != 5+i {
				t.Fatalf("%d requests are put, want %d", got, 5+i)
			}
			r.engine.answer(t, fmt.Sprint("k", i), noSteps)
			c.told("-ERR the script takes")
		}
		r.end()
	})
}

// TestWhoseCommandsToilWaitsForHisTurn: those that are scripts of ours. They are on no probation
// themselves, since they are everybody's.
func TestWhoseCommandsToilWaitsForHisTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, Config{})
		added := quorum.Result{Decision: quorum.Won, Script: &quorum.ScriptReply{Reply: quorum.Reply{Kind: quorum.IntegerReply, Int: 1}}}
		much := added
		much.Toiled = true
		clients := []*client{r.dial(), r.dial(), r.dial()}
		send := func(i int) {
			clients[i].send(fmt.Sprintf("SADD k%d member\r\n", i))
			synctest.Wait()
		}
		for i, c := range clients[:2] {
			send(i)
			r.engine.answer(t, fmt.Sprint("k", i), much)
			c.told(":1")
		}
		for i := range clients {
			send(i)
		}
		if got := r.put(); got != 4 {
			t.Errorf("%d requests are put, want those of one who has toiled and of one who has not after the first 2", got)
		}
		for _, i := range []int{2, 0, 1} {
			r.engine.answer(t, fmt.Sprint("k", i), added)
			clients[i].told(":1")
			synctest.Wait()
		}
		r.end()
	})
}

// TestNoScriptWaitsLongForItsTurn: the one before may wait for masters.
func TestNoScriptWaitsLongForItsTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, Config{})
		clients := r.toiling(3)
		for i, c := range clients {
			c.runs(fmt.Sprint("k", i))
		}
		time.Sleep(longestTurn + time.Millisecond)
		if got := r.put(); got != 6 {
			t.Errorf("%d requests are put, want all", got)
		}
		for i, c := range clients {
			r.engine.answer(t, fmt.Sprint("k", i), noSteps)
			c.told("-ERR the script takes")
		}
		// And the turn is there for the next one.
		clients[2].runs("k2")
		synctest.Wait()
		if got := r.put(); got != 7 {
			t.Errorf("%d requests are put, want another one", got)
		}
		r.engine.answer(t, "k2", noSteps)
		r.end()
	})
}

// TestScriptsWaitForAllBeforeWhileTheseAreCarriedOut: else many that take long would be at the masters
// together as soon as the first of them had waited for long.
func TestScriptsWaitForAllBeforeWhileTheseAreCarriedOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, Config{})
		const n = 12
		clients := r.toiling(n)
		for i, c := range clients {
			c.runs(fmt.Sprint("k", i))
			synctest.Wait()
		}
		for i, c := range clients {
			time.Sleep(longestTurn / 2)
			synctest.Wait()
			if got := r.put(); got != n+i+1 {
				t.Fatalf("%d requests are put, want %d", got, n+i+1)
			}
			r.engine.answer(t, fmt.Sprint("k", i), noSteps)
			c.told("-ERR the script takes")
		}
		// Nobody waits for longer than that.
		for i, c := range clients {
			c.runs(fmt.Sprint("k", i))
			synctest.Wait()
		}
		for i := range longestInLine / longestTurn {
			time.Sleep(longestTurn - time.Millisecond)
			r.engine.answer(t, fmt.Sprint("k", int(i)), noSteps)
			synctest.Wait()
		}
		time.Sleep(longestTurn)
		if got := r.put(); got != 3*n {
			t.Errorf("%d requests are put, want all %d", got, 3*n)
		}
		for i := int(longestInLine / longestTurn); i < n; i++ {
			r.engine.answer(t, fmt.Sprint("k", i), noSteps)
		}
		r.end()
	})
}

// TestTurnIsPassedOnByWhoIsGone, be it his, or yet to come.
func TestTurnIsPassedOnByWhoIsGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, Config{})
		clients := r.toiling(3)
		for i, c := range clients {
			c.runs(fmt.Sprint("k", i))
			synctest.Wait()
		}
		r.server.conn(1).cut()
		r.server.conn(2).cut()
		synctest.Wait()
		r.engine.answer(t, "k0", noSteps)
		synctest.Wait()
		if got := r.engine.keys(); !strings.HasSuffix(got, ":k2") || r.put() != 5 {
			t.Errorf("put: %s, want the third client's script", got)
		}
		r.engine.answer(t, "k2", noSteps)
		r.end()
	})
}

// TestTurnIsPassedOnByWhoIsGoneBeforeHisScriptIsPut: it waited for a key.
func TestTurnIsPassedOnByWhoIsGoneBeforeHisScriptIsPut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, Config{})
		clients := r.toiling(2)
		clients[0].send("acquire k\r\n")
		clients[0].runs("k")
		synctest.Wait()
		clients[1].runs("k1")
		synctest.Wait()
		if got := r.put(); got != 3 {
			t.Fatalf("%d requests are put, want the acquire after the first two", got)
		}
		r.server.conn(1).cut()
		synctest.Wait()
		if got := r.engine.keys(); !strings.HasSuffix(got, ":k1") {
			t.Errorf("put: %s, want the other client's script", got)
		}
		r.engine.answer(t, "k1", noSteps)
		r.engine.answer(t, "k", won)
		r.end()
	})
}

// TestTurnIsPassedOnByWhoIsGoneBeforeWhatHeAskedForIsRendered: it would have taken long.
func TestTurnIsPassedOnByWhoIsGoneBeforeWhatHeAskedForIsRendered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, Config{})
		clients := r.toiling(2)
		clients[0].send("slow a\r\n")
		synctest.Wait()
		clients[1].runs("k1")
		synctest.Wait()
		if got := r.put(); got != 3 {
			t.Fatalf("%d requests are put, want the slow one after the first two", got)
		}
		r.server.conn(1).cut()
		r.engine.answer(t, "a", won)
		synctest.Wait()
		if got := r.engine.keys(); !strings.HasSuffix(got, ":k1") {
			t.Errorf("put: %s, want the other client's script", got)
		}
		time.Sleep(longestTurn)
		r.engine.answer(t, "k1", noSteps)
		synctest.Wait()
		if used := r.server.toilers.used; used != 0 {
			t.Errorf("%d turns are taken when all is decided", used)
		}
		r.end()
	})
}

// TestScriptThatHasToiledWaitsForItsTurnWhoeverRunsIt, also if it did not fail, and one that
// has failed without does not.
func TestScriptThatHasToiledWaitsForItsTurnWhoeverRunsIt(t *testing.T) {
	for _, first := range []quorum.Result{toiled, says} {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, Config{})
			one := r.dial()
			one.runs("first")
			synctest.Wait()
			r.engine.answer(t, "first", first)
			one.told("")
			others := []*client{r.dial(), r.dial()}
			for i, c := range others {
				c.runs(fmt.Sprint("k", i))
				synctest.Wait()
			}
			want := 3
			if first.Toiled {
				want = 2
			}
			if got := r.put(); got != want {
				t.Errorf("toiled: %v: %d requests are put, want %d", first.Toiled, got, want)
			}
			for i, c := range others {
				synctest.Wait()
				r.engine.answer(t, fmt.Sprint("k", i), fine)
				c.told("+OK")
			}
			r.end()
		})
	}
}

// TestScriptsThatDoNotToilEndTheProbation, and what no master has decided says nothing.
func TestScriptsThatDoNotToilEndTheProbation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, Config{})
		one := r.toiling(2)[0]
		for range probation {
			one.runs("k")
			synctest.Wait()
			r.engine.answer(t, "k", fine)
			one.told("+OK")
		}
		if got := r.server.conn(1).probation; got != 0 {
			t.Errorf("%d scripts are still to do well", got)
		}
		one.runs("k")
		synctest.Wait()
		r.engine.answer(t, "k", nobody)
		one.told("-NOQUORUM")
		if a, b := r.server.conn(1).probation, r.server.conn(2).probation; a != 0 || b != probation {
			t.Errorf("%d and %d scripts are still to do well, want none and %d", a, b, probation)
		}
		r.end()
	})
}

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

// colliding are n words of as many bytes that Lua keeps at one place, as long as it has no more than
// a thousand places.
func colliding(n int) (words []string) {
	for i := 10_000_000; len(words) < n; i++ {
		word := strconv.Itoa(i)
		h := uint32(len(word))
		for j := len(word) - 1; j >= 0; j-- {
			h ^= h<<5 + h>>2 + uint32(word[j])
		}
		if h%1024 == 0 {
			words = append(words, word)
		}
	}
	return words
}

// TestArgumentsThatCollideWaitForTheirTurn, of a command as of a script that is known, and so many that
// they would keep a master for long are refused. Others are not, however many.
func TestArgumentsThatCollideWaitForTheirTurn(t *testing.T) {
	words := colliding(3900)
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, Config{Limits: Limits{Input: resp.Limits{MaxArgs: 5000}}})
		one, other, third := r.dial(), r.dial(), r.dial()
		one.evals("return(1)", "k")
		r.engine.answer(t, "k", fine)
		one.told("+OK")
		send := func(c *client, before string, words []string) {
			all := append(strings.Split(before, " "), words...)
			text := fmt.Sprintf("*%d\r\n", len(all))
			for _, word := range all {
				text += fmt.Sprintf("$%d\r\n%s\r\n", len(word), word)
			}
			c.send(text)
			synctest.Wait()
		}
		send(one, "HMGET h1", words[:700])
		send(other, "EVAL return(1) 1 h2", words[:700])
		send(third, "HMGET h3", counted(3900))
		if got := r.engine.keys(); !strings.HasSuffix(got, "script:h1 script:h3") {
			t.Errorf("put: %s, want h1 and h3", got)
		}
		r.engine.answer(t, "h1", fine)
		one.told("+OK")
		synctest.Wait()
		r.engine.answer(t, "h2", fine)
		other.told("+OK")
		r.engine.answer(t, "h3", fine)
		third.told("+OK")
		puts := r.put()
		send(one, "HMGET h1", words)
		one.told("-ERR too many of the arguments collide")
		send(one, "SADD s", words)
		one.told("-ERR too many of the arguments collide")
		send(one, "EVAL return(1) 1 k", words)
		one.told("-ERR too many of the arguments collide")
		if got := r.put(); got != puts {
			t.Errorf("%d requests are put of which the arguments collide", got-puts)
		}
		r.end()
	})
}

func counted(n int) []string {
	words := make([]string, n)
	for i := range words {
		words[i] = strconv.Itoa(10_000_000 + i)
	}
	return words
}
