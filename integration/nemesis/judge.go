package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/anishathalye/porcupine"

	"redlock-proxy/integration/nemesis/cached"
	"redlock-proxy/integration/nemesis/lease"
	"redlock-proxy/integration/nemesis/queue"
)

// judged is what is to be said of a round.
type judged struct {
	*played
	verdict lease.Verdict
	doubles []lease.Double
	clashes []lease.Clash
	lost    []lease.Op
	asleep  []lease.Sleep
	watched time.Duration // the waits that were judged
	service lease.Service
	queues  queue.Verdict
	caches  cached.Verdict
	strange []string // answers that no client should be given
}

// mayBeTold tells that a client may be given that answer, or none, where nothing is known:
// there was no quorum, or, beside a master or a proxy that stood still, none in time.
func mayBeTold(text string) bool {
	return text == lostConnection || strings.HasPrefix(text, "NOQUORUM ") || strings.HasPrefix(text, "ERR the ttl is too short: ")
}

func judge(r *played) *judged {
	j := &judged{
		played:  r,
		verdict: lease.Check(slices.Concat(r.history.Ops, r.history.Waits), 10*time.Minute),
		doubles: lease.Doubles(slices.Concat(r.history.Ops, r.history.Waits)),
		clashes: lease.Clashes(r.history.Updates),
		lost:    lease.Lost(r.history.Ops),
		service: lease.Served(r.history.Probes, r.from, r.to),
	}
	j.asleep, j.watched = r.asleep()
	j.caches = r.cached()
	j.queues = queue.Judge(r.history.Queues, r.stands)
	for _, op := range r.history.Queues {
		if op.Outcome == lease.Unknown && op.Kind != queue.Drain && !mayBeTold(op.Heard) {
			j.strange = append(j.strange, op.String())
		}
	}
	for _, op := range r.history.Cached {
		if op.Outcome == lease.Unknown && !mayBeTold(op.Heard) {
			j.strange = append(j.strange, op.String())
		}
	}
	for _, op := range slices.Concat(r.history.Ops, r.history.Waits, r.history.Probes) {
		if op.Outcome == lease.Unknown && !mayBeTold(op.Heard) {
			j.strange = append(j.strange, op.String())
		}
	}
	// A key that nobody else wants cannot be another's.
	for _, op := range r.history.Probes {
		if op.Kind == lease.Acquire && op.Outcome == lease.No {
			j.strange = append(j.strange, op.String())
		}
	}
	return j
}

// twice counts the proofs of two holders, each of its own kind: what the times
// show, what the guarded files show, and what the model refuses besides.
func (j *judged) twice() int {
	n := max(len(j.doubles), len(j.clashes))
	if n == 0 && j.verdict.Result == porcupine.Illegal {
		n = 1
	}
	return n
}

// complaints is everything that is wrong, in words.
func (j *judged) complaints() []string {
	var all []string
	switch j.verdict.Result {
	case porcupine.Illegal:
		all = append(all, "no lock that has one holder at a time can have given this history")
	case porcupine.Unknown:
		all = append(all, "the history was too long to be checked")
	}
	for _, d := range j.doubles {
		all = append(all, d.String())
	}
	for _, c := range j.clashes {
		all = append(all, c.String())
	}
	for _, s := range j.asleep {
		all = append(all, s.String())
	}
	for _, s := range j.strange {
		all = append(all, "a client was told: "+s)
	}
	all = append(all, some(j.queues.Invented)...)
	all = append(all, some(j.caches.Behind)...)
	if !j.mayLose() {
		all = append(all, some(j.caches.Stale)...)
		all = append(all, some(j.caches.Old)...)
		all = append(all, some(j.queues.Twice)...)
		all = append(all, some(j.queues.Lost)...)
	}
	if !j.served() && j.hands < quorum(j.masters) {
		all = append(all, nobodyServed)
	}
	return all
}

// some leaves out what would be too much to read.
func some(all []string) []string {
	const most = 5
	if len(all) <= most {
		return all
	}
	return append(slices.Clone(all[:most]), fmt.Sprintf("and %d more such", len(all)-most))
}

// nobodyServed is what is wrong with a round in which no more than a minority of the masters
// was struck at a time, or with many others.
const nobodyServed = "nobody ever had a lock, or an element"

// mayLose tells that a master forgot, and that with it as many were struck in the round as
// may hold what a quorum had: then what is no lock may be lost, or be there again.
func (r *played) mayLose() bool {
	var struck []string
	forgot := false
	for _, m := range r.marks {
		if strings.HasPrefix(m.Where, "master ") && !slices.Contains(struck, m.Where) {
			struck = append(struck, m.Where)
		}
		forgot = forgot || forgets(m.What)
	}
	return forgot && len(struck) > r.masters-quorum(r.masters)
}

// served tells that there was a service, so that it was judged at all.
func (j *judged) served() bool {
	locked := !j.does("locks") || j.service.Had > 0 && j.had() > 0
	return locked && (!j.does("queues") || j.queues.Popped > 0) && (!j.does("caches") || j.caches.Kept > 0)
}

func (p plan) does(name string) bool {
	return slices.ContainsFunc(p.works, func(w work) bool { return w.name == name })
}

// had counts the times that a contended lock was had.
func (j *judged) had() int { return j.count(lease.Acquire, lease.Yes) }

func (j *judged) count(k lease.Kind, o lease.Outcome) int { return count(j.history.Ops, k, o) }

// waited is for how long acquires did altogether.
func waited(ops []lease.Op) time.Duration {
	var sum time.Duration
	for _, op := range ops {
		if op.Kind == lease.Acquire {
			sum += op.Return.Since(op.Call)
		}
	}
	return sum.Round(time.Second)
}

func count(ops []lease.Op, k lease.Kind, o lease.Outcome) int {
	n := 0
	for _, op := range ops {
		if op.Kind == k && op.Outcome == o {
			n++
		}
	}
	return n
}

func (j *judged) String() string {
	s := fmt.Sprintf("%d faults", len(j.marks))
	if j.mayLose() {
		s += ", so that elements may be lost"
	}
	if j.does("locks") {
		s += j.aboutLocks()
	}
	if j.does("waiters") {
		s += fmt.Sprintf("; %d locks waited for, of %v %v watched, %d too long", count(j.history.Waits, lease.Acquire, lease.Yes), waited(j.history.Waits), j.watched.Round(time.Second), len(j.asleep))
	}
	if q := j.queues; j.does("queues") {
		s += fmt.Sprintf("; %d elements pushed, %d popped, %d gone with an answer, %d lost, %d twice, %d queues stuck",
			q.Pushed, q.Popped, q.Excused, len(q.Lost), len(q.Twice), len(q.Stuck))
	}
	if c := j.caches; j.does("caches") {
		s += fmt.Sprintf("; %d values written, %d read, %d still kept, %d of them stale, %d old ones read; %d kept in the end, %d of them wrong",
			c.Written, c.Read, c.Kept, len(c.Stale), len(c.Old), c.Settled, len(c.Behind))
	}
	return s
}

func (j *judged) aboutLocks() string {
	return fmt.Sprintf("; %d acquires granted, %d refused, %d unknown; %d extensions; %d guarded updates, %d of them late; "+
		"%d double holders; %d locks lost; longest without service %v; p99 %v",
		j.had(), j.count(lease.Acquire, lease.No), j.count(lease.Acquire, lease.Unknown),
		j.count(lease.Extend, lease.Yes), len(j.history.Updates), lease.Late(j.history.Updates),
		j.twice(), len(j.lost), j.service.Longest.Round(time.Millisecond), j.service.P99.Round(100*time.Microsecond))
}
