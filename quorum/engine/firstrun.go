package engine

import (
	"context"
	"errors"
	"fmt"
	"time"

	"redlock-proxy/quorum"
	"redlock-proxy/quorum/clock"
	"redlock-proxy/quorum/marker"
	"redlock-proxy/quorum/master"
)

// How lanes carry out a first start: each writes to its own master what is decided by
// the sights of all; see marker.Sight.

// see notes what the lane knows of its master's marker.
func (l *lane) see(s marker.Sight) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.sight = s
}

// sights are what is known of all masters now.
func (db *database) sights() []marker.Sight {
	list := make([]marker.Sight, len(db.lanes))
	for i, l := range db.lanes {
		there := db.claimed(i) != ""
		l.mu.Lock()
		if there && l.open {
			list[i] = l.sight
		}
		l.mu.Unlock()
	}
	return list
}

// anotherVotes tells that another master than this one is known to vote, in any database.
func (k *keeper) anotherVotes() bool {
	for _, db := range []*database{k.db, k.db.engine.zero} {
		for i, s := range db.sights() {
			if i != k.index && s.Votes {
				return true
			}
		}
	}
	return false
}

// firstMarker is a first marker, but for its nonce.
func (k *keeper) firstMarker(link *master.Link, installation string) marker.Marker {
	m := k.markerOf(link, installation, marker.NewInstallation())
	m.First, m.Why = true, "it was marked while no master could vote: a new set, or all was lost"
	return m
}

// whyHoldsKeys begins the reason why a master that holds keys is not marked: the number of
// their database follows.
const whyHoldsKeys = "it has no marker and holds keys in database "

// whyUnmarked is why a master of a set is kept out that bore no marker.
const whyUnmarked = "its marker is gone, and no master votes"

// markFirst marks a master that bears no marker and has no part in any installation yet, if
// it is its turn.
func (k *keeper) markFirst(link *master.Link) (marker.Verdict, error) {
	db := k.db
	known := !db.engine.installation.unproven() // it has had a part in the installation that we know
	if !db.FirstStart && !known {
		k.withhold(nil, "it has no marker: run redlock-proxy bootstrap with the same options, as first-start is no")
		return marker.Unmarked, nil
	}
	installation := db.engine.installation.name()
	if installation == "" && !db.isZero() {
		k.withhold(nil, "it has no marker")
		return marker.Unmarked, nil // database 0 begins
	}
	sights := db.sights()
	may, waits := marker.MayMark(sights, db.Names(), k.index, installation)
	if !may {
		k.withhold(nil, "it has no marker"+db.givenOne(sights, waits))
		return marker.Unmarked, nil
	}
	if known {
		next := k.firstMarker(link, installation)
		next.Why = whyUnmarked
		defer db.rouseAll()
		return 0, k.markAll(link, "", next, installation, link.Who.RunID)
	}
	if installation == "" {
		installation = marker.NewInstallation()
	}
	return k.markNew(link, installation)
}

// markNew marks a master that has no part in any installation in all databases, as one that
// waits for the others. Where it holds keys, or a marker, in any of them it does not.
func (k *keeper) markNew(link *master.Link, installation string) (marker.Verdict, error) {
	db := k.db
	first := k.firstMarker(link, installation)
	args := make([]string, quorum.Databases)
	for db := range args {
		first.Nonce, first.DB = marker.NewNonce(true), db
		args[db] = first.String()
	}
	a, p, err := link.Do(master.FirstScript.Eval(quorum.MarkerKey, args...)...)
	switch {
	case err != nil:
		return 0, err
	case a.Kind == quorum.FailureReply:
		return 0, errors.New(a.Str)
	case a.Kind == quorum.IntegerReply:
		k.tick(p)
		k.settleJump(p.Clock)
		k.untold = false
		k.wrote = first.Loss
		k.log.Warn("master bore no marker, as a new one or one that lost everything: it is marked, and may vote when all are and locks of before have ended", "after", db.FirstTime())
		db.learn(installation, "")
		db.rouseAll()
		return 0, nil
	case len(a.Elems) != 2:
		return 0, master.ErrGarbage
	case a.Elems[1].Str == "":
		k.withhold(nil, fmt.Sprintf(whyHoldsKeys+"%d, so that it is no new master: if it is to be one all the same, run redlock-proxy bootstrap with the same options", a.Elems[0].Int))
		return marker.Unmarked, nil
	}
	m, err := marker.Parse(a.Elems[1].Str)
	if err == nil && !m.Terms.Equal(db.engine.installation.terms) {
		err = &marker.OtherTerms{Theirs: m, Ours: db.engine.installation.terms, Name: k.master.Name}
	}
	if err != nil {
		return 0, fmt.Errorf("database %d: %w", a.Elems[0].Int, err)
	}
	// It has a part in an installation already, but for this database.
	if !db.learn(m.Installation, m.From) {
		k.withhold(nil, "it has no marker here, and another installation's elsewhere")
		return marker.Unmarked, nil
	}
	next := k.firstMarker(link, m.Installation)
	next.Why = whyUnmarked
	return 0, k.markAll(link, "", next, m.Installation, link.Who.RunID)
}

