package engine

import (
	"errors"
	"time"

	"github.com/redis/rueidis"

	"redlock-proxy/quorum"
	"redlock-proxy/quorum/marker"
)

// A server can be reconfigured while connections to it are open. So once a probe-interval
// a batch of database 0, or of each other one while that is not there, asks what the gate
// asks, behind all else: no vote of a batch counts that is found to have lost keys, or to be
// unfit, at its end.

var askInfo = rueidis.Builder{}.Arbitrary("INFO").Build().Pin()

// askRights are rights. They are asked for as well, and also by a batch behind one in which
// something was refused: that may have been for the key, or the script, that a client names.
var askRights = func() (calls []rueidis.Completed) {
	for _, argv := range rights {
		calls = append(calls, rueidis.Builder{}.Arbitrary(argv...).Build().Pin())
	}
	return calls
}()

// looks tells that it is time for the next batch to do so.
func (l *lane) looks() bool {
	now := l.engine.boot()
	if l.looksElsewhere() || now-l.looked < l.engine.ProbeInterval {
		return false
	}
	l.looked = now
	return true
}

// looksElsewhere tells that the lane of database 0 does so. A master that it cannot reach any
// more, as one that has a new password, may be there on older connections.
func (l *lane) looksElsewhere() bool {
	if l.master.db == 0 {
		return false
	}
	root := l.engine.root.lanes[l.index]
	root.mu.Lock()
	defer root.mu.Unlock()
	return root.open
}

// hears takes in what a batch that looks was told. A master that lost keys by its own word
// is to be examined; one that is unfit by now is given up.
func (l *lane) hears(link *link, b *batch) error {
	heard := b.answers
	if b.looks {
		last := len(heard) - 1
		if err := link.hear(link.read(heard[last], &b.cost)); err != nil {
			return err
		}
		heard = heard[:last]
	}
	if b.asks {
		last := len(heard) - 1
		l.hearsStandings(link.read(heard[last], &b.cost), b.proof.clock.Sent)
		heard = heard[:last]
	}
	if b.tries {
		answers := make([]answer, len(rights))
		for i, a := range heard[len(heard)-len(rights):] {
			answers[i] = link.read(a, &b.cost)
		}
		if err := lacks(answers); err != nil {
			return err
		}
	}
	l.doubt = l.doubt || b.looks && l.known.Since(link.who) != ""
	return nil
}

// hear takes in what INFO said, as far as it can have changed since the gate.
func (l *link) hear(a answer) error {
	switch {
	case a.kind == quorum.FailureReply:
		return errors.New(a.str)
	case a.kind != quorum.BulkReply:
		return errGarbage
	}
	now, err := readInfo(a.str)
	switch {
	case err != nil:
		return err
	case now.RunID != l.who.RunID:
		return errors.New("it names another run_id than at the gate")
	}
	l.who.Evicted, l.who.Replication, l.who.Continued = now.Evicted, now.Replication, now.Continued
	l.who.Anew, l.who.Rewrites = now.Anew, now.Rewrites
	return nil
}

// look asks at once.
func (l *link) look() error {
	a, _, err := l.do("INFO")
	if err != nil {
		return err
	}
	return l.hear(a)
}

// inspect keeps what the master's marker says up to date, once a probe-interval: of one
// that votes whether its writes are durable, and of one in quarantine how long that has
// lasted. The nonce stays, so that nobody's proof fails for it.
func (l *lane) inspect(link *link) error {
	if !l.inspects() || l.doubt {
		return nil
	}
	now := l.engine.boot()
	l.inspected = now
	durable, log := l.known.Durable, marker.NewInstallation() // of one that begins
	if l.master.db != 0 {
		if err := l.stillLogs(link); err != nil {
			return err
		}
		durable, log = l.engine.root.lanes[l.index].writesLog(l.known)
	} else if durable || link.who.Durable {
		var err error
		if durable, err = link.durable(); err != nil {
			return err
		}
		link.who.Durable = durable
		durable = link.who.Logs()
	}
	if l.master.db == 0 && (!durable || l.known.Nonce.Provisional() && link.who.Rewrites != l.rewrites) {
		// The others are told even if this marker is provisional, or cannot be written: a master
		// without memory refuses that.
		l.writes(marker.Marker{})
	}
	update := func(m marker.Marker) marker.Marker {
		if m.Nonce.Provisional() {
			m.Elapsed = max(m.Elapsed, l.lasted(now).Milliseconds())
		} else if m.Durable != durable || m.DB > 0 && m.Durable && m.DiskLog() != log || m.DB == 0 && durable && m.Rewrites != link.who.Rewrites {
			if m.Durable, m.Log, m.Rewrites = durable, log, link.who.Rewrites; !durable {
				m.Log = ""
			}
		}
		if m.DB == marker.NotTold {
			m.DB = l.master.db
		}
		if m.DB == 0 || m.Evicted == marker.NotTold { // it alone is told all the time
			m.Evicted, m.Replication = link.who.Evicted, link.who.Replication
		}
		if m.DB == 0 {
			m.Others = l.engine.logsBeside(l, m.Others)
		}
		return m
	}
	if update(l.known).String() == l.known.String() {
		if durable && !l.known.Nonce.Provisional() {
			l.writes(l.known)
		}
		return nil
	}
	// Another proxy may have brought it up to date in another regard.
	a, _, err := link.do("GET", quorum.MarkerKey)
	if err != nil {
		return err
	}
	was, err := marker.Parse(a.str)
	if err != nil || was.Nonce != l.known.Nonce {
		l.doubt = true
		return nil
	}
	next := update(was)
	for name, told := range was.Others {
		if m := next.Others; m != nil && told != l.known.Others[name] && m[name] != marker.NoLog {
			m[name] = told // by another proxy, since: what this one knows is told at the next look
		}
	}
	b, _, err := link.do(markScript.eval(quorum.MarkerKey, a.str, next.String())...)
	if err != nil {
		return err
	}
	if l.known = was; b.str == next.String() {
		l.known = next
	}
	if durable && l.known.Durable && !l.known.Nonce.Provisional() {
		l.writes(l.known)
	}
	return nil
}

// inspects tells that it is time to.
func (l *lane) inspects() bool {
	return !l.engine.alone() && l.known.Nonce != "" && l.engine.boot()-l.inspected >= l.engine.ProbeInterval
}

// lasted is how long the present quarantine has lasted.
func (l *lane) lasted(now time.Duration) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ward == nil {
		return 0
	}
	return l.ward.lasted(now)
}

// durable asks the master whether every write is on disk before it is answered.
func (l *link) durable() (bool, error) {
	var calls []rueidis.Completed
	for _, name := range durability {
		calls = append(calls, l.client.B().Arbitrary("CONFIG", "GET", name[0]).Build())
	}
	replies, _, err := l.exchange(calls)
	if err != nil {
		return false, err
	}
	return isDurable(l.readAll(replies)), nil
}
