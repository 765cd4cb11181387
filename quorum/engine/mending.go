package engine

import (
	"math/rand/v2"
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
// does (differing.go). Where a master was not there at all, it does so when all are.

// mendStep tells what masters hold of its keys.
var mendStep = quorum.NewHeardStep("return 0")

// maxMendings bounds how many looks wait, and half of it how many may for a master that is not there: it may be so for long.
// maxTagMendings is how many of one tag do. Other keys wait for their next step, and so do long ones. With a quarter there are no
// more for a catch-up, which has mostDisputed keys looked at each time.
const (
	maxMendings    = 4096
	maxTagMendings = 16
	longestMended  = 1 << 10
	mostDisputed   = 64
)

// mendingTries is how often keys are looked at: the first look may be the one from which it is known that a key is calm,
// and later ones meet others' steps, or a master that is late, or see that what was to set right has come there.
const mendingTries = 10

// mendings are the looks that are to come, or under way.
type mendings struct {
	mu   sync.Mutex // guards tags, and what each is about
	tags map[mendingPlace]*mending
}

// mendingPlace names a look: the nth at keys of a tag.
type mendingPlace struct {
	tag string
	nth int
}

// maxMendingKeys bounds how many keys one look is at: of more a step that does nothing tells nothing.
const maxMendingKeys = 16

// add has keys be looked at, with those of their tag that wait already: at once if no masters have missed the step, or when
// those are there. It is the looks that are to begin, of which there are so many at most.
func (s *mendings) add(db *database, keys []string, missed lanes, most int) (begin []*mending) {
	keys = slices.DeleteFunc(keys, func(key string) bool { return len(key) > longestMended })
	if len(keys) == 0 {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.tags == nil {
		s.tags = make(map[mendingPlace]*mending)
	}
	for at := (mendingPlace{tag: quorum.Tag(keys[0])}); len(keys) > 0 && at.nth < maxTagMendings; at.nth++ {
		m := s.tags[at]
		if m == nil {
			if len(s.tags) >= most {
				return begin
			}
			m = &mending{db: db, place: mendingPlace{strings.Clone(at.tag), at.nth}}
			s.tags[m.place] = m
			begin = append(begin, m)
		}
		keys = m.take(keys)
		if m.missed |= missed; missed == 0 && !m.due {
			m.due, m.tries = true, 0
		}
	}
	return begin
}

// lanes are those of some masters, a bit for each.
type lanes uint64

// mending looks at keys of steps that have left masters unlike. It is asker and flusher of its own.
type mending struct {
	db     *database
	place  mendingPlace
	keys   []string
	missed lanes // that were not there
	gone   lanes // those of them of which that was seen since
	due    bool  // others are left unlike besides
	looked int   // at so many of the keys
	tries  int
	waits  int  // for those that were not there
	unlike bool // masters were, or have not told
}

// take has as many keys be looked at as it may, and returns the others. The mendings' mu is held.
func (m *mending) take(keys []string) (rest []string) {
	keys = slices.DeleteFunc(keys, func(key string) bool { return slices.Contains(m.keys, key) })
	n := min(maxMendingKeys-len(m.keys), len(keys))
	for _, key := range keys[:n] {
		m.keys = append(m.keys, strings.Clone(key))
	}
	return keys[n:]
}

// mendLater has the keys of a step be looked at once what was under way for them is over.
func (r ruling) mendLater() { r.mend(0) }

// mendMissed is mendLater of a step that a master has not been told of.
func (r ruling) mendMissed(i int) { r.mend(1 << i) }

func (r ruling) mend(missed lanes) {
	if _, mends := r.asker.(*mending); mends {
		return
	}
	most := maxMendings
	if missed != 0 {
		most /= 2
	}
	for _, m := range r.db.mendings.add(r.db, r.allTouched(), missed, most) {
		m.later()
	}
}

// mendSome has some of the keys be looked at that keep a master from being given them, others each time: some are not to keep all
// others waiting that cannot be set right.
func (db *database) mendSome(keys []string) {
	for _, i := range rand.Perm(len(keys))[:min(len(keys), mostDisputed)] {
		for _, m := range db.mendings.add(db, []string{keys[i]}, 0, maxMendings/4) {
			m.later()
		}
	}
}

// mendUnlike is mendLater where a master is known to have another thing of a key after a step than one that has voted.
func (r ruling) mendUnlike(ours *decide.UndoRecord) {
	for i := range r.Said {
		if theirs := r.recordOf(i, ours.Key); theirs != nil && !dump.MaybeSame(ours.After, theirs.After) {
			r.mendLater()
			return
		}
	}
}

// later has the pause be twice as long each time, up to half a minute or so: what is in the way may be so for long. Who is
// there again is looked at sooner. Those of one tag are not all at the same time, as they keep others of it out.
func (m *mending) later() {
	pause := (2*m.db.AcquireTimeout + m.db.SplitDelay) * time.Duration(2+m.place.nth) / 2
	m.db.mendings.mu.Lock()
	defer m.db.mendings.mu.Unlock()
	time.AfterFunc(pause<<max(min(m.tries, 6), min(m.waits, 3)), m.look)
}

// patience is for how long a look waits for a master that is late. Its latches keep others out meanwhile: so it is little,
// and more each time, or what those need that are far, but never so much that who waits behind it would be told that his turn
// has not come.
func (m *mending) patience() time.Duration {
	trip := m.db.longestTrip()
	m.db.mendings.mu.Lock()
	defer m.db.mendings.mu.Unlock()
	return min(max(m.db.SplitDelay<<max(min(m.tries-1, 6), 0), 2*trip), m.db.AcquireTimeout/2)
}

// longestTrip is how long the farthest master mostly takes for a batch.
func (db *database) longestTrip() (trip time.Duration) {
	for _, l := range db.lanes {
		l.mu.Lock()
		trip = max(trip, l.trips)
		l.mu.Unlock()
	}
	return trip
}

func (m *mending) look() {
	if m.db.closing.Load() {
		return
	}
	keys, over := m.begin()
	if len(keys) == 0 {
		if !over {
			m.later()
		}
		return
	}
	o := newOp(&quorum.Request{Kind: quorum.Run, Script: mendStep, Key: keys[0], Keys: keys}, m)
	o.began, o.holds = time.Now(), true
	if !m.db.takeTurn(o) {
		m.db.try(o, o.began)
	}
}

// begin is what is to be looked at: nothing while none of those that have missed it is there, if that is all. It is over
// where those who are there have been too late each time, and nobody else is waited for.
func (m *mending) begin() (keys []string, over bool) {
	away := m.db.away()
	m.db.mendings.mu.Lock()
	defer m.db.mendings.mu.Unlock()
	m.gone |= m.missed & away
	back := m.gone &^ away
	if back == 0 && m.tries >= mendingTries && len(m.keys) == m.looked {
		m.missed &= away
	}
	switch {
	case m.due || m.missed&^away != 0:
	case m.missed == 0:
		delete(m.db.mendings.tags, m.place)
		return nil, true
	default:
		m.waits++
		return nil, false
	}
	if back != 0 || len(m.keys) > m.looked {
		m.looked, m.tries, m.waits = len(m.keys), 0, 0
		m.gone &^= back
	}
	m.missed &= away
	m.due = true
	m.tries++
	return slices.Clone(m.keys), false
}

// away are the masters that do not vote.
func (db *database) away() (away lanes) {
	for i, l := range db.lanes {
		l.mu.Lock()
		if !l.open || l.silent() {
			away |= 1 << i
		}
		l.mu.Unlock()
	}
	return away
}

// found notes what a look has found: what was unlike, and who was not there for it.
func (m *mending) found(r ruling) {
	var missed lanes
	for i := range r.Said {
		if r.hasMissedAll(i) {
			missed |= 1 << i
		}
	}
	unlike := r.unlike(missed)
	m.db.mendings.mu.Lock()
	defer m.db.mendings.mu.Unlock()
	m.missed |= missed
	m.unlike = unlike
}

// Answer is quorum.Asker's.
func (m *mending) Answer(r quorum.Result) quorum.Flusher {
	s := &m.db.mendings
	s.mu.Lock()
	m.due = (m.unlike || r.Decision == quorum.Unavailable) && m.tries < mendingTries || len(m.keys) > m.looked
	again := (m.due || m.missed != 0) && !m.db.closing.Load()
	if !again {
		delete(s.tags, m.place)
	}
	m.unlike = false
	s.mu.Unlock()
	if again {
		m.later()
	}
	return m
}

// Flush is quorum.Flusher's: nobody waits.
func (m *mending) Flush() {}

// hasMissedAll tells that a master has not answered, or has and does not vote.
func (r ruling) hasMissedAll(i int) bool {
	vote := r.votes.Vote(i)
	return vote == quorum.Withheld || vote == quorum.Unknown && !r.answered(i)
}

// answered tells that a master that has voted has answered at all.
func (r ruling) answered(i int) bool { return r.sent[i].asked.Known() }

// forbidden tells that a master does not let the proxy's user touch a key: it is as nobody's business there.
func (r ruling) forbidden(i int) bool {
	return r.votes.Vote(i) == quorum.Unknown && strings.HasPrefix(r.Said[i].Refusal(), "NOPERM ")
}

// unlike tells that masters, but for some, were found to hold different things of a key, or for how long, or have not told.
func (r ruling) unlike(but lanes) bool {
	for i := range r.Said {
		if but>>i&1 != 0 || r.forbidden(i) {
			continue
		}
		if vote := r.votes.Vote(i); vote != quorum.Granted && vote != quorum.Refused || !r.Latched(r.votes, i) {
			return true
		}
		for _, record := range r.Said[i].Journal.Records() {
			if r.differs(&record) || r.Script == mendStep && r.livesOtherwise(i, &record) {
				return true
			}
		}
	}
	return false
}

// differs tells that a master is known to have held another thing of a key than a quorum, or that there is none.
func (r ruling) differs(record *decide.UndoRecord) bool {
	found := r.FoundAlike(r.votes, record.Key)
	return !slices.ContainsFunc(found, func(other *decide.UndoRecord) bool {
		return other != nil && dump.MaybeSame(other.Before, record.Before)
	})
}
