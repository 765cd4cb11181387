package integration

import (
	"encoding/json"
	"fmt"
	"net"
	"strconv"
	"strings"
	"testing"
	"time"

	"redlock-proxy/quorum"
)

// nonces are what the marker begins with in each database of a master.
func nonces(t *testing.T, m *Redis) (list [quorum.Databases]string) {
	c := direct(t, m)
	for db := range list {
		c.want("OK", "SELECT", strconv.Itoa(db))
		list[db] = c.text("GETRANGE", quorum.MarkerKey, "0", "16")
	}
	return list
}

// What holds for the whole master is told in all its databases, used or not.
func TestSwappedDatabasesAreALossOfTheWholeMaster(t *testing.T) {
	t.Parallel()
	masters, p := startQuorum(t, 3)
	before := nonces(t, masters[0])
	direct(t, masters[0]).want("OK", "SWAPDB", "0", "3")
	var after [quorum.Databases]string
	eventually(t, func() error {
		after = nonces(t, masters[0])
		for db, n := range after {
			if n == before[db] || n == "" {
				return fmt.Errorf("database %d has %q, before %q", db, n, before[db])
			}
		}
		return nil
	})
	awaitVoting(t, p, 3)
	eventually(t, func() error { return logged(p, "they were swapped") })
	c := dial(t, p.Addr)
	c.want("OK", "SELECT", "5")
	eventually(t, func() error {
		if got := c.do("SET", "k", "t", "NX", "PX", milliseconds(ttl)); got != "OK" {
			return fmt.Errorf("in database 5: %v", got)
		}
		return nil
	})
}

func TestLoneProxyStaysAwayFromASet(t *testing.T) {
	t.Parallel()
	masters, p := startQuorum(t, 3)
	dial(t, p.Addr).want("OK", "SET", "k", "a", "NX", "PX", milliseconds(ttl))
	lone, err := StartProxy(ProxyOptions{Path: program(t), Bare: true, Args: []string{"serve", "--listen", "127.0.0.1:0", "--master", masters[0].Addr}})
	must(t, err)
	code, err := lone.Wait(patience)
	if err != nil || code != 78 || !strings.Contains(lone.Log(), "name all masters of the set") {
		t.Errorf("exit code %d, %v:\n%s", code, err, lone.Log())
	}
}

// Locks are thrown away by a master that was reconfigured, and is as it was before
// anybody looks.
func TestMasterThatHasEvictedKeysForAWhileIsQuarantined(t *testing.T) {
	t.Parallel()
	masters, p := startQuorum(t, 3)
	dial(t, p.Addr).want("OK", "SET", "k", "a", "NX", "PX", milliseconds(ttl))
	wantHolding(t, masters, "k", "a", 0, 1, 2)
	m := direct(t, masters[0])
	m.want("OK", "CONFIG", "SET", "maxmemory-policy", "volatile-lru")
	m.want("OK", "CONFIG", "SET", "maxmemory", "1")
	m.do("SET", "other", "x", "PX", "1000")
	eventually(t, func() error {
		if m.integer("EXISTS", "k") != 0 {
			return fmt.Errorf("it has evicted nothing")
		}
		return nil
	})
	m.want("OK", "CONFIG", "SET", "maxmemory", "0")
	eventually(t, func() error { return logged(p, "it has evicted") })
	awaitVoting(t, p, 3)
	wantHolding(t, masters, "k", "a", 0, 1, 2)
}

// A master takes over what its own replica holds, which bears its marker.
func TestMasterThatWasAReplicaForAWhileIsQuarantined(t *testing.T) {
	t.Parallel()
	masters, p := startQuorum(t, 3)
	replica := startMaster(t, RedisOptions{})
	host, port, err := net.SplitHostPort(masters[0].Addr)
	must(t, err)
	of := direct(t, replica)
	for _, server := range []*Redis{masters[0], replica} {
		direct(t, server).want("OK", "CONFIG", "SET", "repl-diskless-sync-delay", "0")
	}
	of.want("OK", "REPLICAOF", host, port)
	linked := func(c talk) error {
		if info := c.text("INFO", "replication"); !strings.Contains(info, "master_link_status:up") {
			return fmt.Errorf("it is not linked:\n%s", info)
		}
		return nil
	}
	eventually(t, func() error { return linked(of) })
	of.want("OK", "REPLICAOF", "NO", "ONE")
	host, port, err = net.SplitHostPort(replica.Addr)
	must(t, err)
	m := direct(t, masters[0])
	m.want("OK", "REPLICAOF", host, port)
	eventually(t, func() error { return linked(m) })
	m.want("OK", "REPLICAOF", "NO", "ONE")
	eventually(t, func() error { return logged(p, "it has been a replica") })
	awaitVoting(t, p, 3)
}

// othersLogs are those that a master's marker tells of the other masters.
func othersLogs(t *testing.T, m *Redis) (map[string]string, error) {
	t.Helper()
	_, text, _ := strings.Cut(fmt.Sprint(ask(t, m, "GET", quorum.MarkerKey)), " ")
	var marker struct{ Others map[string]string }
	err := json.Unmarshal([]byte(text), &marker)
	return marker.Others, err
}

// Logs that were switched off at two masters are on their disks as they were, with
// markers that say that the masters are durable.
func TestLogsThatWereSwitchedOffGiveNoLockASecondTime(t *testing.T) {
	t.Parallel()
	masters := durableMasters(t, 3)
	p := startProxy(t, flags(masters)...)
	awaitVoting(t, p, 3)
	seen := func(durable bool) { // and told to the others
		t.Helper()
		for _, by := range masters {
			eventually(t, func() error {
				logs, err := othersLogs(t, by)
				if err != nil {
					return err
				}
				for _, m := range masters[:2] {
					if log := logs[m.Addr]; m != by && (log == "" || (log != "-") != durable) {
						return fmt.Errorf("of the log of %s %s tells %q", m.Addr, by.Addr, log)
					}
				}
				return nil
			})
		}
	}
	seen(true)
	for _, m := range masters[:2] {
		direct(t, m).want("OK", "CONFIG", "SET", "appendonly", "no")
	}
	seen(false)
	wantKeptThroughCrashes(t, masters, p)
}

// wantKeptThroughCrashes takes a lock, crashes two masters of three one after the other, and
// sees that nobody else gets it from what they come back with.
func wantKeptThroughCrashes(t *testing.T, masters []*Redis, p *Proxy) {
	t.Helper()
	c := dial(t, p.Addr)
	c.want("OK", "SET", "k", "a", "NX", "PX", "200000")
	wantHolding(t, masters, "k", "a", 0, 1, 2)
	for _, m := range masters[:2] {
		must(t, m.Kill())
		must(t, m.Restart())
	}
	for range 20 {
		if got := c.do("SET", "k", "b", "NX", "PX", milliseconds(ttl)); got == "OK" {
			t.Fatalf("a second holder: %v", got)
		}
		time.Sleep(100 * time.Millisecond)
	}
}
