package integration

import (
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
)

// TestWhoHasTheLockNextFindsWhatWasWritten by its holder, who has sent that and the release at
// once, while another proxy counts on the same key and keeps it latched.
func TestWhoHasTheLockNextFindsWhatWasWritten(t *testing.T) {
	t.Parallel()
	patience := []string{"--acquire-timeout", "2s"}
	masters, p := startQuorum(t, 3, patience...)
	busy := dial(t, startProxy(t, append(flags(masters), patience...)...).Addr)
	var over atomic.Bool
	var beside sync.WaitGroup
	beside.Go(func() {
		for !over.Load() {
			busy.Do("HINCRBY", "h", "other", "1")
		}
	})
	defer beside.Wait()
	defer over.Store(true)
	holder, next := dial(t, p.Addr), dial(t, p.Addr)
	for n, free := range [][]string{
		{"DEL", "lock"},
		{"EVAL", "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) else return 0 end", "1", "lock", "t"},
		{"EVAL", "redis.call('publish', 'free', KEYS[1]) return redis.call('del', KEYS[1])", "1", "lock"},
	} {
		for i := range 15 {
			holder.lock("lock", "t", ttl)
			holder.send("HINCRBY", "h", "n", "1")
			holder.send(free...)
			for next.do(acquireArgs("lock", "u", ttl)...) != "OK" {
			}
			got, want := next.do("HGET", "h", "n"), strconv.Itoa(15*n+i+1)
			for isFailure(got) { // the other proxy's count is just being taken back
				got = next.do("HGET", "h", "n")
			}
			if got != want {
				t.Errorf("%q: the next holder reads %v, want %s", free, got, want)
			}
			next.want(1, "DEL", "lock")
			holder.receive(15*n + i + 1)
			holder.receive(1)
		}
	}
}

func isFailure(reply any) bool { _, failed := reply.(Failure); return failed }
