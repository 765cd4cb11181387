package engine

import (
	"context"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"redlock-proxy/quorum/catchup"
	"redlock-proxy/quorum/clock"
	"redlock-proxy/quorum/marker"
	"redlock-proxy/quorum/master"
)

// quarantine is the time in which a master that may have lost keys votes on
// nothing: until every lock that it could have voted for has run out, or until it
// holds again what the others hold.
//
// Why a master that lost its keys must not vote:
//
//	1: A wins k on masters 1 2 3
//	2: master 3 crashes and comes back blank
//	3: B asks for k; 3 grants, and so do 4 and 5
type quarantine struct {
	nonce     marker.Nonce
	firstSeen time.Duration // by our clock, when this proxy first saw it
	elapsed   time.Duration // how long it had lasted by then
	first     string        // installation, if the marker is a first one
	cancel    context.CancelFunc

	told     bool              // that the master is catching up; the lane's mutex guards it
	catching atomic.Bool       // the master is being given what it lost
	over     atomic.Bool       // the master may be admitted
	waited   atomic.Bool       // it has lasted as long as any can
	others   map[string]string // logs, as its sources tell; the lane's mutex guards them
	forbade  []string          // masters of which it was told that they forbid keys; who catches up guards them
	released catchup.Released  // while it catches up
	progress catchup.Progress
}

// lasted is how long the quarantine has lasted by now, as proxies have seen it.
func (q *quarantine) lasted(now time.Duration) time.Duration { return q.elapsed + now - q.firstSeen }

// firstRepeat is how long after a catch-up that failed the next one begins: what made
// it fail is often over by then. Each later pause is twice as long, and none is shorter
// than the catch-up was, nor longer than the probe interval.
const firstRepeat = 50 * time.Millisecond

// A catch-up that has given all but what cannot be given is mostly as much in vain the next
// time, and as much of a load to the masters: one key that is too long lasts as long as it lives.
// So the next one begins when ungivenRest times as much time has passed as it took, but no
// later than in a part of the whole quarantine, ungivenPart: the key may go meanwhile.
const (
	ungivenRest = 15
	ungivenPart = 8
)

// quarantine begins or goes on with the quarantine that marker m tells of.
func (l *lane) quarantine(ctx context.Context, m marker.Marker) {
	l.mu.Lock()
	q := l.ward
	l.mu.Unlock()
	if q == nil || q.nonce != m.Nonce {
		until, cancel := context.WithCancel(ctx)
		q = &quarantine{
			nonce:     m.Nonce,
			firstSeen: l.db.Boot(),
			elapsed:   time.Duration(m.Elapsed) * time.Millisecond,
			cancel:    cancel,
		}
		if m.First {
			q.first = m.Installation
		}
		l.quarantines.Add(1)
		l.db.wait.Go(func() { l.recover(until, q) })
	}
	l.withhold(q, m.Why)
}

// endQuarantine ends the present quarantine, if there is one. mu is held.
func (l *lane) endQuarantine() {
	if l.ward != nil {
		l.ward.cancel()
		l.ward = nil
	}
}

// admitted tells that the quarantine under this nonce is over.
func (l *lane) admitted(n marker.Nonce) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.ward != nil && l.ward.nonce == n && l.ward.over.Load()
}

