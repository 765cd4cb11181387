package integration

import (
	"strings"
	"testing"
)

// The steps of integration/figure, one after the other.
func TestFigureShowsWhatHappens(t *testing.T) {
	t.Parallel()
	masters := startMasters(t, 3)
	relays := relayed(t, masters)
	// Nobody is given anything back before acquire-timeout is over, so there is time to ask.
	p := startProxy(t, append(relayFlags(relays), "--acquire-timeout", "5s")...)
	awaitVoting(t, p, 3)
	c := dial(t, p.Addr)
	stands := func(i int, state, why string) {
		t.Helper()
		eventually(t, func() error { return stateIs(c, i, state, why) })
	}

	// 1: A takes the lock, master 3 being away.
	relays[2].Cut()
	stands(2, "down", "")
	c.want("OK", "SET", "k", "A", "NX", "PX", milliseconds(ttl))
	wantHolding(t, masters, "k", "A", 0, 1)
	relays[2].Restore()
	awaitVoting(t, p, 3)
	wantHolding(t, masters, "k", "A", 0, 1)

	// 2: master 2 restarts, its memory is gone.
	must(t, masters[1].Kill())
	stands(1, "down", "")
	must(t, masters[1].Restart())
	stands(1, "quarantined", "its marker is gone")
	wantHolding(t, masters, "k", "A", 0)

	// 3: B asks; master 2 may not vote.
	c.want(nil, "SET", "k", "B", "NX", "PX", milliseconds(ttl))
	if info := c.text("INFO", "quorum"); strings.Contains(info, "\nsplits:0\r\n") {
		t.Errorf("no vote was split:\n%s", info)
	}
	stands(1, "quarantined", "its marker is gone")
	wantGone(t, masters[1:], "k")

	// 4: the others give back what master 2 held.
	stands(1, "voting", "")
	wantHolding(t, masters, "k", "A", 0, 1)

	// 5: B asks; master 2 votes again.
	c.want(nil, "SET", "k", "B", "NX", "PX", milliseconds(ttl))
	wantHolding(t, masters, "k", "A", 0, 1)
	wantGone(t, masters[2:], "k")
}
