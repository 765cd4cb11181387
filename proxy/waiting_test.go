package proxy

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// Some commands wait for those before them, before they have a place in the line of replies.
func TestWhoSendsWhatWaitsForAllBeforeDoesNotWait(t *testing.T) {
	for _, more := range []string{"PUBLISH c m", "FLUSHALL", "MGET" + strings.Repeat(" m", 300), "CLIENT REPLY OFF", "SUBSCRIBE c", "KEYS *", "QUIT"} {
		synctest.Test(t, func(t *testing.T) {
			r, _ := newWaitingRig(t, time.Minute)
			holder, waits := r.dial(), r.dial()
			holder.tries("k", "a", 50_000)
			holder.gets(ok, roundTrip)
			waits.send("SET k b NX PX 1000\r\n" + more + "\r\n")
			waits.gets(refused, 3*roundTrip)
			waits.nc.Close()
			r.end()
		})
	}
}
