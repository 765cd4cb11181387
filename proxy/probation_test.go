package proxy

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

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
