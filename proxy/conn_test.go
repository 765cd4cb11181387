package proxy

import (
	"strings"
	"testing"
	"testing/synctest"

	"redlock-proxy/quorum"
)

// Whoever brings an answer has others to serve: what takes long to render is not rendered
// by that one, and its reply keeps its place in the line.
func TestSlowRenderHoldsUpNobodyElse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hanging = make(chan struct{})
		r := newRig(t, Config{})
		c, other := r.dial(), r.dial()
		c.send("slow a\r\nwrite b\r\n")
		other.send("write c\r\n")
		synctest.Wait()
		for _, key := range []string{"a", "b", "c"} {
			r.engine.answer(t, key, won) // as a lane does, one after the other
		}
		other.expect("$1\r\nc\r\n")
		c.expectSilence()
		close(hanging)
		c.expect("$1\r\na\r\n$1\r\nb\r\n")
		c.send("slow a\r\n")
		synctest.Wait()
		c.nc.Close()
		synctest.Wait()
		r.engine.answer(t, "a", won)
		r.end()
	})
}

func TestRepliesLeaveInTheOrderOfTheCommands(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, Config{})
		c := r.dial()
		c.send("write a\r\nping\r\nwrite b\r\nwrite c\r\nping\r\n")
		synctest.Wait()
		if got := r.engine.keys(); got != "write:a write:b write:c" {
			t.Fatalf("requests put: %s, want all three before any answer", got)
		}
		r.engine.answer(t, "c", won)
		r.engine.answer(t, "b", won)
		c.expectSilence()
		r.engine.answer(t, "a", won)
		c.expect("$1\r\na\r\n+PONG\r\n$1\r\nb\r\n$1\r\nc\r\n+PONG\r\n")
		r.end()
	})
}

func TestOwnCommandsWaitBehindAnUndecidedAcquire(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, Config{})
		c := r.dial()
		c.send("acquire k\r\nwrite other\r\nwrite k\r\nwrite k\r\n")
		synctest.Wait()
		if got := r.engine.keys(); got != "acquire:k write:other" {
			t.Fatalf("put before the acquire is decided: %s", got)
		}
		r.engine.answer(t, "k", quorum.Result{Decision: quorum.Contended})
		synctest.Wait()
		if got := r.engine.keys(); got != "acquire:k write:other write:k write:k" {
			t.Fatalf("put after the acquire is decided: %s", got)
		}
		// What was ready went out before the reader waited, and the other
		// client's commands on the same key do not wait at all.
		c.expect("$-1\r\n")
		other := r.dial()
		other.send("acquire x\r\n")
		synctest.Wait()
		third := r.dial()
		third.send("write x\r\n")
		synctest.Wait()
		if got := r.engine.keys(); !strings.HasSuffix(got, "acquire:x write:x") {
			t.Fatalf("another client's command waited: %s", got)
		}
		for _, key := range []string{"other", "k", "k", "x", "x"} {
			r.engine.answer(t, key, won)
		}
		c.expect("$5\r\nother\r\n$1\r\nk\r\n$1\r\nk\r\n")
		r.end()
	})
}

// The engine keeps a client's acquires of one key in order.
func TestOwnAcquiresDoNotWaitBehindOneAnother(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, Config{})
		c := r.dial()
		c.send("acquire k\r\nacquire k\r\nwrite k\r\nacquire k\r\n")
		synctest.Wait()
		if got := r.engine.keys(); got != "acquire:k acquire:k" {
			t.Fatalf("put before the first is decided: %s", got)
		}
		r.engine.answer(t, "k", quorum.Result{Decision: quorum.Contended})
		synctest.Wait()
		if got := r.engine.keys(); got != "acquire:k acquire:k" {
			t.Fatalf("put before the second is decided: %s", got)
		}
		r.engine.answer(t, "k", won)
		synctest.Wait()
		if got := r.engine.keys(); got != "acquire:k acquire:k write:k acquire:k" {
			t.Fatalf("put after both are decided: %s", got)
		}
		r.engine.answer(t, "k", won)
		r.engine.answer(t, "k", quorum.Result{Decision: quorum.Contended})
		c.expect("$-1\r\n$1\r\nk\r\n$1\r\nk\r\n$-1\r\n")
		r.end()
	})
}

