package integration

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// asking sends an acquire and gives the answer when it is there.
func (k talk) asking(args ...string) <-chan any {
	answer := make(chan any, 1)
	k.send(args...)
	go func() {
		reply, err := k.ReceiveWithin(time.Minute)
		if err != nil {
			reply = err
		}
		answer <- reply
	}()
	return answer
}

// waiting has as many clients wait at a proxy as CLIENT LIST shows.
func waiting(t *testing.T, looker talk, n int) {
	t.Helper()
	want := fmt.Sprintf("blocked_clients:%d\r\n", n)
	eventually(t, func() error {
		if info := looker.text("INFO", "clients"); !strings.Contains(info, want) {
			return fmt.Errorf("INFO does not say %q: %s", want, info)
		}
		return nil
	})
}

func TestAcquiresWaitInLine(t *testing.T) {
	t.Parallel()
	masters, p := startQuorum(t, 3, "--acquire-wait", "50s")
	looker, holder := dial(t, p.Addr), dial(t, p.Addr)
	holder.lock("k", "t", ttl)
	clients, answers := []talk{}, []<-chan any{}
	for i := range 5 {
		c := dial(t, p.Addr)
		clients, answers = append(clients, c), append(answers, c.asking(acquireArgs("k", fmt.Sprint("t", i), ttl)...))
		waiting(t, looker, i+1)
	}

	if info := fmt.Sprint(looker.do("LOCK", "INFO", "k")); !strings.Contains(info, "in-line 5") {
		t.Errorf("LOCK INFO: %s", info)
	}

	// In turn, whoever goes away meanwhile.
	must(t, clients[1].Close())
	waiting(t, looker, 4)
	holder.unlock("k", "t")
	if got := <-answers[0]; got != "OK" {
		t.Fatal(got)
	}
	wantHolding(t, masters, "k", "t0", 0, 1, 2)
	waiting(t, looker, 3)

	// Whoever sends more is answered at once, and in order.
	clients[3].send("PING")
	if got := <-answers[3]; got != nil {
		t.Errorf("who sends more is answered %v", got)
	}
	clients[3].receive("PONG")

	// By whomever the lock is freed, also at the masters, and when its ttl is over.
	for _, m := range masters {
		ask(t, m, "DEL", "k")
	}
	if got := <-answers[2]; got != "OK" {
		t.Fatal(got)
	}
	clients[2].want(int64(1), extendArgs("k", "t2", 300*time.Millisecond)...)
	if got := <-answers[4]; got != "OK" {
		t.Fatal(got)
	}
	waiting(t, looker, 0)
	// On a master where t2's was not over yet it may not be.
	if held := holding(t, masters, "k", "t4"); len(held) < 2 {
		t.Errorf("t4 is on masters %v", held)
	}
}

// Two proxies over the same masters, many clients, one lock: there is one holder, and everybody has his turn.
func TestManyWaitForOneLock(t *testing.T) {
	t.Parallel()
	masters, first := startQuorum(t, 3, "--acquire-wait", "50s")
	second := startProxy(t, append(flags(masters), "--acquire-wait", "50s")...)
	awaitVoting(t, second, 3)
	var holders, turns atomic.Int32
	var wait sync.WaitGroup
	for i := range 40 {
		c := dial(t, []*Proxy{first, second}[i%2].Addr)
		wait.Go(func() {
			for round := range 5 {
				token := fmt.Sprint(i, " ", round)
				if reply, err := c.Do(acquireArgs("k", token, ttl)...); reply != "OK" {
					t.Errorf("client %d: %v, %v", i, reply, err)
					return
				}
				if n := holders.Add(1); n != 1 {
					t.Errorf("there are %d holders", n)
				}
				turns.Add(1)
				holders.Add(-1)
				if reply, err := c.Do(releaseArgs("k", token)...); reply != int64(1) {
					t.Errorf("client %d: %v, %v", i, reply, err)
				}
			}
		})
	}
	wait.Wait()
	if turns.Load() != 200 {
		t.Errorf("there were %d turns", turns.Load())
	}
	wantGone(t, masters, "k")
}

