package integration

import (
	"testing"
	"time"
)

const (
	// setnxScript takes a lock as people write it, and as walrus does.
	setnxScript = "if redis.call('setnx', KEYS[1], ARGV[1]) == 1 then redis.call('pexpire', KEYS[1], ARGV[2]) return 1 else return 0 end"
	// fillScript is Laravel's Cache::add, by which it counts what it limits, too.
	fillScript = "return redis.call('exists',KEYS[1])<1 and redis.call('setex',KEYS[1],ARGV[2],ARGV[1])"
)

// A script that is SET NX in other words waits as that does, woken through its proxy and through another; and what is none
// is answered at once.
func TestScriptsThatTakeALockWaitInLine(t *testing.T) {
	t.Parallel()
	masters, first := startQuorum(t, 3, "--acquire-wait", "50s")
	second := startProxy(t, append(flags(masters), "--acquire-wait", "50s")...)
	awaitVoting(t, second, 3)
	takes := func(token string) []string { return []string{"EVAL", setnxScript, "1", "k", token, milliseconds(ttl)} }
	looker, farLooker := dial(t, first.Addr), dial(t, second.Addr)
	holder, near, gone, far := dial(t, first.Addr), dial(t, first.Addr), dial(t, first.Addr), dial(t, second.Addr)

	holder.want(int64(1), takes("a")...)
	wantHolding(t, masters, "k", "a", 0, 1, 2)
	leaves := gone.asking(takes("b")...)
	waiting(t, looker, 1)
	nears := near.asking(takes("c")...)
	waiting(t, looker, 2)

	other := dial(t, first.Addr)
	other.want(int64(0), releaseArgs("k", "x")...)
	other.want(int64(0), extendArgs("k", "x", ttl)...)
	other.want(nil, "EVAL", fillScript, "1", "k", "x", "9")
	other.want(int64(0), "EVAL", corpus(t, "redsync-touch-setnx"), "1", "k", "x", milliseconds(ttl))
	other.want(nil, "EVAL", corpus(t, "go-zero-lock"), "1", "k", "x", milliseconds(ttl))
	other.want(nil, "EVAL", corpus(t, "spring-obtain"), "1", "k", "x", milliseconds(ttl))
	waiting(t, looker, 2)

	must(t, gone.Close())
	<-leaves
	waiting(t, looker, 1)
	holder.unlock("k", "a")
	if got := <-nears; got != int64(1) {
		t.Fatal(got)
	}
	wantHolding(t, masters, "k", "c", 0, 1, 2)

	fars := far.asking(takes("d")...)
	waiting(t, farLooker, 1)
	near.unlock("k", "c")
	if got := <-fars; got != int64(1) {
		t.Fatal(got)
	}
	// On a master to which the release came behind it, it may not be.
	if held := holding(t, masters, "k", "d"); len(held) < 2 {
		t.Errorf("d is on masters %v", held)
	}
	waiting(t, looker, 0)
	waiting(t, farLooker, 0)
}

// Redisson has its own way to wait, and is told at once how long.
func TestRedissonIsRefusedAtOnce(t *testing.T) {
	t.Parallel()
	_, p := startQuorum(t, 3, "--acquire-wait", "50s")
	holder, other := dial(t, p.Addr), dial(t, p.Addr)
	tryLock := corpus(t, "redisson-tryLock")
	holder.want(nil, "EVAL", tryLock, "1", "k", "30000", "a:1")
	if left, ok := other.do("EVAL", tryLock, "1", "k", "30000", "b:1").(int64); !ok || left < 1 || left > 30_000 {
		t.Errorf("Redisson is told to wait for %v", left)
	}
}

// Who waited for nothing is told so in the script's words.
func TestAScriptThatWaitedIsRefusedInItsWords(t *testing.T) {
	t.Parallel()
	_, p := startQuorum(t, 3, "--acquire-wait", "1500ms")
	holder, waits := dial(t, p.Addr), dial(t, p.Addr)
	holder.lock("k", "a", ttl)
	began := time.Now()
	waits.want(int64(0), "EVAL", setnxScript, "1", "k", "b", milliseconds(ttl))
	if d := time.Since(began); d < 1500*time.Millisecond {
		t.Errorf("it was refused after %v", d)
	}
}
