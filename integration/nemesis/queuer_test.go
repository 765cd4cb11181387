package main

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"redlock-proxy/integration/nemesis/lease"
	"redlock-proxy/integration/nemesis/queue"
)

func queuing(t *testing.T) []work {
	t.Helper()
	w, err := worksNamed("queues")
	must(t, err)
	return w
}

func TestQueueOfOneServerIsNotAccused(t *testing.T) {
	t.Parallel()
	p := plan{seed: 1, during: 3 * time.Second, works: queuing(t)}
	playUntil(t, withoutProxy(t), p, func(j *judged) bool {
		if bad := j.complaints(); len(bad) > 0 || len(j.queues.Stuck) > 0 || j.queues.Pushed != j.queues.Popped {
			t.Errorf("%v\n%s", j, strings.Join(bad, "\n"))
		}
		return j.queues.Popped >= 100
	})
}

// onElements is a fault that does something at the server itself to the queues that there are.
func onElements(args func(key string) []string) fault {
	return fault{name: "thief", begin: func(h *house, i int, _ *rand.Rand) (func() error, error) {
		keys, err := h.masters[i].do("KEYS", "*queue*")
		if err != nil {
			return nil, err
		}
		for _, key := range keys.([]any) {
			if _, err := h.masters[i].do(args(fmt.Sprint(key))...); err != nil {
				return nil, err
			}
		}
		return nothing, nil
	}}
}

func TestWhatHappensToElementsIsFound(t *testing.T) {
	const again = `local v = redis.call("LRANGE", KEYS[1], 0, -1) if #v > 0 then redis.call("LPUSH", KEYS[1], unpack(v)) end return 1`
	for _, c := range []struct {
		what  string
		args  func(key string) []string
		found func(v queue.Verdict) bool
	}{
		{"taken away", func(key string) []string { return []string{"DEL", key} }, func(v queue.Verdict) bool { return len(v.Lost) > 0 }},
		{"doubled", func(key string) []string { return []string{"EVAL", again, "1", key} }, func(v queue.Verdict) bool { return len(v.Twice) > 0 }},
		{"slipped in", func(key string) []string { return []string{"RPUSH", key, "strange"} }, func(v queue.Verdict) bool { return len(v.Invented) > 0 }},
	} {
		t.Run(c.what, func(t *testing.T) {
			t.Parallel()
			// Who pops is too quick for a thief: so the queues of clients that stand still.
			standing := onElements(c.args)
			strike := standing.begin
			standing.begin = func(h *house, i int, random *rand.Rand) (func() error, error) {
				end, err := freezeClients(h, 0, random)
				if err != nil {
					return nil, err
				}
				_, err = strike(h, i, random)
				return end, err
			}
			p := plan{seed: 1, during: 2 * time.Second, works: queuing(t), faults: []fault{standing}, hands: 1}
			playUntil(t, withoutProxy(t), p, func(j *judged) bool { return c.found(j.queues) && len(j.complaints()) > 0 })
		})
	}
}

// What is no lock is held to its promise unless as many masters were struck as may hold what
// a quorum had, and one of them forgot.
func TestQueuesAreJudgedUnlessMastersForget(t *testing.T) {
	mark := func(where, what string) lease.Mark { return lease.Mark{Where: where, What: what} }
	for _, c := range []struct {
		masters int
		marks   []lease.Mark
		may     bool
	}{
		{3, nil, false},
		{3, []lease.Mark{mark("master 0", "kill"), mark("master 0", "flush"), mark("proxy 1", "proxy-kill")}, false},
		{3, []lease.Mark{mark("master 0", "freeze"), mark("master 1", "cut"), mark("master 2", "kill-durable")}, false},
		{3, []lease.Mark{mark("master 0", "kill"), mark("master 1", "cut")}, true},
		{3, []lease.Mark{mark("master 0", "kill-late"), mark("master 1", "cut")}, true},
		{3, []lease.Mark{mark("master 0", "forged"), mark("master 1", "cut")}, true},
		{5, []lease.Mark{mark("master 0", "kill"), mark("master 1", "cut")}, false},
		{5, []lease.Mark{mark("master 0", "kill"), mark("master 1", "cut"), mark("master 4", "slow")}, true},
	} {
		if got := (&played{masters: c.masters, marks: c.marks}).mayLose(); got != c.may {
			t.Errorf("%d masters, %v: %t", c.masters, c.marks, got)
		}
	}
}

func TestWorkIsNamed(t *testing.T) {
	all, err := worksNamed("all")
	must(t, err)
	listed, err := worksNamed(workNames(all))
	must(t, err)
	if len(all) != len(works) || workNames(listed) != workNames(works) {
		t.Errorf("got %s", workNames(listed))
	}
	if _, err := worksNamed("locks,leisure"); err == nil || !strings.Contains(err.Error(), `"leisure"`) {
		t.Errorf("an unknown work: %v", err)
	}
}

// Some rounds are of faults by which no master forgets, so that a queue has to keep what it has.
func TestSomeRoundsAreGentle(t *testing.T) {
	for _, list := range []string{"all", "kill,freeze"} {
		o, err := parse([]string{"-faults", list, "-seed", "1"})
		must(t, err)
		gentle := 0
		for ; o.seed < 100; o.seed++ {
			if !forgets(o.plan(3).faults[0].name) {
				gentle++
			}
		}
		if want := list == "all"; (gentle > 30) != want || gentle > 70 {
			t.Errorf("%s: %d of 100", list, gentle)
		}
	}
}
