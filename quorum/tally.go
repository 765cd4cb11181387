package quorum

// Vote is what one master said to one request.
type Vote uint8

const (
	// Granted: the master carried out what was asked, or answered what it knows.
	Granted Vote = iota + 1
	// Refused: the master said no.
	Refused
	// Unknown: an error or a time-out. It may have happened or not.
	Unknown
	// Withheld: the master must not vote now. What it said does not count.
	Withheld
)

func (v Vote) String() string {
	switch v {
	case Granted:
		return "granted"
	case Refused:
		return "refused"
	case Unknown:
		return "unknown"
	case Withheld:
		return "withheld"
	}
	return "pending"
}

// Decision is what the votes on one request amount to.
type Decision uint8

const (
	// Won: a quorum did or knows what was asked.
	Won Decision = iota + 1
	// Contended: so many said no that no quorum can say yes. It is an answer,
	// not an error: Redis's own "no".
	Contended
	// Split: enough masters voted, and yet nobody won.
	Split
	// Unavailable: too few masters could vote in time. NOQUORUM.
	Unavailable
)

func (d Decision) String() string {
	switch d {
	case Won:
		return "won"
	case Contended:
		return "contended"
	case Split:
		return "split"
	case Unavailable:
		return "unavailable"
	}
	return "undecided"
}

// undecided is the zero Decision: more votes are needed.
const undecided Decision = 0

// quorumOf is the quorum of n masters configured, however many are up.
func quorumOf(n int) int { return n/2 + 1 }

// tally is the votes on one request, counted. pending masters have not voted
// yet; when time has run out they are counted as unknown.
type tally struct {
	masters                                      int
	granted, refused, unknown, withheld, pending int
}

func (t tally) quorum() int { return quorumOf(t.masters) }

// blocked tells that so many refused that no quorum of the others is left.
func (t tally) blocked() bool { return t.refused >= t.masters-t.quorum()+1 }

// acquire decides an acquire. seen tells whether one single value was named by
// a quorum; it is only asked when it matters.
func (t tally) acquire(seen func() bool) Decision {
	switch {
	case t.granted >= t.quorum():
		return Won
	case t.blocked():
		// Several contenders may have divided the masters among themselves, so
		// that each is refused by the others' grants and nobody holds the lock.
		if t.granted > 0 && !seen() {
			return Split
		}
		return Contended
	case t.open():
		return undecided
	case t.granted+t.refused >= t.quorum():
		return Split
	case t.granted+t.refused+t.pending >= t.quorum():
		// With masters down, those that are left may still have voted enough
		// for a split, which is tried again, where unavailable is an outage.
		return undecided
	}
	return Unavailable
}

// told decides an acquire that is blocked, where a refusal is to tell what is there: most
// is how many have named the same.
func (t tally) told(most int) Decision {
	switch {
	case most >= t.quorum():
		return Contended
	case most+t.pending >= t.quorum():
		return undecided
	}
	return Split
}

// extend decides a compare-and-expire.
func (t tally) extend() Decision {
	switch {
	case t.granted >= t.quorum():
		return Won
	case t.blocked():
		return Contended
	case t.open():
		return undecided
	}
	return Unavailable
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
func (t tally) release() Decision {
	may := t.granted + t.unknown + t.withheld
	switch {
	case t.granted >= 1 && may >= t.quorum():
		return Won
	case may+t.pending < t.quorum():
		return Contended
	case t.pending > 0:
		return undecided
	}
	return Unavailable
}

// read decides a read: most is how many of the masters that answered hold the
// most frequent value. Won also covers that there is no such key, which needs
// no quorum of its own: it is known as soon as no value can have one. While a master is
// away, a lock that is being taken or freed is on some of the others and not on the rest:
// that is split, and tried again. If it stays so, a quorum may hold the value or not.
func (t tally) read(most int) Decision {
	switch {
	case most >= t.quorum():
		return Won
	case most+t.unknown+t.withheld+t.pending < t.quorum():
		return Won
	case t.pending > 0 && (most+t.pending >= t.quorum() || most+t.unknown+t.withheld < t.quorum() ||
		t.granted < t.quorum() && t.granted+t.pending >= t.quorum()):
		return undecided
	case t.granted >= t.quorum():
		return Split
	}
	return Unavailable
}

// lacked decides a read of a key of which no value can have a quorum: so many masters have
// told that they lack it. Where they are too few for that to be the reason, it may be on its
// way from one value to another, and the read is tried again, as what is split is:
//
//	1: master 3 missed a write of k: 1 and 2 hold k=5, and 3 holds k=4
//	2: A counts to 6; master 1 does so first, and B reads 6, 5 and 4
//
// Only if they differ for good does nobody hold anything.
func (t tally) lacked(lack int) Decision {
	blocking := t.masters - t.quorum() + 1
	switch {
	case lack >= blocking:
		return Won
	case lack+t.pending >= blocking:
		return undecided
	}
	return Split
}

// write decides any other write: granted masters answered it, alike of them
// with the most frequent reply.
func (t tally) write(alike int) Decision {
	switch {
	case alike >= t.quorum():
		return Won
	case t.pending > 0 && (alike+t.pending >= t.quorum() ||
		t.granted < t.quorum() && t.granted+t.pending >= t.quorum()):
		return undecided
	case t.granted >= t.quorum():
		return Split
	}
	return Unavailable
}
