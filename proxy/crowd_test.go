package proxy

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func (r *rig) wantPut(want string) {
	r.t.Helper()
	synctest.Wait()
	if got := strings.ReplaceAll(r.engine.keys(), "write:", ""); got != want {
		r.t.Fatalf("put: %s, want %s", got, want)
	}
}

// Masters have room for so much: what is beyond waits for its turn, and is not refused.
func TestWhatIsLongOfAllClientsIsPutAFewAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, Config{MaxClientMemory: 1 << 20})
		r.engine.weights = map[string]int{"a": leastCrowd / 2, "b": leastCrowd / 2, "c": leastCrowd / 2, "d": lightWeight, "huge": 2 * leastCrowd}
		var clients []*client
		send := func(key string) {
			c := r.dial()
			c.send("write " + key + "\r\n")
			clients = append(clients, c)
			synctest.Wait()
		}
		for _, key := range []string{"a", "b", "c", "d", "huge", "short"} {
			send(key)
		}
		r.wantPut("a b short")
		r.engine.answer(t, "a", won)
		r.wantPut("a b short c")
		r.engine.answer(t, "b", won)
		r.wantPut("a b short c d")
		r.engine.answer(t, "c", won)
		r.wantPut("a b short c d")
		r.engine.answer(t, "d", won)
		r.wantPut("a b short c d huge")
		r.engine.answer(t, "huge", won)
		r.engine.answer(t, "short", won)
		if used := r.server.longs.used; used != 0 {
			t.Errorf("%d bytes are taken when all is decided", used)
		}
		for _, c := range clients {
			c.nc.Close()
		}
		r.end()
	})
}

// What nobody decides keeps the others for a while at most, and who is gone does not.
func TestNobodyWaitsForEverInACrowd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, Config{MaxClientMemory: 1 << 20})
		r.engine.weights = map[string]int{"a": leastCrowd, "b": leastCrowd, "gone": leastCrowd, "c": leastCrowd}
		a, gone, b := r.dial(), r.dial(), r.dial()
		a.send("write a\r\n")
		synctest.Wait()
		gone.send("write gone\r\n")
		synctest.Wait()
		b.send("write b\r\n")
		synctest.Wait()
		r.server.longs.mu.Lock()
		first := r.server.longs.line[0].conn
		r.server.longs.mu.Unlock()
		first.cut()
		r.wantPut("a")
		time.Sleep(longestInCrowd)
		r.wantPut("a b")
		r.engine.answer(t, "a", won)
		r.engine.answer(t, "b", won)
		synctest.Wait()
		if used, line := r.server.longs.used, len(r.server.longs.line); used != 0 || line != 0 {
			t.Errorf("%d bytes are taken and %d stand in the line when all is decided", used, line)
		}
		r.end()
	})
}
