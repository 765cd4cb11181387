package engine

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"sync"

	"redlock-proxy/quorum"
	"redlock-proxy/quorum/catchup"
	"redlock-proxy/quorum/clock"
	"redlock-proxy/quorum/marker"
	"redlock-proxy/quorum/master"
)

// A durable master is excused a new process, since its log holds all that it answered.
// That the log does so is only known of the marker in it, and one that was switched off
// keeps an old marker:
//
//	1: A wins k on masters 1 2 3, and on no disk: CONFIG SET appendonly no at 1 and 2
//	2: 1 and 2 crash, and read their logs of before, with markers that say durable
//	3: B asks for k; 1 and 2 grant
//
// Nor is one that is written anew always in the place of the old one:
//
//	1: CONFIG SET dir at 1, which goes on in the file that is open until BGREWRITEAOF
//	2: A wins k on 1 and 2, and 1 crashes, and reads the log in the directory of before
//
// So the markers of the others tell which log a master writes: the name of a stretch of
// time in which it was durable without a break, in one file. A master is excused only if as many
// others as any quorum shares a master with have been asked, and none of them names
// another log than its own marker does.
//
// A log is of all databases, so that is decided once for each process, by the marker of
// database 0, which says so then. What another database's marker tells of the log may be of
// a time when a proxy had last opened that:
//
//	1: the disk of master 1 is restored, and its marker in database 0 is deleted
//	2: in database 5 there is one of before, and it says durable
//	3: A holds k there, on 1 and 2; B asks for k, and 1 and 3 grant

// writes notes which log the master writes, for the others' markers: of the lane of
// database 0, whose marker is m.
func (l *lane) writes(m marker.Marker) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.diskLog, l.rewrites, l.unlogged = m.DiskLog(), m.Rewrites, l.unlogged && !m.Durable
}

// writesLog tells the same to the lane of another database: whether the master is durable,
// and the name of the log. As long as it is not known, that is what the marker there says.
func (l *lane) writesLog(m marker.Marker) (durable bool, log string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.diskLog == marker.NoLog || l.unlogged:
		return false, marker.NoLog
	case l.nonce == "" || l.diskLog == "":
		return m.Durable, m.DiskLog()
	}
	return true, l.diskLog
}

// stillLogs has the lane of another database than 0 ask whether the master writes a log, while
// that of database 0 cannot. It does not learn the name of another one, so that one which is
// written anew is none until then.
func (k *keeper) stillLogs(link *master.Link) error {
	if !k.known.Durable || k.looksElsewhere() {
		return nil
	}
	err := link.Info()
	if err == nil {
		link.Who.Durable, err = link.Durable()
	}
	if err != nil {
		return err
	}
	root := k.db.engine.zero.lanes[k.index]
	root.mu.Lock()
	defer root.mu.Unlock()
	anew := root.who.RunID == link.Who.RunID && root.diskLog != "" && link.Who.Rewrites != root.rewrites
	root.unlogged = root.unlogged || anew || !link.Who.Logs()
	return nil
}

// logsBeside is what the marker of a lane's master is to tell of the others' logs, if it
// told this before. What is not known of a master that does not vote now stays, but that it
// writes none is told of any: it may vote in another database. Also of one that has not been
// seen to be durable it is told, as whoever marks the masters anew one by one may not know
// that they told of a log.
func (db *database) logsBeside(l *lane, before map[string]string) map[string]string {
	if l.master.DB != 0 {
		return nil
	}
	logs := maps.Clone(before)
	for _, o := range db.lanes {
		o.mu.Lock()
		log := o.diskLog
		if o.unlogged {
			log = marker.NoLog
		}
		if o != l && (o.unlogged || o.open && log == marker.NoLog || o.open && o.nonce != "" && log != "") {
			if logs == nil {
				logs = make(map[string]string)
			}
			logs[o.master.Name] = log
		}
		o.mu.Unlock()
	}
	return logs
}

// hearLogs notes what the sources of a quarantine have told of all masters' logs.
func (l *lane) hearLogs(q *quarantine, logs map[string]string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	q.others = logs
}

// toldLogs is what those of the present one have.
func (l *lane) toldLogs() map[string]string {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ward == nil {
		return nil
	}
	return l.ward.others
}

