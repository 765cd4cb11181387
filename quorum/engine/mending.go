package engine

import (
	"cmp"
	"slices"
	"strings"
	"sync"
	"time"

	"redlock-proxy/quorum"
	"redlock-proxy/quorum/decide"
	"redlock-proxy/quorum/dump"
)

// A master that was busy with another proxy's step while one was won, or acted on what was no longer there, is left behind
// by that. The next step brings it up; and where none comes, another master that goes away leaves no two alike:
//
//	1: A's step, through one proxy, is won on masters 1, 2 and 3; its answer is heard before 3 is told to let go
//	2: B's, through another, is won on 1 and 2, and meets A's latch on 3
//	3: 1 goes away; what is asked of 2 and 3 has no quorum until it is back
//
// So a while later a step looks at the keys that does nothing: as one that is lost it has every master hold what a quorum
// does (differing.go).

// mendStep tells what masters hold of its keys.
var mendStep = quorum.NewHeardStep("return 0")

// maxMendings bounds how many tags wait to be looked at. Others wait for their next step.
const maxMendings = 4096

// mendingTries is how often keys are looked at: the first look may be the one from which it is known that a key is calm,
// and later ones meet others' steps, or a master that is late.
const mendingTries = 10

// mendings are the looks that are to come, or under way, by tag.
type mendings struct {
	mu   sync.Mutex // guards tags, and the keys of each
	tags map[string]*mending
}

// maxMendingKeys bounds how many keys one look is at: of more a step that does nothing tells nothing.
const maxMendingKeys = 16

// add has keys be looked at, with those of their tag that wait already. It is the look that is to begin, if any is.
func (s *mendings) add(db *database, tag string, keys []string) (begins *mending) {
	s.mu.Lock()
	defer s.mu.Unlock()
	m := s.tags[tag]
	if m == nil {
		if len(s.tags) >= maxMendings {
			return nil
		}
		if s.tags == nil {
			s.tags = make(map[string]*mending)
		}
		begins = &mending{db: db, tag: strings.Clone(tag)}
		m = begins
		s.tags[m.tag] = m
	}
	for _, key := range keys {
		if len(m.keys) < maxMendingKeys && !slices.Contains(m.keys, key) {
			m.keys = append(m.keys, strings.Clone(key))
		}
	}
	return begins
}

// mending looks at keys of steps that have left masters unlike. It is asker and flusher of its own.
type mending struct {
	db     *database
	tag    string
	keys   []string
	looked int // at so many of them
	tries  int
	unlike bool // masters were, and are left so, or have not told
}

// mendLater has the keys of a step be looked at once what was under way for them is over.
func (r ruling) mendLater() {
	if _, mends := r.asker.(*mending); mends {
		return
	}
	if m := r.db.mendings.add(r.db, quorum.Tag(r.Key), r.allTouched()); m != nil {
		m.later()
	}
}

// mendUnlike is mendLater where a master is known to have another thing of a key after a step than one that has voted.
func (r ruling) mendUnlike(ours *decide.UndoRecord) {
	for i := range r.Said {
		if vote := r.votes.Vote(i); vote != quorum.Granted && vote != quorum.Refused {
			continue
		}
		if theirs := r.Said[i].Journal.Record(ours.Key); theirs != nil && !dump.MaybeSame(ours.After, theirs.After) {
			r.mendLater()
			return
		}
	}
}

// later has the pause be twice as long each time, up to half a minute or so: what is in the way may be so for long.
func (m *mending) later() {
	time.AfterFunc((2*m.db.AcquireTimeout+m.db.SplitDelay)<<min(m.tries, 6), m.look)
}

// patience is for how long a look waits for a master that is late. Its latches keep others out meanwhile: so it is little,
// and more each time.
func (m *mending) patience() time.Duration { return m.db.SplitDelay << min(m.tries-1, 6) }

func (m *mending) look() {
	m.db.mendings.mu.Lock()
	keys := slices.Clone(m.keys)
	if len(keys) > m.looked {
		m.looked, m.tries = len(keys), 0
	}
	m.db.mendings.mu.Unlock()
	m.tries++
	o := newOp(&quorum.Request{Kind: quorum.Run, Script: mendStep, Key: keys[0], Keys: keys}, m)
	o.began, o.holds = time.Now(), true
	if !m.db.takeTurn(o) {
		m.db.try(o, o.began)
	}
}

// Answer is quorum.Asker's.
func (m *mending) Answer(r quorum.Result) quorum.Flusher {
	s := &m.db.mendings
	s.mu.Lock()
	again := ((m.unlike || r.Decision == quorum.Unavailable) && m.tries < mendingTries || len(m.keys) > m.looked) && !m.db.closing.Load()
	if !again {
		delete(s.tags, m.tag)
	}
	s.mu.Unlock()
	if m.unlike = false; again {
		m.later()
	}
	return m
}

// Flush is quorum.Flusher's: nobody waits.
func (m *mending) Flush() {}

// unlike tells that masters were found to hold different things of a key, or have not told, and are not set right by this
// step.
func (r ruling) unlike() bool {
	for i := range r.Said {
		if vote := r.votes.Vote(i); vote != quorum.Granted && vote != quorum.Refused || !r.Latched(r.votes, i) {
			return true
		}
		for _, record := range r.Said[i].Journal.Records() {
			if r.heldElsewhere(i, &record) == nil && r.differs(&record) {
				return true
			}
		}
	}
	return false
}

// heldInParts is what a master is to hold of a key of which no quorum holds the same: the elements that a quorum has. Each
// that was answered to be there is on one, and each that was answered to be gone is not. So it is where all masters are
// latched, and nothing else is under way on any.
//
//	1: A's push, through one proxy, is lost, and its undo with its proxy; it is on master 1 alone
//	2: B's, through another, is lost likewise, and is on 3 alone
//	3: no two masters have the same of the list, and nothing that is asked of it has a quorum
func (r ruling) heldInParts(ours *decide.UndoRecord) *decide.UndoRecord {
	if r.Script != mendStep {
		return nil
	}
	dumps, left := make([]string, len(r.Said)), []int64(nil)
	for i := range r.Said {
		if vote := r.votes.Vote(i); vote != quorum.Granted && vote != quorum.Refused || !r.Latched(r.votes, i) {
			return nil
		}
		record := r.Said[i].Journal.Record(ours.Key)
		if record == nil || !r.db.calm(record) {
			return nil
		}
		if dumps[i] = record.Before; record.Before != "" {
			left = append(left, record.Left)
		}
	}
	n := quorum.QuorumOf(len(dumps))
	merged, ok := dump.Merged(dumps, n)
	if !ok || merged == ours.Before || merged != "" && dump.SameContents(merged, ours.Before) {
		return nil
	}
	back := &decide.UndoRecord{Key: ours.Key, Before: merged, Left: decide.SaysNoTTL, After: ours.After, Expires: ours.Expires}
	if len(left) >= n { // as long as a quorum has it, or longer; -1 is for ever
		slices.SortFunc(left, func(a, b int64) int { return cmp.Compare(uint64(b), uint64(a)) })
		back.Left = left[n-1]
	}
	return back
}

// differs tells that a master is known to have held another thing of a key than a quorum, or that there is none.
func (r ruling) differs(record *decide.UndoRecord) bool {
	found := r.FoundAlike(r.votes, record.Key)
	return !slices.ContainsFunc(found, func(other *decide.UndoRecord) bool {
		return other != nil && dump.MaybeSame(other.Before, record.Before)
	})
}
