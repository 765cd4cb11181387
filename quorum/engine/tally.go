package engine

import "redlock-proxy/quorum"

// tally is the votes on one request, counted. pending masters have not voted
// yet; when time has run out they are counted as unknown.
type tally struct {
	masters                                      int
	granted, refused, unknown, withheld, pending int
}

func (t tally) quorum() int { return quorum.QuorumOf(t.masters) }

// blocked tells that so many refused that no quorum of the others is left.
func (t tally) blocked() bool { return t.refused >= t.masters-t.quorum()+1 }

// acquire decides an acquire. seen tells whether one single value was named by
// a quorum; it is only asked when it matters.
func (t tally) acquire(seen func() bool) quorum.Decision {
	switch {
	case t.granted >= t.quorum():
		return quorum.Won
	case t.blocked():
		// Several contenders may have divided the masters among themselves, so
		// that each is refused by the others' grants and nobody holds the lock.
		if t.granted > 0 && !seen() {
			return quorum.Split
		}
		return quorum.Contended
	case t.open():
		return quorum.Undecided
	case t.granted+t.refused >= t.quorum():
		return quorum.Split
	case t.granted+t.refused+t.pending >= t.quorum():
		// With masters down, those that are left may still have voted enough
		// for a split, which is tried again, where unavailable is an outage.
		return quorum.Undecided
	}
	return quorum.Unavailable
}

// told decides an acquire that is blocked, where a refusal is to tell what is there: most
// is how many have named the same.
func (t tally) told(most int) quorum.Decision {
	switch {
	case most >= t.quorum():
		return quorum.Contended
	case most+t.pending >= t.quorum():
		return quorum.Undecided
	}
	return quorum.Split
}

// extend decides a compare-and-expire.
func (t tally) extend() quorum.Decision {
	switch {
	case t.granted >= t.quorum():
		return quorum.Won
	case t.blocked():
		return quorum.Contended
	case t.open():
		return quorum.Undecided
	}
	return quorum.Unavailable
}

// open tells whether the masters that have not voted could still make a quorum
// of yes or a blocking minority of no.
func (t tally) open() bool {
	return t.pending > 0 &&
		(t.granted+t.pending >= t.quorum() || t.refused+t.pending >= t.masters-t.quorum()+1)
}

// release decides a compare-and-delete or a removal: granted masters had the
// key and deleted it. An unknown master may have deleted it too; so may a
// withheld one that had nothing to delete, before it forgot. Without any that
// is known to have deleted it, there is no yes.
func (t tally) release() quorum.Decision {
	may := t.granted + t.unknown + t.withheld
	switch {
	case t.granted >= 1 && may >= t.quorum():
		return quorum.Won
	case may+t.pending < t.quorum():
		return quorum.Contended
	case t.pending > 0:
		return quorum.Undecided
	}
	return quorum.Unavailable
}

// read decides a read: most is how many of the masters that answered hold the
// most frequent value. Won also covers that there is no such key, which needs
// no quorum of its own: it is known as soon as no value can have one. While a master is
// away, a lock that is being taken or freed is on some of the others and not on the rest:
// that is split, and tried again. If it stays so, a quorum may hold the value or not.
func (t tally) read(most int) quorum.Decision {
	switch {
	case most >= t.quorum():
		return quorum.Won
	case most+t.unknown+t.withheld+t.pending < t.quorum():
		return quorum.Won
	case t.pending > 0 && (most+t.pending >= t.quorum() || most+t.unknown+t.withheld < t.quorum() ||
		t.granted < t.quorum() && t.granted+t.pending >= t.quorum()):
		return quorum.Undecided
	case t.granted >= t.quorum():
		return quorum.Split
	}
	return quorum.Unavailable
}

// lacked decides a read of a key of which no value can have a quorum: so many masters have
// told that they lack it. Where they are too few for that to be the reason, it may be on its
// way from one value to another, and the read is tried again, as what is split is:
//
//	1: master 3 missed a write of k: 1 and 2 hold k=5, and 3 holds k=4
//	2: A counts to 6; master 1 does so first, and B reads 6, 5 and 4
//
// Only if they differ for good does nobody hold anything.
func (t tally) lacked(lack int) quorum.Decision {
	blocking := t.masters - t.quorum() + 1
	switch {
	case lack >= blocking:
		return quorum.Won
	case lack+t.pending >= blocking:
		return quorum.Undecided
	}
	return quorum.Split
}

// write decides any other write: granted masters answered it, alike of them
// with the most frequent reply.
func (t tally) write(alike int) quorum.Decision {
	switch {
	case alike >= t.quorum():
		return quorum.Won
	case t.pending > 0 && (alike+t.pending >= t.quorum() ||
		t.granted < t.quorum() && t.granted+t.pending >= t.quorum()):
		return quorum.Undecided
	case t.granted >= t.quorum():
		return quorum.Split
	}
	return quorum.Unavailable
}
