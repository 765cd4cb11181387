package catchup

import (
	"slices"
	"strings"

	"redlock-proxy/quorum"
	"redlock-proxy/quorum/clock"
	"redlock-proxy/quorum/decide"
)

// What the sources of a catch-up say of a key, and what that amounts to. All of
// it is pure.

// reading is what one source holds of a key.
type reading struct {
	// digest tells values apart, on whatever master they are; "" is no key.
	digest string
	// payload is what the key is made of elsewhere, if the digest does not hold
	// it: the value of a string, a dump of anything else.
	payload string
	// left is the remaining ttl in milliseconds, or decide.SaysNoTTL.
	left int64
	// leftOut is about how long what the source holds is, in bytes, if that is too long to be
	// read, or there is no room for it.
	leftOut int
	// forbidden tells that our user may not touch the key there. What it holds is not known.
	forbidden bool
}

// agreement is what the sources' readings of one key amount to.
type agreement uint8

const (
	nowhere  agreement = iota + 1 // no source holds the key
	agreed                        // those that hold it hold the same
	disputed                      // they hold different values
	unread                        // what one holds is too long to be read, or not for our user
)

func (a agreement) String() string {
	switch a {
	case nowhere:
		return "nowhere"
	case agreed:
		return "agreed"
	case disputed:
		return "disputed"
	case unread:
		return "unread"
	}
	return "unknown"
}

// agree tells what the readings of one key amount to, one reading for each
// source, and what to copy where they agree: the value with the longest remaining
// ttl, of which none is the longest. A source without the key does not disagree:
// a lock is on a quorum, which need not be all. Nor does one that does not tell.
//
// Why nothing is copied of different values, of which one is a leftover:
//
//	1: A holds k with the votes of 1 and 2; on 3 is what undo did not reach of B
//	2: master 1 loses its keys, and is given k of B by 3
//	3: that ends; A holds k on 2 alone, and C acquires it of 1 and 3
//
// Why the longest ttl counts:
//
//	1: A holds k with the votes of 1, 2 and 3, and extends it on 1 and 2
//	2: master 1 loses its keys, and is given k by 3, as it was before
//	3: that ends on 1 and 3, and C acquires it there
func agree(readings []reading) (r reading, a agreement) {
	a = nowhere
	for _, s := range readings {
		switch {
		case s.leftOut > 0:
			return s, unread
		case s.digest == "": // or it is forbidden
		case a == nowhere:
			r, a = s, agreed
		case s.digest != r.digest:
			return reading{}, disputed
		case decide.Outlives(s.left, r.left):
			r = s
		}
	}
	return r, a
}

// emptied tells of what is agreed on that one who has told has nothing of it, and it is no lock, but what elements are put
// in and taken from: a hash, list or set that does not end. That one may have missed that something came there,
// or the others that all of it was taken out. Who sets right what masters have missed may know; if nobody does, it is there,
// as it was answered that something was put in.
//
//	1: the last element of a list is popped on masters 1 and 3, and 2 has missed it
//	2: master 3 loses its keys, and is given the list by 2: the element is popped on 2 and 3 once more
func emptied(agreed reading, readings []reading) bool {
	return agreed.left == decide.SaysNoTTL && agreed.kind() != "string" &&
		slices.ContainsFunc(readings, func(r reading) bool { return r.digest == "" && !r.forbidden })
}

// leftover tells of what is agreed on that it is no lock, by sources that grant nothing any
// more: so many of them hold nothing that it is on no quorum. Of what ends by itself that
// need not be known.
func leftover(agreed reading, readings []reading, needed int) bool {
	without := 0
	for _, r := range readings {
		if r.digest == "" && !r.forbidden {
			without++
		}
	}
	return agreed.left == decide.SaysNoTTL && without >= needed
}

// Needed is how many other masters a quarantined one must have been given
// the keys of: whatever quorum of n a lock was acquired with, one of them was in
// it, if the quarantined one was.
func Needed(n int) int { return n - quorum.QuorumOf(n) + 1 }

// still tells what it amounts to for who was given a value what the sources say of
// it afterwards: agreed if one of them holds it, disputed if others hold another, or may
// hold anything, and nowhere if none holds the key.
func still(said []agreement) agreement {
	a := nowhere
	for _, s := range said {
		switch s {
		case agreed:
			return agreed
		case disputed, unread:
			a = disputed
		}
	}
	return a
}

// maxLeft is what longer remaining ttls are copied as: it fits any master's clock.
const maxLeft = clock.Farthest

// readReadings reads the answer of ReadingScript.
func readReadings(a decide.Answer) (list []reading, ok bool) {
	if len(a.Elems) == 0 || len(a.Elems)%2 != 0 {
		return nil, false
	}
	list = make([]reading, len(a.Elems)/2)
	for i := range list {
		left, what := &a.Elems[2*i], &a.Elems[2*i+1]
		if left.Kind != quorum.IntegerReply {
			return nil, false
		}
		r := &list[i]
		r.left = min(left.Int, maxLeft)
		switch {
		case left.Int == decide.SaysAbsent:
		case len(what.Elems) == 1 && what.Elems[0].Kind == quorum.IntegerReply:
			r.leftOut = int(max(what.Elems[0].Int, 1))
		case what.Kind == quorum.BulkReply:
			r.digest = toldWhole + what.Str
		case len(what.Elems) == 2 && what.Elems[0].Str != "":
			r.digest, r.payload = what.Elems[0].Str, what.Elems[1].Str
		default:
			return nil, false
		}
	}
	return list, true
}

// kind is the type of the value, for a message.
func (r *reading) kind() string { return kindOf(r.digest) }

// kindOf is the type of the value that a digest is of.
func kindOf(digest string) string {
	if strings.HasPrefix(digest, toldWhole) {
		return "string"
	}
	kind, _, _ := strings.Cut(digest, "#")
	return kind
}