// join has a master whose marker is of another installation with the same terms be one
// of that which stands. One that votes is left alone.
func (k *keeper) join(link *master.Link, read marker.Nonce, m marker.Marker) (marker.Verdict, error) {
	db := k.db
	k.known = marker.Marker{}
	votes := !m.Nonce.Provisional() && m.RunID == link.Who.RunID
	k.see(marker.Sight{Reached: true, Nonce: m.Nonce, Installation: m.Installation, First: m.First, Votes: votes})
	ours := db.engine.installation.name()
	why := fmt.Sprintf("its marker is of installation %s, the other masters' is of %s", m.Installation, ours)
	if votes {
		why += fmt.Sprintf("; if nobody uses that, delete its key %s", quorum.MarkerKey)
	}
	k.withhold(nil, why)
	installation, vote := k.stands()
	switch {
	case installation == "":
	case installation != ours: // also where bootstrap has made that
		if db.engine.installation.adopt(installation) {
			db.rouseAll()
		}
		return 0, nil
	case db.FirstStart && !votes:
		next := k.firstMarker(link, installation)
		next.Why, next.First = "its marker was of another installation of the same masters", !vote
		return 0, k.markAll(link, read, next, m.Installation, "")
	}
	return marker.Foreign, nil
}

// stands is which installation this master should be of, as far as can be told. In other
// databases than 0 it is that which it is of there.
func (k *keeper) stands() (installation string, votes bool) {
	db := k.db
	if db.isZero() {
		return marker.Stands(db.sights(), db.Names())
	}
	if s := db.engine.zero.sights()[k.index]; s.Bears(db.engine.installation.name()) {
		return s.Installation, k.anotherVotes() || s.Votes
	}
	return "", false
}

// admit is the end of a quarantine that is over.
func (k *keeper) admit(link *master.Link, read marker.Nonce, m marker.Marker) error {
	next := k.markerOf(link, m.Installation, m.Loss)
	if m.RunID == next.RunID && m.Evicted != marker.NotTold {
		next.Evicted, next.Replication = m.Evicted, m.Replication
	}
	if k.master.DB == 0 {
		next.Others = k.db.logsBeside(k.lane, marker.MergeLogs(m.Others, k.toldLogs()))
		delete(next.Others, k.master.Name)
	}
	if !m.First || !k.waited(m.Nonce) {
		next.Ghosts, k.admits = true, next.Nonce
		return k.mark(link, read, next)
	}
	// What was written in one step has lasted equally long in all databases.
	args := []string{string(read), m.Loss}
	next.Was = read
	for db := range quorum.Databases {
		next.Nonce, next.DB = marker.NewNonce(false), db
		args = append(args, next.String())
	}
	a, p, err := link.Do(master.AdmitFirstScript.Eval(quorum.MarkerKey, args...)...)
	if err == nil && a.Kind == quorum.FailureReply {
		err = errors.New(a.Str)
	}
	if err == nil {
		k.tick(p)
	}
	return err
}

// waited tells that the quarantine under this nonce has lasted as long as any can.
func (l *lane) waited(n marker.Nonce) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.ward != nil && l.ward.nonce == n && l.ward.waited.Load()
}

// withdraw takes back a first marker that this lane has written, when the masters turn
// out to be of other terms.
func (k *keeper) withdraw(link *master.Link, m marker.Marker) error {
	if !m.First || m.Loss != k.wrote || !m.Nonce.Provisional() {
		return nil
	}
	a, _, err := link.Do(master.WithdrawFirstScript.Eval(quorum.MarkerKey, string(m.Nonce), m.Loss)...)
	if err == nil && a.Kind == quorum.FailureReply {
		err = errors.New(a.Str)
	}
	return err
}

// anotherVotesNow tells it of others that have been looked at anew.
func (k *keeper) anotherVotesNow(ctx context.Context) bool {
	db := k.db
	k.see(marker.Sight{Reached: true})
	began := db.Boot()
	for ; ctx.Err() == nil && db.Boot()-began < db.MasterTimeout && k.anotherVotes(); clock.Pause(ctx, db.MasterTimeout/100) {
		for i, s := range db.sights() {
			other := db.lanes[i]
			if other.queue.rouseNow(); other != k.lane && s.Votes && time.Duration(other.keeper.steady.Load()) > began {
				return true
			}
		}
	}
	return false
}

// complete tells, when a first master's quarantine is over, whether it may be admitted:
// all masters are looked at anew for that.
func (k *keeper) complete(ctx context.Context, installation string) bool {
	db := k.db
	if k.anotherVotes() {
		return true
	}
	one := db.sights()
	if !marker.Completes(one, one, k.index, installation) {
		return false
	}
	began := db.Boot()
	for _, other := range db.lanes {
		if other.lasted(began) < db.FirstTime() {
			return false
		}
	}
	for deadline := began + db.MasterTimeout; ctx.Err() == nil && db.Boot() < deadline; clock.Pause(ctx, db.MasterTimeout/50) {
		again := true
		for _, other := range db.lanes {
			other.queue.rouseNow()
			again = again && time.Duration(other.keeper.steady.Load()) > began
		}
		if again {
			return marker.Completes(one, db.sights(), k.index, installation)
		}
	}
	return false
}