// vouched tells whether the others know of no other log than a new process has read. Where too few of
// them can be asked it is an error, until no lock from before can live any more: nobody
// has let the master vote meanwhile.
func (k *keeper) vouched(ctx context.Context, runID, log string) (yes bool, err error) {
	db := k.db
	k.mu.Lock()
	off := k.unlogged || k.diskLog == marker.NoLog
	k.mu.Unlock()
	if off { // by what this proxy has seen itself, and may not have told anybody yet
		return false, nil
	}
	if k.waits != runID {
		k.waits, k.waitsSince = runID, db.Boot()
	}
	told, asked := make([]string, len(db.lanes)), make([]bool, len(db.lanes))
	var wait sync.WaitGroup
	for i := range db.lanes {
		if i != k.index {
			wait.Go(func() { told[i], asked[i] = db.engine.zero.lanes[i].logOf(ctx, k.master.Name) })
		}
	}
	wait.Wait()
	answered, needed := 0, catchup.Needed(len(db.lanes))
	for i, t := range told {
		if t != "" && t != log {
			return false, nil
		}
		if asked[i] {
			answered++
		}
	}
	if answered >= needed || db.Boot()-k.waitsSince >= db.QuarantineTime() {
		return true, nil
	}
	return false, fmt.Errorf("its process was started anew, and %d of the other masters can tell whether its log is whole, %d are needed", answered, needed)
}

// wholeLog tells whether the master, whose process is another than that of its marker m, has
// read a log that is whole, and which. An error means that it is not known yet.
func (k *keeper) wholeLog(ctx context.Context, who marker.Identity, m marker.Marker) (log string, yes bool, err error) {
	if k.master.DB == 0 {
		yes, err = k.vouched(ctx, who.RunID, m.DiskLog())
		return m.DiskLog(), yes, err
	}
	root := k.db.engine.zero.lanes[k.index]
	for began := k.db.Boot(); !root.hasStood(who.RunID); clock.Pause(ctx, k.db.ConnectTimeout/50) {
		if ctx.Err() != nil || k.db.Boot()-began > k.db.ConnectTimeout {
			return "", false, errors.New("its process was started anew, and whether its log is whole is decided in database 0 first")
		}
	}
	zero, runID, s, err := root.examined(ctx)
	switch {
	case err != nil:
		return "", false, fmt.Errorf("its process was started anew, and its marker in database 0 cannot be read: %w", err)
	case runID != who.RunID:
		return "", false, errors.New("its process was started anew again")
	case s == marker.Trusted:
		return zero.DiskLog(), zero.Whole, nil
	}
	return "", false, nil
}

// hasStood tells that the lane's master was examined in this process of it, and is on the link.
func (l *lane) hasStood(runID string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.open && l.who.RunID == runID
}

// logOf asks the lane's master which log another one writes: "" if it knows of none. It
// counts as asked if it has not forgotten what it knew.
func (l *lane) logOf(ctx context.Context, name string) (log string, asked bool) {
	m, _, s, err := l.examined(ctx)
	if err != nil || s != marker.Trusted && s != marker.Excused {
		return "", false
	}
	return m.Others[name], true
}

// examined is how the lane's master stands in database 0, by a connection of its own: its
// marker there, its process, and what they make of it.
func (l *lane) examined(ctx context.Context) (m marker.Marker, runID string, s marker.Verdict, err error) {
	ctx, cancel := context.WithTimeout(ctx, l.db.ConnectTimeout)
	defer cancel()
	k, err := l.master.Link(ctx, marker.Identity{}, l.db.MasterTimeout)
	if err != nil {
		return m, "", 0, err
	}
	defer k.Close()
	a, _, err := k.Do("GET", quorum.MarkerKey)
	switch {
	case err != nil:
		return m, "", 0, err
	case a.Kind == quorum.FailureReply:
		return m, "", 0, errors.New(a.Str)
	}
	m, s, _, err = marker.Examine(a.Str, k.Who, l.master.Name, 0, l.db.engine.installation.terms, l.db.engine.installation.name(), "")
	return m, k.Who.RunID, s, err
}