func TestAFollowUpKeepsItsKeyUndecided(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, Config{})
		c := r.dial()
		c.send("extendmore k\r\nwrite k\r\nping\r\n")
		synctest.Wait()
		r.engine.answer(t, "k", won)
		synctest.Wait()
		if got := r.engine.keys(); got != "read:k extend:k" {
			t.Fatalf("put before the follow-up is decided: %s", got)
		}
		r.engine.answer(t, "k", won)
		synctest.Wait()
		if got := r.engine.keys(); got != "read:k extend:k write:k" {
			t.Fatalf("put after: %s", got)
		}
		r.engine.answer(t, "k", won)
		c.expect("$1\r\nk\r\n$1\r\nk\r\n+PONG\r\n")
		r.end()
	})
}

func TestASlotIsFilledWhenAllItsResultsAreIn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, Config{})
		c := r.dial()
		c.send("many a b c\r\n")
		synctest.Wait()
		r.engine.answer(t, "c", won)
		r.engine.answer(t, "a", quorum.Result{Decision: quorum.Contended})
		c.expectSilence()
		r.engine.answer(t, "b", won)
		c.expect(":2\r\n")
		r.end()
	})
}

func TestMutedCommandsAreCarriedOutInSilence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, Config{})
		c := r.dial()
		c.send("quiet\r\nquietwrite k\r\nping\r\n")
		synctest.Wait()
		r.engine.answer(t, "k", won)
		c.expect("+PONG\r\n")
		r.end()
	})
}

func TestAPanicCostsOneConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, Config{})
		bystander := r.dial()
		bystander.send("write b\r\n")
		for _, command := range []string{"panic\r\n", "panicrender k\r\n"} {
			c := r.dial()
			c.send("ping\r\n")
			c.expect("+PONG\r\n")
			c.send("write late\r\n" + command)
			synctest.Wait()
			if command != "panic\r\n" {
				r.engine.answer(t, "k", won)
			}
			c.expectEnd("")
			r.engine.answer(t, "late", won) // for a connection that is gone
		}
		if got := strings.Count(r.log.String(), "[ERROR]"); got != 2 {
			t.Errorf("%d Error lines, want one for each panic:\n%s", got, r.log)
		}
		if !strings.Contains(r.log.String(), "scripted_test.go") {
			t.Error("the log does not say where")
		}
		r.engine.answer(t, "b", won)
		bystander.expect("$1\r\nb\r\n")
		r.end()
	})
}

func TestRequestsOutliveTheirClient(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, Config{})
		c := r.dial()
		c.send("extendmore k\r\n")
		synctest.Wait()
		c.nc.Close()
		synctest.Wait()
		r.engine.answer(t, "k", won)
		synctest.Wait()
		if got := r.engine.keys(); got != "read:k extend:k" {
			t.Fatalf("put: %s, want also what follows from the first result", got)
		}
		r.engine.answer(t, "k", won)
		r.end()
	})
}

func TestTheReaderWaitsWhenTooMuchIsInFlight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, Config{Limits: Limits{MaxInFlight: 3}})
		c := r.dial()
		c.send("write a\r\nmany b c\r\nwrite d\r\n")
		synctest.Wait()
		if got := r.engine.keys(); got != "write:a write:b write:c" {
			t.Fatalf("put: %s", got)
		}
		r.engine.answer(t, "a", won)
		c.expect("$1\r\na\r\n")
		synctest.Wait()
		if got := r.engine.keys(); !strings.HasSuffix(got, "write:d") {
			t.Fatalf("put: %s", got)
		}
		// One command that is larger than the limit goes alone.
		c.send("many e f g h\r\n")
		for _, key := range []string{"b", "c", "d"} {
			r.engine.answer(t, key, won)
		}
		c.expect(":2\r\n$1\r\nd\r\n")
		for _, key := range []string{"e", "f", "g", "h"} {
			synctest.Wait()
			r.engine.answer(t, key, won)
		}
		c.expect(":4\r\n")
		r.end()
	})
}
