package integration

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// A log that is written anew holds nothing until that is done. It was switched off and on so
// quickly that no proxy saw it.
func TestLogThatIsStillWrittenAnewGivesNoLockASecondTime(t *testing.T) {
	t.Parallel()
	masters := durableMasters(t, 3)
	p := startProxy(t, flags(masters)...)
	awaitVoting(t, p, 3)
	time.Sleep(3 * time.Second) // the others know of the logs
	for _, m := range masters[:2] {
		c := direct(t, m)
		c.want("OK", "CONFIG", "SET", "rdb-key-save-delay", "600000") // microseconds for a key, of which there are 16
		c.send("CONFIG", "SET", "appendonly", "no")
		c.send("CONFIG", "SET", "appendonly", "yes")
		c.receive("OK")
		c.receive("OK")
	}
	time.Sleep(5 * time.Second) // more than two probe-intervals
	wantKeptThroughCrashes(t, masters, p)
}

// dumping are masters that write dumps when they are told to, and read them when they start.
func dumping(t *testing.T, n int) []*Redis {
	t.Helper()
	masters := make([]*Redis, n)
	for i := range masters {
		masters[i] = startMaster(t, RedisOptions{Args: []string{"--dbfilename", "dump.rdb"}})
	}
	return masters
}

// A master that stays in its set comes back with a dump from before that was changed.
func TestDumpFromBeforeAChangeOfTheSetCostsOneVote(t *testing.T) {
	t.Parallel()
	masters := dumping(t, 5)
	old, new := pick(masters, 1, 2, 3), pick(masters, 1, 2, 3, 4, 5)
	p := startProxy(t, flags(old)...)
	_, err := p.Terminate(patience)
	must(t, err)
	direct(t, old[0]).want("OK", "SAVE")
	changed(t, old, new)
	p = startProxy(t, flags(new)...)
	c := dial(t, p.Addr)
	c.want("OK", "SET", "k", "a", "NX", "PX", milliseconds(ttl))
	if _, err := os.Stat(filepath.Join(old[0].Dir(), "dump.rdb")); err != nil {
		t.Fatal(err)
	}
	must(t, old[0].Kill())
	must(t, old[0].Restart())
	time.Sleep(3 * time.Second)
	for i := range 5 {
		c.want("OK", "SET", fmt.Sprint("k", i), "a", "NX", "PX", milliseconds(ttl))
	}
	awaitVoting(t, p, 5)
	awaitVoting(t, startProxy(t, flags(new)...), 5)
}
