package integration

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"redlock-proxy/quorum"
)

// inDatabase is a connection to a master itself, in one of its databases.
func inDatabase(t *testing.T, m *Redis, db int) talk {
	t.Helper()
	c := direct(t, m)
	c.want("OK", "SELECT", strconv.Itoa(db))
	return c
}

// lockedBefore has a key be locked in a database by a client whose proxy then ends. Master 2 has
// missed it.
func lockedBefore(t *testing.T, masters []*Redis, args []string, ttl time.Duration, dbs ...int) (ends time.Time) {
	t.Helper()
	p := startProxy(t, args...)
	c := dial(t, p.Addr)
	ends = time.Now().Add(ttl)
	for _, db := range dbs {
		c.want("OK", "SELECT", strconv.Itoa(db))
		c.want("OK", "SET", "k", "a", "NX", "PX", fmt.Sprint(ttl.Milliseconds()))
		m := inDatabase(t, masters[2], db)
		eventually(t, func() error {
			if m.do("GET", "k") != "a" {
				return fmt.Errorf("it is on its way")
			}
			return nil
		})
		m.want(1, "DEL", "k")
	}
	_, err := p.Terminate(patience)
	must(t, err)
	return ends
}

// flushedByHand empties a master, and waits until it votes again in database 0, which alone is open.
func flushedByHand(t *testing.T, p *Proxy, m *Redis) {
	t.Helper()
	before := nonces(t, m)[0]
	direct(t, m).want("OK", "FLUSHALL")
	eventually(t, func() error {
		if n := nonces(t, m)[0]; n == before || !strings.HasPrefix(n, "v") {
			return fmt.Errorf("database 0 has %q, before %q", n, before)
		}
		return nil
	})
	awaitVoting(t, p, 3)
}

// What masters lose in databases that no proxy has open at the time.
func TestDatabaseThatIsOpenedKnowsWhoLostItWhileNobodyLooked(t *testing.T) {
	t.Parallel()
	masters := startMasters(t, 3)
	args := append(flags(masters), soon...)

	// Of one master it is made up for by the others.
	ends := lockedBefore(t, masters, args, time.Minute, 5)
	p := startProxy(t, args...)
	flushedByHand(t, p, masters[0])
	flushedByHand(t, p, masters[0])
	c := dial(t, p.Addr)
	c.want("OK", "SELECT", "5")
	m := inDatabase(t, masters[0], 5)
	eventually(t, func() error {
		if reply := c.do("SET", "k", "b", "NX", "PX", "1000"); reply == "OK" && time.Now().Before(ends) {
			t.Fatal("a second holder")
		}
		if m.do("GET", "k") != "a" {
			return fmt.Errorf("it is not given the lock again")
		}
		return nil
	})
	_, err := p.Terminate(patience)
	must(t, err)

	// Of a quorum it is waited out, whoever is asked.
	ends = lockedBefore(t, masters, args, 4500*time.Millisecond, 6, 7)
	p = startProxy(t, args...)
	for _, m := range masters {
		inDatabase(t, m, 7).want("OK", "FLUSHDB")
	}
	flushedByHand(t, p, masters[0])
	flushedByHand(t, p, masters[1])
	one, other := dial(t, p.Addr), dial(t, startProxy(t, args...).Addr)
	one.want("OK", "SELECT", "6")
	other.want("OK", "SELECT", "7")
	for _, c := range []talk{one, other} {
		eventually(t, func() error {
			reply := c.do("SET", "k", "b", "NX", "PX", "1000")
			switch {
			case reply != "OK":
				return fmt.Errorf("it says %v", reply)
			case time.Now().Before(ends):
				t.Error("a second holder")
			}
			return nil
		})
	}
}

// Each master comes back blank, one after the other: no lock is lost in databases that no client
// has open, and they can be used at once.
func TestDatabasesThatNobodyUsesAreHealedAsWell(t *testing.T) {
	t.Parallel()
	masters := startMasters(t, 3)
	args := append(flags(masters), soon...)
	lockedBefore(t, masters, args, 10*time.Minute, 3)
	p := startProxy(t, args...)
	for i, m := range masters {
		must(t, m.Kill())
		must(t, m.Restart())
		eventually(t, func() error {
			for db, n := range nonces(t, m) {
				if !strings.HasPrefix(n, "v") {
					return fmt.Errorf("master %d has %q in database %d", i, n, db)
				}
			}
			return nil
		})
		inDatabase(t, m, 3).want("a", "GET", "k")
	}
	awaitVoting(t, p, 3)
	c := dial(t, p.Addr)
	c.want("OK", "SELECT", "3")
	c.want(nil, "SET", "k", "b", "NX", "PX", "1000")
	c.want("OK", "SELECT", "9")
	c.want("OK", "SET", "k", "b", "NX", "PX", "1000")
}

// A master votes in a database while its first start lasts in another one, and is flushed there.
func TestFirstStartThatIsOverAdmitsNobodyWhoWasFlushedSince(t *testing.T) {
	t.Parallel()
	for ttl := 5 * time.Second; !flushedInItsFirstStart(t, ttl); ttl *= 2 {
		t.Logf("the first start was over within %v", ttl)
	}
}

// flushedInItsFirstStart tells whether that was in time.
func flushedInItsFirstStart(t *testing.T, maxTTL time.Duration) bool {
	masters := startMasters(t, 3)
	p := launch(t, ProxyOptions{Args: append(flags(masters), "--max-ttl", maxTTL.String(), "--acquire-timeout", "500ms", "--probe-interval", "200ms", "--user", "default on nopass ~* &* +@all"), Unmarked: true})
	stands := func(m *Redis, db int, kind string) {
		t.Helper()
		eventually(t, func() error {
			if n := nonces(t, m)[db]; n == "" || !strings.HasPrefix(n, kind) {
				return fmt.Errorf("database %d has %q", db, n)
			}
			return nil
		})
	}
	for _, m := range masters {
		stands(m, 0, "q")
	}
	disputed := func(db int) { // so that master 2 has to wait there
		for i, m := range masters[:2] {
			inDatabase(t, m, db).want(1, "HSET", "x", "f", fmt.Sprint(i))
		}
	}
	disputed(0)
	c := dial(t, p.Addr)
	c.want("OK", "SELECT", "5")
	c.do("GET", "k")
	for _, m := range masters[:2] {
		eventually(t, func() error {
			if reply := fmt.Sprint(c.do("LOCK", "ADMIT", m.Addr)); !strings.HasPrefix(reply, "OK, ") && !strings.Contains(reply, "it is voting") {
				return fmt.Errorf("LOCK ADMIT: %s", reply)
			}
			return nil
		})
	}
	m := masters[2]
	stands(m, 5, "v")
	disputed(5)
	inDatabase(t, m, 5).want("OK", "FLUSHDB")
	stands(m, 5, "")
	all := nonces(t, m)
	if !strings.HasPrefix(all[0], "q") || !strings.HasPrefix(all[5], "q") {
		return false
	}
	stands(m, 0, "v")
	text := inDatabase(t, m, 5).text("GET", quorum.MarkerKey)
	if was := fmt.Sprintf("%q:%q", "was", all[5]); !strings.HasPrefix(text, all[5]) && !strings.Contains(text, was) {
		t.Errorf("database 5 had %s, and has %s", all[5], text)
	}
	return true
}
