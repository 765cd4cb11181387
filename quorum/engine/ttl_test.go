package engine

import (
	"testing"
	"time"

	"redlock-proxy/quorum"
)

const ms = time.Millisecond

// A key that somebody has given a ttl of 300 years at the masters is there, and stays.
func TestTTLThatNoDurationHoldsIsALongOne(t *testing.T) {
	const years = int64(365 * 24 * time.Hour / ms)
	inWorld(t, 3, func(w *world) {
		lives := func(args []string) string {
			if args[0] != "EVALSHA" || args[1] != releaseScript.SHA {
				return ""
			}
			return integer(300 * years)
		}
		w.each(func(m *fakeMaster) { m.set(func(m *fakeMaster) { m.respond = lives }) }, 1, 2)
		w.down(3)
		w.want(w.release("k", "t"), quorum.Won)
		if d := w.engine.zero.lanes[2].status().Debts; d != 1 {
			t.Errorf("%d debts are owed to the one that is down", d)
		}
	})
}
