package integration

import (
	"fmt"
	"testing"
)

// A client's script locks in another database than its connection's, which no proxy has
// opened. Two masters lose their memory, one after the other, and each is given back what the
// others hold in the databases that are in use.
func TestScriptThatSelectsAnotherDatabaseGivesNoLockASecondTime(t *testing.T) {
	t.Parallel()
	masters, p := startQuorum(t, 3)
	lock := func(owner string) string {
		return fmt.Sprint(dial(t, p.Addr).do("EVAL", "redis.call('SELECT', 5) return redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', 60000)", "1", "k", owner))
	}
	awaitVoting(t, p, 3)
	first := lock("a")
	for _, m := range masters[1:] {
		must(t, m.Kill())
		awaitVoting(t, p, 2)
		must(t, m.Restart())
		awaitVoting(t, p, 3)
	}
	if second := lock("b"); first == "OK" && second == "OK" {
		t.Error("A and B hold one lock")
	}
}
