package main

import (
	"slices"
	"strings"
	"testing"
	"time"

	"redlock-proxy/integration/nemesis/lease"
)

// second is a moment of a round that begins at 0.
func second(n float64) lease.Instant { return lease.Instant(n * float64(time.Second)) }

func marked(where, what string, from, to float64) lease.Mark {
	return lease.Mark{Where: where, What: what, From: second(from), To: second(to)}
}

// served is a probe of a proxy each tenth of a second.
func served(proxy int, from, to float64) (probes []lease.Op) {
	for at := from; at <= to; at += 0.1 {
		probes = append(probes, lease.Op{Kind: lease.Acquire, Outcome: lease.Yes, Proxy: proxy, Return: second(at)})
	}
	return probes
}

// A client waits at proxy 2 from the third second of a round to the sixth while nobody has the lock: is it told?
func TestSleepIsToldUnlessAFaultExplainsIt(t *testing.T) {
	well := served(2, 0, 20)
	for _, c := range []struct {
		why    string
		ttl    time.Duration
		marks  []lease.Mark
		probes []lease.Op
		told   bool
	}{
		{why: "nothing fails", probes: well, told: true},
		{why: "one master fails", probes: well, marks: []lease.Mark{marked("master 1", "freeze", 0, 9)}, told: true},
		{why: "two masters fail", probes: well, marks: []lease.Mark{marked("master 1", "freeze", 0, 9), marked("master 2", "cut", 4, 5)}},
		{why: "one master fails twice at a time", probes: well, marks: []lease.Mark{marked("master 1", "freeze", 0, 9), marked("master 1", "cut", 4, 5)}, told: true},
		{why: "two failed long before", probes: well, marks: []lease.Mark{marked("master 1", "freeze", 0, 1), marked("master 2", "cut", 0, 1)}, told: true},
		{why: "what they left may be there still", probes: well, ttl: longHold, marks: []lease.Mark{marked("master 1", "freeze", 0, 1), marked("master 2", "cut", 0, 1)}},
		{why: "they are not yet known again", probes: well, marks: []lease.Mark{marked("master 1", "kill", 0, 1), marked("master 2", "kill", 0, 1)}},
		{why: "its proxy is frozen", probes: well, marks: []lease.Mark{marked("proxy 2", "proxy-freeze", 3, 5)}},
		{why: "another proxy is", probes: well, marks: []lease.Mark{marked("proxy 1", "proxy-freeze", 3, 5)}, told: true},
		{why: "it is frozen itself", probes: well, marks: []lease.Mark{marked("clients 4", "client-freeze", 3, 5)}},
		{why: "others are", probes: well, marks: []lease.Mark{marked("clients 3", "client-freeze", 3, 5)}, told: true},
		{why: "nobody is served there", probes: slices.Concat(served(2, 0, 4), served(2, 5, 20), served(3, 0, 20))},
		{why: "nobody was served before", probes: served(2, 3, 20), told: true},
	} {
		op := lease.Op{Client: 4*processSpan + 1, Proxy: 2, Key: "k", Token: "t", Kind: lease.Acquire, Outcome: lease.No, TTL: max(c.ttl, shortHold), Call: second(3), Return: second(6)}
		j := judge(&played{masters: 3, proxies: 4, marks: c.marks, history: history{Waits: []lease.Op{op}, Probes: c.probes}})
		if got := strings.Contains(strings.Join(j.complaints(), "\n"), "while nobody had it"); got != c.told {
			t.Errorf("%s: %t, %v", c.why, got, j.complaints())
		}
	}
}

// Of what waiters hold no two may have it either.
func TestTwoWhoHaveWaitedForOneLockAreFound(t *testing.T) {
	op := func(token string, call, back float64) lease.Op {
		return lease.Op{Key: "k", Token: token, Kind: lease.Acquire, Outcome: lease.Yes, TTL: longHold, Call: second(call), Return: second(back)}
	}
	j := judge(&played{masters: 3, history: history{Waits: []lease.Op{op("a", 1, 1.1), op("b", 1, 2)}}})
	if len(j.doubles) != 1 || j.verdict.Result != "Illegal" {
		t.Errorf("%v, %v", j.doubles, j.verdict.Result)
	}
}
