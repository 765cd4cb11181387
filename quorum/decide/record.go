package decide

import (
	"strconv"
	"time"

	"redlock-proxy/quorum/clock"
	"redlock-proxy/quorum/dump"
)

// UndoRecord says what a journaled script made of one key, and what it was.
type UndoRecord struct {
	Key     string
	Before  string // dump; "" is absent
	Left    int64  // its remaining ttl in milliseconds, or SaysNoTTL
	After   string // dump, or the SHA-1 of a long one, or of a string the value
	Expires int64  // the remaining ttl afterwards, or SaysNoTTL

	// Calm is for how long, where a step tells, no more than steps have changed the key on the master: that has carried out
	// nothing else on it of which somebody may yet be told. Emptied tells that it held nothing when that began. See
	// quorum.StepsKey.
	Calm    time.Duration
	Emptied bool

	// Trail is which steps had left the key on the master as it was, where one tells: see Reached.
	Trail string
	// Mark is that of the step on the trail, if it has acted.
	Mark string
}

// Differs tells that two masters are known to have made different things of a key. Of what
// is known by its hash alone, a dump of more than a hundred bytes, that is not so where they
// made it of the same, nor if the dump may depend on more than the content.
func (r *UndoRecord) Differs(s *UndoRecord) bool {
	switch {
	case r.After == "" || s.After == "":
		return r.After != s.After
	case dump.Same(r.After, s.After):
		return false
	case dump.Is(r.After) && dump.Is(s.After):
		return !dump.SameContents(r.After, s.After)
	case dump.MaybeSame(r.Before, s.Before):
		return false
	}
	return !dump.OwnOrder(r.Before) && !dump.OwnOrder(s.Before)
}

// Changed tells that a step has made something else of the key, or may have: a master before
// 7.2 tells what is left of a ttl a little lower a moment later.
func (r *UndoRecord) Changed() bool { return r.Before != r.After || r.Left != r.Expires }

// RecordOf is the one of the records that is of a key, nil if there is none. It is no copy.
func RecordOf(records []UndoRecord, key string) *UndoRecord {
	for i := range records {
		if records[i].Key == key {
			return &records[i]
		}
	}
	return nil
}

// Moved is by how many milliseconds a write has moved the expiry of the key, "" if it had
// none before or after. The master carries that out at one moment, so it is exact.
func (r *UndoRecord) Moved() string {
	if r.Left < 0 || r.Expires < 0 || r.Before == "" {
		return ""
	}
	return strconv.FormatInt(r.Expires-r.Left, 10)
}

// Lives is how long what the write has made of the key lives, 0 if that is for ever.
func (r *UndoRecord) Lives() time.Duration {
	return clock.OfMilliseconds(max(r.Expires, 0))
}

// At is what the key was, after some time: a record whose time has run out is
// not restored.
func (r *UndoRecord) At(elapsed time.Duration) (before, left string) {
	if r.Left == SaysNoTTL || r.Before == "" {
		return r.Before, "0"
	}
	n := r.Left - elapsed.Milliseconds()
	if n <= 0 {
		return "", "0"
	}
	return r.Before, strconv.FormatInt(n, 10)
}

// LivesOn tells that the key holds what it held, if for another time.
func (r *UndoRecord) LivesOn() bool {
	return r.Before != "" && (dump.Same(r.Before, r.After) || dump.Fingerprint(r.Before) == r.After)
}

// Lengthens tells that the key lives longer when it is put back.
func (r *UndoRecord) Lengthens() bool {
	return r.LivesOn() && r.Expires != SaysNoTTL && (r.Left == SaysNoTTL || r.Left > r.Expires)
}
