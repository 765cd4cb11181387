package engine

import (
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

// mendingTries is how often keys are looked at: the first look may be the one from which it is known that a key is calm.
const mendingTries = 3

// mendings are the tags that wait to be looked at.
type mendings struct {
	mu   sync.Mutex // guards tags
	tags map[string]struct{}
}

func (m *mendings) begin(tag string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, begun := m.tags[tag]; begun || len(m.tags) >= maxMendings {
		return false
	}
	if m.tags == nil {
		m.tags = make(map[string]struct{})
	}
	m.tags[tag] = struct{}{}
	return true
}

func (m *mendings) end(tag string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.tags, tag)
}

// mending looks at the keys of a step that has left masters unlike. It is asker and flusher of its own.
type mending struct {
	db     *database
	tag    string
	keys   []string
	tries  int
	unlike bool // masters were, and are left so
}

// mendLater has the keys of a won step be looked at once what was under way for them is over.
func (r ruling) mendLater() {
	if _, mends := r.asker.(*mending); mends {
		return
	}
	m := &mending{db: r.db, tag: strings.Clone(quorum.Tag(r.Key))}
	if !r.db.mendings.begin(m.tag) {
		return
	}
	for _, key := range r.allTouched() {
		m.keys = append(m.keys, strings.Clone(key))
	}
	m.later()
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

func (m *mending) later() { time.AfterFunc(2*m.db.AcquireTimeout+m.db.SplitDelay, m.look) }

func (m *mending) look() {
	m.tries++
	o := newOp(&quorum.Request{Kind: quorum.Run, Script: mendStep, Key: m.keys[0], Keys: m.keys}, m)
	o.began, o.holds = time.Now(), true
	if !m.db.takeTurn(o) {
		m.db.try(o, o.began)
	}
}

// Answer is quorum.Asker's.
func (m *mending) Answer(quorum.Result) quorum.Flusher {
	if m.unlike && m.tries < mendingTries && !m.db.closing.Load() {
		m.unlike = false
		m.later()
	} else {
		m.db.mendings.end(m.tag)
	}
	return m
}

// Flush is quorum.Flusher's: nobody waits.
func (m *mending) Flush() {}

// unlike tells that masters which have voted were found to hold different things of a key, or cannot tell, and are not set
// right by this step.
func (r ruling) unlike() bool {
	for i := range r.Said {
		switch r.votes.Vote(i) {
		case quorum.Granted, quorum.Refused:
		default:
			continue
		}
		if !r.Latched(r.votes, i) {
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
	back := &decide.UndoRecord{Key: ours.Key, Left: max(ours.Left, 1), After: ours.After, Expires: ours.Expires}
	dumps := make([]string, len(r.Said))
	for i := range r.Said {
		if vote := r.votes.Vote(i); vote != quorum.Granted && vote != quorum.Refused || !r.Latched(r.votes, i) {
			return nil
		}
		record := r.Said[i].Journal.Record(ours.Key)
		if record == nil || !r.db.calm(record) {
			return nil
		}
		dumps[i] = record.Before
		switch {
		case record.Before == "" || back.Left == decide.SaysNoTTL:
		case record.Left < 0:
			back.Left = decide.SaysNoTTL
		default:
			back.Left = max(back.Left, record.Left)
		}
	}
	merged, ok := dump.Merged(dumps, quorum.QuorumOf(len(dumps)))
	if back.Before = merged; !ok || merged == ours.Before || merged != "" && dump.SameContents(merged, ours.Before) {
		return nil
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
