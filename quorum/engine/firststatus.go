package engine

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"redlock-proxy/quorum"
	"redlock-proxy/quorum/marker"
)

// firstStart is how far the first start of a set has come.
type firstStart struct {
	begun bool          // false: it is no first start
	waits []string      // masters that are to be marked still; from then on it lasts
	left  time.Duration // so long
	away  bool          // one of those cannot be reached
	stuck string        // which of them is not marked unless somebody does something, and what
}

func (db *database) firstStart() (f firstStart) {
	now := db.Boot()
	for i, s := range db.sights() {
		switch {
		case s.Votes, s.Nonce != "" && !s.First:
			return firstStart{} // that one votes, or will when its own quarantine is over
		case s.Nonce == "":
			f.begun = f.begun || s.Reached
			f.away = f.away || !s.Reached
			f.waits = append(f.waits, db.Masters[i].Name)
			if why := db.lanes[i].holdsKeys(); s.Reached && why != "" && f.stuck == "" {
				f.stuck = "master " + db.Masters[i].Name + ": " + why
			}
		default:
			f.begun = true
			f.left = max(f.left, db.FirstTime()-db.lanes[i].lasted(now))
		}
	}
	if len(f.waits) > 0 {
		f.left = db.FirstTime()
	}
	f.begun = f.begun && !db.alone() && db.engine.installation.barring() == nil
	return f
}

// Hindrance says what keeps all masters from voting that is not about one of them: they
// are not marked, or not long enough, or they are others' by their terms. It is "" if
// there is no such thing.
func (db *database) hindrance() string {
	if err := db.engine.installation.barring(); err != nil {
		return "nothing is granted until this proxy is restarted: " + err.Error()
	}
	f := db.firstStart()
	if !f.begun {
		return ""
	}
	why, atOnce := "a new set, or all was lost", "or at once after redlock-proxy bootstrap --no-locks-held"
	elsewhere := db.votesElsewhere()
	if elsewhere { // where one votes, bootstrap does nothing
		why = fmt.Sprintf("what was granted in database %d is lost", db.number())
		atOnce = fmt.Sprintf("or at once after LOCK ADMIT of %d of them, which needs the right to @operate", quorum.QuorumOf(len(db.lanes)))
	}
	switch {
	case elsewhere && len(f.waits) > 0:
		atOnce += ", when those are marked"
	case f.away:
		atOnce += ", when all can be reached"
	}
	text := "no master is marked"
	switch {
	case len(f.waits) == 0:
		text = "all masters are marked, and none has voted yet"
	case len(f.waits) < len(db.lanes):
		text = "not all masters are marked, and none has voted yet"
	}
	text += ": " + why + "; "
	switch {
	case f.stuck != "":
		return text + f.stuck
	case !db.FirstStart && len(f.waits) > 0:
		return text + "run redlock-proxy bootstrap, as first-start is no"
	case len(f.waits) > 0:
		return text + fmt.Sprintf("locks %v after %s can be marked, too, %s", f.left.Round(time.Second), strings.Join(f.waits, " "), atOnce)
	}
	if now, known := db.now(); known {
		return text + fmt.Sprintf("locks from %s, %s", now.Add(f.left).Local().Format(time.TimeOnly), atOnce)
	}
	return text + fmt.Sprintf("locks in %v, %s", f.left.Round(time.Second), atOnce)
}

// holdsKeys is why the master is no new one, as it holds keys: "" if that is not so.
func (l *lane) holdsKeys() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !strings.HasPrefix(l.why, whyHoldsKeys) {
		return ""
	}
	return l.why
}

// firstStatus has the masters of a first start tell how long it lasts: that is not known
// before all are marked.
func (db *database) firstStatus(masters []quorum.MasterStatus) {
	f := db.firstStart()
	if !f.begun {
		return
	}
	for i, s := range db.sights() {
		switch {
		case !s.Reached:
		case len(f.waits) > 0:
			masters[i].Left = 0
		default:
			masters[i].Left = max(f.left, 0)
		}
	}
}

// givenOne says when a master is given a marker that waits for others: when they can be
// reached, or have been given theirs.
func (db *database) givenOne(sights []marker.Sight, waits []string) string {
	var away []string
	for i, name := range db.Names() {
		if slices.Contains(waits, name) && !sights[i].Reached {
			away = append(away, name)
		}
	}
	switch {
	case len(away) > 0:
		return ", and is given one when " + strings.Join(away, " ") + " can be reached"
	case len(waits) > 0:
		return ", and is given one after " + strings.Join(waits, " ")
	}
	return ""
}
