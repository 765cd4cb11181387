package proxy

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

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