// What another proxy frees, or somebody at the masters, the masters tell of: who waits need not look for it.
func TestMastersTellThatALockIsFree(t *testing.T) {
	t.Parallel()
	masters, first := startQuorum(t, 3, "--acquire-wait", "50s")
	second := startProxy(t, append(flags(masters), "--acquire-wait", "50s")...)
	awaitVoting(t, second, 3)
	looker, holder, waits := dial(t, second.Addr), dial(t, first.Addr), dial(t, second.Addr)
	var took []time.Duration
	for i := range 21 {
		key := fmt.Sprint("k", i)
		holder.lock(key, "t", ttl)
		answer := waits.asking(acquireArgs(key, "t1", ttl)...)
		waiting(t, looker, 1)
		eventually(t, func() error {
			for _, m := range masters { // a key of before, which it was asked for late, is one too: that is seldom
				if info := fmt.Sprint(ask(t, m, "INFO", "stats")); strings.Contains(info, "tracking_total_keys:0\r\n") {
					return fmt.Errorf("%s tracks no key", m.Addr)
				}
			}
			return nil
		})
		freed := time.Now()
		if i%2 == 0 {
			holder.unlock(key, "t")
		} else {
			for _, m := range masters { // of which one that never had it may be the next holder's by now
				ask(t, m, releaseArgs(key, "t")...)
			}
		}
		if got := <-answer; got != "OK" {
			t.Fatal(got)
		}
		took = append(took, time.Since(freed))
		waits.unlock(key, "t1")
	}
	slices.Sort(took)
	t.Logf("from the release to the next holder at another proxy: %v to %v, half of them within %v", took[0], took[20], took[10])
	if took[10] > 300*time.Millisecond { // by looking each second it were half of one
		t.Errorf("half of those who waited did so for %v and more", took[10])
	}
}

// Where a master lacks a lock that a quorum holds, or the lock is in another database than the first, nothing changes
// either: an attempt each second is all that masters get.
func TestWhoWaitsAsksLittle(t *testing.T) {
	t.Parallel()
	masters, first := startQuorum(t, 3, "--acquire-wait", "50s")
	second := startProxy(t, append(flags(masters), "--acquire-wait", "50s")...)
	awaitVoting(t, second, 3)
	looker, holder := dial(t, second.Addr), dial(t, first.Addr)
	for i, key := range []string{"lacking", "elsewhere"} {
		waits := dial(t, second.Addr)
		if key == "elsewhere" {
			holder.want("OK", "SELECT", "5")
			waits.want("OK", "SELECT", "5")
		}
		holder.want("OK", acquireArgs(key, "t", ttl)...)
		if key == "lacking" {
			eventually(t, func() error { // one of them may have been sent it only
				if n := slices.IndexFunc(masters, func(m *Redis) bool { return ask(t, m, "EXISTS", key) != int64(1) }); n >= 0 {
					return fmt.Errorf("master %d has no %s", n+1, key)
				}
				return nil
			})
			ask(t, masters[0], "DEL", key)
		}
		answer := waits.asking(acquireArgs(key, "t1", ttl)...)
		waiting(t, looker, 1)
		began := time.Now()
		attempts, looks := callsOn(t, masters[i], "SET", key), callsOn(t, masters[i], "PTTL", key)
		time.Sleep(3 * time.Second)
		n, m := attempts(), looks()
		if most := int(time.Since(began)/time.Second) + 2; n > most || m > 6*most {
			t.Errorf("%s: a master had %d attempts and %d looks, want %d and %d at most", key, n, m, most, 6*most)
		}
		holder.want(int64(1), releaseArgs(key, "t")...)
		if got := <-answer; got != "OK" {
			t.Fatal(got)
		}
	}
}

// An end of the proxy answers those who wait, and so does the loss of the quorum.
func TestWhoWaitsIsAnsweredInTheEnd(t *testing.T) {
	t.Parallel()
	masters := startMasters(t, 3)
	p := startLoose(t, append(flags(masters), "--acquire-wait", "50s")...)
	awaitVoting(t, p, 3)
	looker, holder, loses, waits := dial(t, p.Addr), dial(t, p.Addr), dial(t, p.Addr), dial(t, p.Addr)
	holder.lock("k", "t", ttl)
	answer := loses.asking(acquireArgs("k", "t1", ttl)...)
	waiting(t, looker, 1)
	must(t, masters[0].Freeze())
	must(t, masters[1].Freeze())
	if got := <-answer; !isNoQuorum(got) {
		t.Errorf("without a quorum: %v", got)
	}
	must(t, masters[0].Thaw())
	must(t, masters[1].Thaw())
	awaitVoting(t, p, 3)
	holder.lock("other", "t", ttl)
	answer = waits.asking(acquireArgs("other", "t2", ttl)...)
	waiting(t, looker, 1)
	must(t, p.Signal(syscall.SIGTERM))
	if got := <-answer; got != nil {
		t.Errorf("at the end: %v", got)
	}
}
