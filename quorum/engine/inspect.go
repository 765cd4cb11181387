package engine

import (
	"time"

	"github.com/redis/rueidis"

	"redlock-proxy/quorum"
	"redlock-proxy/quorum/decide"
	"redlock-proxy/quorum/marker"
	"redlock-proxy/quorum/master"
)

// A server can be reconfigured while connections to it are open. So once a probe-interval
// a batch of database 0, or of each other one while that is not there, asks what the gate
// asks, behind all else: no vote of a batch counts that is found to have lost keys, or to be
// unfit, at its end.

// askRights are rights. They are asked for as well, and also by a batch behind one in which
// something was refused: that may have been for the key, or the script, that a client names.
var askRights = func() (calls []rueidis.Completed) {
	for _, argv := range rights {
		calls = append(calls, rueidis.Builder{}.Arbitrary(argv...).Build().Pin())
	}
	return calls
}()

// looks tells that it is time for the next batch to do so, by our clock.
func (k *keeper) looks(now time.Duration) bool {
	if k.looksElsewhere() || now-k.looked < k.db.ProbeInterval {
		return false
	}
	k.looked = now
	return true
}

// looksElsewhere tells that the lane of database 0 does so. A master that it cannot reach any
// more, as one that has a new password, may be there on older connections.
func (k *keeper) looksElsewhere() bool {
	if k.master.DB == 0 {
		return false
	}
	zero := k.db.engine.zero.lanes[k.index]
	zero.mu.Lock()
	defer zero.mu.Unlock()
	return zero.open
}

// hears takes in what a batch that looks was told. A master that lost keys by its own word
// is to be examined; one that is unfit by now is given up.
func (k *keeper) hears(link *master.Link, b *batch) error {
	last := len(b.answers) - 1
	if b.looks {
		if err := link.TakeInfo(b.read(last)); err != nil {
			return err
		}
		last--
	}
	if b.asks {
		k.hearsElsewhere(b.read(last), b.proof.Clock.Sent)
		last--
	}
	if b.tries {
		answers := make([]decide.Answer, len(rights))
		for i := range answers {
			answers[i] = b.read(last + 1 - len(rights) + i)
		}
		if err := master.MissingRight(answers); err != nil {
			return err
		}
	}
	k.doubt = k.doubt || b.looks && k.known.Since(link.Who) != ""
	return nil
}

// inspect keeps what the master's marker says up to date, once a probe-interval: of one
// that votes whether its writes are durable, and of one in quarantine how long that has
// lasted. The nonce stays, so that nobody's proof fails for it.
func (k *keeper) inspect(link *master.Link) error {
	now := k.db.Boot()
	if !k.inspects(now) || k.doubt {
		return nil
	}
	k.inspected = now
	durable, log, err := k.logsStill(link)
	if err != nil {
		return err
	}
	if k.master.DB == 0 && (!durable || k.known.Nonce.Provisional() && link.Who.Rewrites != k.rewrites) {
		// The others are told even if this marker is provisional, or cannot be written: a master
		// without memory refuses that.
		k.writes(marker.Marker{})
	}
	update := func(m marker.Marker) marker.Marker { return k.upToDate(m, link.Who, durable, log, now) }
	if update(k.known).String() != k.known.String() {
		if err := k.replace(link, update); err != nil || k.doubt {
			return err
		}
		durable = durable && k.known.Durable
	}
	if durable && !k.known.Nonce.Provisional() {
		k.writes(k.known)
	}
	return nil
}

// logsStill tells whether the master's writes are durable now, and what a log is called that
// begins.
func (k *keeper) logsStill(link *master.Link) (durable bool, log string, err error) {
	durable, log = k.known.Durable, marker.NewInstallation()
	if k.master.DB != 0 {
		if err := k.stillLogs(link); err != nil {
			return false, "", err
		}
		durable, log = k.db.engine.zero.lanes[k.index].writesLog(k.known)
	} else if durable || link.Who.Durable {
		if durable, err = link.Durable(); err != nil {
			return false, "", err
		}
		link.Who.Durable = durable
		durable = link.Who.Logs()
	}
	return durable, log, nil
}

// upToDate is a marker as it is to be.
func (k *keeper) upToDate(m marker.Marker, who marker.Identity, durable bool, log string, now time.Duration) marker.Marker {
	if m.Nonce.Provisional() {
		m.Elapsed = max(m.Elapsed, k.lasted(now).Milliseconds())
	} else if m.Durable != durable || m.DB > 0 && m.Durable && m.DiskLog() != log || m.DB == 0 && durable && m.Rewrites != who.Rewrites {
		if m.Durable, m.Log, m.Rewrites = durable, log, who.Rewrites; !durable {
			m.Log = ""
		}
	}
	if m.DB == marker.NotTold {
		m.DB = k.master.DB
	}
	if m.DB == 0 || m.Evicted == marker.NotTold { // it alone is told all the time
		m.Evicted, m.Replication = who.Evicted, who.Replication
	}
	if m.DB == 0 {
		m.Others = k.db.logsBeside(k.lane, m.Others)
	}
	return m
}

// replace writes the marker as it is to be in the place of the one that stands, which another
// proxy may have brought up to date in another regard. If it is another one by now, the master
// is in doubt.
func (k *keeper) replace(link *master.Link, update func(marker.Marker) marker.Marker) error {
	a, _, err := link.Do("GET", quorum.MarkerKey)
	if err != nil {
		return err
	}
	was, err := marker.Parse(a.Str)
	if err != nil || was.Nonce != k.known.Nonce {
		k.doubt = true
		return nil
	}
	next := update(was)
	for name, told := range was.Others {
		if m := next.Others; m != nil && told != k.known.Others[name] && m[name] != marker.NoLog {
			m[name] = told // by another proxy, since: what this one knows is told at the next look
		}
	}
	b, _, err := link.Do(master.MarkScript.Eval(quorum.MarkerKey, a.Str, next.String())...)
	if err != nil {
		return err
	}
	if k.known = was; b.Str == next.String() {
		k.known = next
	}
	return nil
}

// inspects tells that it is time to, by our clock.
func (k *keeper) inspects(now time.Duration) bool {
	return !k.db.alone() && k.known.Nonce != "" && now-k.inspected >= k.db.ProbeInterval
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