// recover waits until a quarantined master may be admitted, and has the lane do
// so. It ends when the quarantine does.
func (l *lane) recover(ctx context.Context, q *quarantine) {
	db := l.db
	clock.Pause(ctx, db.Hush())
	for wait := firstRepeat; ctx.Err() == nil; wait *= 2 {
		left := db.QuarantineTime() - q.lasted(db.Boot())
		began := time.Now()
		err := db.catchUp(ctx, l, q, left <= 0)
		l.catchUpKeys.Add(uint64(q.progress.Copied.Load()))
		if err == nil {
			l.catchUps.Add(1)
		} else {
			l.catching(q, false)
		}
		lonely := err != nil && left <= 0 && q.first != "" && !l.keeper.complete(ctx, q.first)
		switch {
		case ctx.Err() != nil:
			return
		case lonely:
			l.log.Debug("first master cannot be admitted yet: the others do not all bear its installation")
			clock.Pause(ctx, db.ProbeInterval/4)
			continue
		case err == nil, left <= 0:
			if err == nil {
				l.log.Info("master has caught up", "keys", q.progress.Copied.Load(), "sources", q.progress.Sources.Load(), "took", time.Since(began).Round(time.Millisecond))
			} else if q.first != "" {
				l.log.Info("first master is admitted since its quarantine is over")
			} else {
				l.log.Warn("master is admitted since its quarantine is over; it could not be given the locks that outlive max-ttl", "reason", err)
			}
			q.waited.Store(left <= 0)
			q.over.Store(true)
			l.queue.rouseNow()
			return
		}
		l.log.Debug("master cannot be admitted yet", "reason", err, "left", left.Round(time.Second))
		took := time.Since(began)
		wait = min(max(wait, took), db.ProbeInterval)
		rest := wait
		if catchup.Ungiven(err) {
			rest = max(rest, min(ungivenRest*took, db.QuarantineTime()/ungivenPart))
		}
		clock.Pause(ctx, max(min(rest, left), time.Millisecond))
	}
}

// catchUp gives the master of a lane, quarantined by q, what it lost; see catchup.Run. last is that
// the quarantine is over.
func (db *database) catchUp(ctx context.Context, l *lane, q *quarantine, last bool) error {
	t := catchup.Target{
		Source:   catchup.Source{Master: &l.master, Nonce: q.nonce, Changed: l.queue.rouseNow},
		Needed:   catchup.Needed(len(db.lanes)),
		Last:     last,
		Lease:    db.name + "/" + newName(),
		Rivals:   db.name + "/", // what another proxy does is ended when the quarantine is over
		Ends:     q.firstSeen - q.elapsed + db.QuarantineTime(),
		Released: &q.released,
		Progress: &q.progress,
		Begins: func(logs map[string]string) {
			l.catching(q, true)
			l.hearLogs(q, logs)
		},
		Disputes: db.mendSome,
		Forbids:  func(m catchup.Source, keys int, one string) { l.tellForbidden(q, m.Master, keys, one) },
	}
	if last {
		t.Rivals = ""
	}
	return catchup.Run(ctx, t, db.sources(l), catchup.TimesOf(&db.Set))
}

// maxExample bounds the bytes that are told of a key.
const maxExample = 60

// tellForbidden tells once in a quarantine that a master forbids keys.
func (l *lane) tellForbidden(q *quarantine, m *master.Master, keys int, one string) {
	if slices.Contains(q.forbade, m.Name) {
		return
	}
	q.forbade = append(q.forbade, m.Name)
	one = strings.ToValidUTF8(one[:min(len(one), maxExample)], "?")
	l.db.log.Warn("master does not let its user touch keys that it or another one holds: it votes on none of them", "master", m.Name, "database", m.DB, "keys", keys, "one", one)
}

// catching notes that the master is being given what it lost, or no more.
func (l *lane) catching(q *quarantine, on bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	q.catching.Store(on)
	if l.ward == q {
		l.show()
	}
}

// rouseNow has the lane send a batch, be it an empty one.
func (q *queue) rouseNow() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.rouse()
}

// source is the lane's master as a catch-up may read it, if it remembers. mu is held.
func (l *lane) source() catchup.Source {
	return catchup.Source{Master: &l.master, Nonce: l.nonce, Clock: l.sighted(), Changed: l.queue.rouseNow}
}

// quarantined tells that the master's quarantine lasts.
func (l *lane) quarantined() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.ward != nil
}

// sources are the masters that remember, but for one. A drained master does: that
// it is asked for no votes takes nothing from what it holds.
func (db *database) sources(target *lane) (list []catchup.Source) {
	for _, l := range db.lanes {
		if s, votes := l.asSource(); l != target && votes {
			list = append(list, s)
		}
	}
	return list
}
