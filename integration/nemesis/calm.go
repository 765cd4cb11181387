package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"redlock-proxy/integration/nemesis/cached"
	"redlock-proxy/integration/nemesis/lease"
)

// struck is when so many masters were struck that no quorum of others was left, each for
// as long after its fault as is told.
func (r *played) struck(after func(lease.Mark) time.Duration) []lease.Span {
	type step struct {
		at     lease.Instant
		master string
		by     int
	}
	var steps []step
	for _, m := range r.marks {
		if strings.HasPrefix(m.Where, "master ") {
			steps = append(steps, step{m.From, m.Where, 1}, step{m.To.After(after(m)), m.Where, -1})
		}
	}
	slices.SortStableFunc(steps, func(a, b step) int { return cmp.Compare(a.at, b.at) })
	faults := make(map[string]int)
	var spans []lease.Span
	var from lease.Instant
	for _, s := range steps {
		before := len(faults)
		if faults[s.master] += s.by; faults[s.master] == 0 {
			delete(faults, s.master)
		}
		switch most := r.masters - quorum(r.masters); {
		case before <= most && len(faults) > most:
			from = s.at
		case before > most && len(faults) <= most:
			spans = append(spans, lease.Span{From: from, To: s.at})
		}
	}
	return spans
}

// servedWithin is how long after another who asks for a lock that nobody has must be granted
// one, or there was no service in between.
const servedWithin = 300 * time.Millisecond

// unserved is when a proxy granted nothing to who asked it for locks that nobody had: it
// had no quorum then, or the machine no time.
func (r *played) unserved(proxy int) []lease.Span {
	var grants []lease.Instant
	for _, op := range r.history.Probes {
		if op.Proxy == proxy && op.Kind == lease.Acquire && op.Outcome == lease.Yes {
			grants = append(grants, op.Return)
		}
	}
	slices.Sort(grants)
	var spans []lease.Span
	last := r.from
	for _, g := range append(grants, forever) {
		if g.Since(last) > servedWithin {
			spans = append(spans, lease.Span{From: last, To: g})
		}
		last = g
	}
	return spans
}

// forever is later than whatever happens.
const forever = lease.Instant(1<<63 - 1)

// explained tells when what a client of a proxy met is explained by faults, and by what they
// leave for a time.
func (r *played) explained(left time.Duration) func(client, proxy int) []lease.Span {
	masters := r.struck(func(m lease.Mark) time.Duration {
		if forgets(m.What) {
			return knownAgain + left
		}
		return notice + left
	})
	unserved := make(map[int][]lease.Span)
	for proxy := range r.proxies {
		unserved[proxy] = r.unserved(proxy)
	}
	return func(client, proxy int) []lease.Span {
		spans := slices.Concat(masters, unserved[proxy])
		for _, m := range r.marks {
			if m.Where == fmt.Sprintf("proxy %d", proxy) || m.Where == fmt.Sprintf("clients %d", client/processSpan) {
				spans = append(spans, lease.Span{From: m.From, To: m.To.After(notice)})
			}
		}
		return spans
	}
}

// asleep is who has waited for a lock that was free. Of an attempt something may be left
// for its ttl.
func (r *played) asleep() ([]lease.Sleep, time.Duration) {
	short, long := r.explained(shortHold), r.explained(longHold)
	return lease.Asleep(r.history.Waits, sleepAtMost, func(op lease.Op) []lease.Span {
		if op.TTL <= shortHold {
			return short(op.Client, op.Proxy)
		}
		return long(op.Client, op.Proxy)
	})
}

// toldWithin is how long it may take until a client is told of a write through another proxy.
const toldWithin = time.Second

// cached is what is to be said of what clients kept.
func (r *played) cached() cached.Verdict {
	explained := r.explained(0)
	return cached.Judge(r.history.Cached, func(look cached.Op, of lease.Instant) bool {
		calm := lease.Span{From: of, To: look.Call}.Without(explained(look.Client, look.Proxy))
		return lease.Longest(calm) > toldWithin
	})
}
