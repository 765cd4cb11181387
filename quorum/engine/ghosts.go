package engine

import (
	"context"
	"errors"

	"redlock-proxy/quorum/catchup"
	"redlock-proxy/quorum/clock"
	"redlock-proxy/quorum/marker"
)

// layGhosts frees the lane's master, which votes again under nonce n, of its ghosts. It
// begins when every proxy knows that the master votes, and sends it what ends a lock; it
// tries until all of it was done under one nonce, for what has no ttl waits as long as the
// others are away.
// A proxy that has not admitted the master itself leaves it to who has, for so long that
// this is done by then, or whoever it was has ended.
func (l *lane) layGhosts(ctx context.Context, n marker.Nonce, own bool) {
	db := l.db
	if !own {
		clock.Pause(ctx, 4*db.ProbeInterval+db.Apart())
	}
	wait := db.ProbeInterval
	for clock.Pause(ctx, wait+db.Hush()); ctx.Err() == nil; clock.Pause(ctx, wait) {
		target, votes := l.asSource()
		if !votes {
			if l.quarantined() {
				return // it is given everything anew, and looked at afterwards
			}
			continue
		}
		if target.Nonce != n {
			return // so it was, or another marker says that it is to be
		}
		n, err := catchup.Lay(ctx, target, db.sources(l), len(db.lanes), catchup.TimesOf(&db.Set))
		if n > 0 {
			l.undos.Add(uint64(n))
			l.log.Info("master is freed of keys that nobody holds", "keys", n)
		}
		switch {
		case err == nil:
			return
		case errors.Is(err, catchup.ErrDisputed), catchup.LacksRight(err):
			wait = min(2*wait, db.QuarantineTime()) // every key is looked at anew
		default:
			wait = db.ProbeInterval
		}
		l.cannotLook(err)
	}
}

// asSource is the lane's master as it votes, if it does.
func (l *lane) asSource() (s catchup.Source, votes bool) {
	s, _, _, votes = l.onLink()
	return s, votes
}

// cannotLook says why the lane's master was not freed of ghosts. What does not end by itself
// is a warning, once.
func (l *lane) cannotLook(why error) {
	if catchup.LacksRight(why) {
		l.barred.Do(func() { l.log.Warn("master keeps what nobody holds: its user lacks a right", "reason", why) })
	}
	l.log.Debug("master cannot be looked at beside the others yet", "reason", why)
}
