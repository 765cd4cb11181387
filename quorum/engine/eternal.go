package engine

import (
	"context"
	"errors"
	"time"

	"redlock-proxy/quorum/catchup"
	"redlock-proxy/quorum/clock"
)

// A key without a ttl never ends by itself. What is left of a lock that was released while
// its master was away is taken back when that is back, if whoever owes it is there by then
// and it was no longer than max-ttl: then the debt dies. Otherwise
//
//	1: A holds k, which has no ttl; 3 is cut off, and A releases k
//	2: max-ttl passes, or the proxy ends; 3 is back, and holds k
//	3: 1 crashes: nobody gets k of 2 and 3
//	4: 1 is back, and 2 forgets: it is given k by 3, and from then on nobody gets k of all
//
// So a master to which a proxy has been connected anew is looked at for ghosts without a
// ttl, see catchup.Lay, when the link has lasted as long as debts live: what anybody owed to
// it has been paid by then.
//
// More may be left there while the link lasts: the master is late with an
// unlock by a script, and the proxy that asked may have ended since. So it
// is looked at again each time that as much time has passed, or a minute where that is
// longer. What others are owed meanwhile
// is not paid at the same time:
//
//	1: A holds k on 1 and 2; a lost step has removed it from 2, which goes away
//	2: 2 is back, and this proxy's link to it is sooner there than that of the step's
//	3: were 1 looked at now, neither 2 nor 3 would hold k
//
// So what goes then is what nobody held the time before, either: whatever was owed by then
// has been paid, or is over.
//
// Each look reads all names and the values and ttls behind them from the master, slowly:
// it is kept busy by that for a tenth of the time at most, which is some seconds for
// 100,000 keys, by each proxy, once a max-ttl.

// freeOfEternal does so for the lane's master.
func (l *lane) freeOfEternal(ctx context.Context) {
	db := l.db
	var looked uint64  // as of which link
	var last time.Time // when
	var before catchup.Unheld
	for ; ctx.Err() == nil; clock.Pause(ctx, db.QuarantineTime()/4) {
		target, link, since, votes := l.onLink()
		rest := db.QuarantineTime()
		if link == looked {
			since, rest = last, max(rest, time.Minute)
		} else {
			before = nil
		}
		if !votes || time.Since(since) < rest {
			continue
		}
		n, seen, err := catchup.LayEternal(ctx, target, db.sources(l), len(db.lanes), catchup.TimesOf(&db.Set), before)
		if n > 0 {
			l.undos.Add(uint64(n))
			l.log.Info("master is freed of keys without a ttl that nobody holds", "keys", n)
		}
		if err == nil || errors.Is(err, catchup.ErrDisputed) || catchup.LacksRight(err) {
			looked, last, before = link, time.Now(), seen
		}
		if err != nil {
			l.cannotLook(err)
		}
	}
}

// onLink is asSource, and tells which connection to the master that is of, and since when it
// is open. It tells all of it as of one moment:
//
//	1: a link is about to open: the last one had for an hour
//	2: it is read since when it is open, and then it opens
//	3: it is read that the master votes: it would be looked at before debts are paid
func (l *lane) onLink() (s catchup.Source, link uint64, since time.Time, votes bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	ours := l.sight.Bears(l.db.engine.installation.name()) // or it is about to be looked at
	return l.source(), l.links, l.opened, l.open && !l.withheld && l.nonce != "" && ours
}
