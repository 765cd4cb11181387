package engine

import (
	"testing"
	"time"

	"redlock-proxy/quorum"
	"redlock-proxy/quorum/clock"
)

const ms = time.Millisecond

// A key that somebody has given a ttl of 300 years at the masters is there, and stays.
func TestTTLThatNoDurationHoldsIsALongOne(t *testing.T) {
	const years = int64(365 * 24 * time.Hour / ms)
	inWorld(t, 3, func(w *world) {
		now := time.Now()
		for _, n := range []int64{300 * years, 1e15, 9e18} {
			r := undoRecord{expires: n, left: n}
			if lives := r.lives(); lives != clock.LongestTTL || !now.Add(lives+clock.Drift(lives)).After(now) {
				t.Errorf("what lives for %d ms lives for %v", n, lives)
			}
			var l lefts
			for range 3 {
				l.add(n)
			}
			o := op{said: []said{{typ: "string", left: n}, {typ: "string", left: n}}}
			c := counted(0).voted(0, quorum.Granted, false).voted(1, quorum.Granted, false)
			if left := o.remaining(c, o.said[0]); left < clock.LongestTTL/10*9 {
				t.Errorf("of %d ms, %v is told", n, left)
			}
			if l.open(2, 0) {
				t.Error("it is open how long they live")
			}
		}
		lives := func(args []string) string {
			if args[0] != "EVALSHA" || args[1] != releaseScript.SHA {
				return ""
			}
			return integer(300 * years)
		}
		w.each(func(m *fakeMaster) { m.set(func(m *fakeMaster) { m.respond = lives }) }, 1, 2)
		w.down(3)
		w.want(w.release("k", "t"), quorum.Won)
		if d := w.engine.lanes[2].status().Debts; d != 1 {
			t.Errorf("%d debts are owed to the one that is down", d)
		}
	})
}
