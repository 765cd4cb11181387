package main

import (
	"strings"
	"testing"
	"time"

	"redlock-proxy/integration/nemesis/cached"
	"redlock-proxy/integration/nemesis/lease"
)

func caching(t *testing.T) []work {
	t.Helper()
	w, err := worksNamed("caches")
	must(t, err)
	return w
}

// Of one Redis, too, nobody keeps what he was told of before its writer's answer.
func TestCachesOfOneServerAreNotAccused(t *testing.T) {
	t.Parallel()
	p := plan{seed: 1, during: 3 * time.Second, works: caching(t)}
	playUntil(t, withoutProxy(t), p, func(j *judged) bool {
		if bad := j.complaints(); len(bad) > 0 {
			t.Errorf("%v\n%s", j, strings.Join(bad, "\n"))
		}
		return j.caches.Kept >= 100 && j.caches.Settled > 0
	})
}

func TestWhatIsKeptTooLongIsTold(t *testing.T) {
	write := cached.Op{Key: "k", Kind: cached.Write, Number: 2, Proxy: 0, Outcome: lease.Yes, Call: second(1), Return: second(1.1)}
	look := func(proxy int, at float64) cached.Op {
		return cached.Op{Client: processSpan, Key: "k", Kind: cached.Look, Number: 1, Proxy: proxy, Outcome: lease.Yes, Call: second(at), Return: second(at)}
	}
	behind := cached.Op{Key: "k", Kind: cached.Quiet, Number: 1, Is: 2, Outcome: lease.Yes}
	old := look(1, 1.2)
	old.Kind = cached.Read
	forgetting := []lease.Mark{marked("master 0", "kill", 0, 1), marked("master 1", "cut", 0, 1)}
	for _, c := range []struct {
		why   string
		op    cached.Op
		marks []lease.Mark
		told  string
	}{
		{why: "at once through the same proxy", op: look(0, 1.2), told: "look of 1"},
		{why: "so it is where masters fail", op: look(0, 1.2), told: "look of 1", marks: []lease.Mark{marked("master 0", "freeze", 0, 9), marked("master 1", "cut", 0, 9)}},
		{why: "but not where they forget", op: look(0, 1.2), marks: forgetting},
		{why: "soon through another", op: look(1, 2)},
		{why: "not so late", op: look(1, 2.2), told: "look of 1"},
		{why: "though one fails", op: look(1, 2.2), told: "look of 1", marks: []lease.Mark{marked("master 0", "freeze", 0, 9)}},
		{why: "unless two do", op: look(1, 2.2), marks: []lease.Mark{marked("master 0", "freeze", 0, 9), marked("master 1", "cut", 0, 9)}},
		{why: "or his proxy does", op: look(1, 2.2), marks: []lease.Mark{marked("proxy 1", "proxy-freeze", 1.5, 2)}},
		{why: "or he himself", op: look(1, 2.2), marks: []lease.Mark{marked("clients 1", "client-freeze", 1.5, 2)}},
		{why: "an old value is read", op: old, told: "read of 1"},
		{why: "wrong in the end", op: behind, told: "it is 2"},
		{why: "in the end it is right whoever forgets", op: behind, told: "it is 2", marks: forgetting},
	} {
		r := &played{masters: 3, proxies: 2, marks: c.marks, history: history{Cached: []cached.Op{write, c.op}}}
		r.history.Probes = served(1, 0, 20)
		bad := strings.Join(judge(r).complaints(), "\n")
		if (c.told == "") == strings.Contains(bad, "of 1 by") || !strings.Contains(bad, c.told) {
			t.Errorf("%s: %q", c.why, bad)
		}
	}
}
