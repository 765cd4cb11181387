package integration

import (
	"fmt"
	"testing"
)

// A master that is killed and comes back without its keys has another order of them,
// and nothing of what it had still to name.
func TestScanGoesOnOverAMasterThatIsStartedAnew(t *testing.T) {
	t.Parallel()
	for victim := range 3 {
		t.Run(fmt.Sprint("master ", victim), func(t *testing.T) {
			masters, p := startQuorum(t, 3)
			k := dial(t, p.Addr)
			const keys = 200
			for i := range keys {
				k.lock(fmt.Sprint("scan:", i), "t", ttl)
			}
			for i := range keys / 4 {
				ask(t, masters[(victim+1)%3], "SET", fmt.Sprint("scan:minority:", i), "t")
			}
			listed := scanAll(t, k, func(call int) {
				switch call {
				case 2:
					must(t, masters[victim].Kill())
				case 6:
					must(t, masters[victim].Restart())
					awaitVoting(t, p, 3)
				}
			})
			for i := range keys {
				if listed[fmt.Sprint("scan:", i)] == 0 {
					t.Errorf("scan:%d is not listed", i)
				}
			}
			// What only one master held may be on two by now: it could have been a
			// lock that the victim had voted for, and so the victim was given it.
			for i := range keys / 4 {
				delete(listed, fmt.Sprint("scan:minority:", i))
			}
			if len(listed) > keys {
				t.Errorf("%d keys are listed of %d", len(listed), keys)
			}
		})
	}
}

// Where nothing happens, no key is listed twice.
func TestScanListsAKeyOfAllMastersOnce(t *testing.T) {
	t.Parallel()
	masters, p := startQuorum(t, 5)
	k := dial(t, p.Addr)
	for i := range 150 {
		k.lock(fmt.Sprint("scan:", i), "t", ttl)
	}
	for _, m := range masters { // the last votes come after the answers
		eventually(t, func() error {
			if n := ask(t, m, "DBSIZE"); n != int64(150+1) { // and the marker
				return fmt.Errorf("a master holds %v keys", n)
			}
			return nil
		})
	}
	listed := scanAll(t, k, func(int) {})
	for i := range 150 {
		if n := listed[fmt.Sprint("scan:", i)]; n != 1 {
			t.Errorf("scan:%d is listed %d times", i, n)
		}
	}
}

// awaitGone waits until no master holds a key in a database.
func awaitGone(t *testing.T, masters []*Redis, db, key string) {
	t.Helper()
	for i, m := range masters {
		c := direct(t, m)
		c.want("OK", "SELECT", db)
		eventually(t, func() error {
			if got := c.do("EXISTS", key); got != int64(0) {
				return fmt.Errorf("master %d holds %s: %v", i, key, got)
			}
			return nil
		})
	}
}

func TestDangerousCommandsDoWhatTheySayWhereTheyAreAllowed(t *testing.T) {
	t.Parallel()
	masters := startMasters(t, 3)
	p := startProxy(t, append(flags(masters), "--user", "default on nopass ~* &* +@all")...)
	k := dial(t, p.Addr)
	fill := func() {
		t.Helper()
		for _, db := range []string{"3", "0"} {
			k.want("OK", "SELECT", db)
			k.lock("k"+db, "t", ttl)
		}
	}
	fill()
	k.want([]any{"k0"}, "KEYS", "k?")
	k.want([]any{}, "KEYS", "x*")
	k.want("k0", "RANDOMKEY")
	k.want("OK", "flushdb")
	awaitGone(t, masters, "0", "k0")
	k.want("OK", "SELECT", "3")
	k.want("t", "GET", "k3")
	k.want([]any{"k3"}, "KEYS", "*")
	k.want(int64(1), "DBSIZE")
	k.want("OK", "SELECT", "0")
	k.lock("k0", "t", ttl)
	k.want("OK", "FLUSHALL", "ASYNC")
	awaitGone(t, masters, "0", "k0")
	awaitGone(t, masters, "3", "k3")

	// In a pipeline it comes at its place.
	must(t, k.Send("SET", "k", "before", "NX", "PX", milliseconds(ttl)))
	must(t, k.Send("FLUSHALL"))
	must(t, k.Send("SET", "k", "after", "NX", "PX", milliseconds(ttl)))
	must(t, k.Send("DBSIZE"))
	for _, want := range []any{"OK", "OK", "OK", int64(1)} {
		if got, err := k.Receive(); err != nil || got != want {
			t.Errorf("got %v, %v, want %v", got, err, want)
		}
	}
	k.want("after", "GET", "k")

	// A quorum is enough, and less is not.
	must(t, masters[0].Kill())
	awaitVoting(t, p, 2)
	k.want("OK", "FLUSHALL")
	k.want(int64(0), "DBSIZE")
	must(t, masters[1].Kill())
	awaitVoting(t, p, 1)
	for _, command := range []string{"FLUSHALL", "FLUSHDB", "DBSIZE", "RANDOMKEY"} {
		k.wantNoQuorum(command)
	}
	k.wantNoQuorum("KEYS", "*")
	k.wantNoQuorum("SCAN", "0")
}
