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

// Votes are those that were cast on one request by the time it was decided, as one word.
type Votes uint64

// VoteBits is how many bits of the word are for each master, of which the lowest three are its vote.
const VoteBits = 4

// Of is master i's vote, counted from 0; zero if it had not voted, or was not asked.
func (v Votes) Of(i int) Vote { return Vote(v >> (i * VoteBits) & 7) }

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

// Undecided is the zero Decision: more votes are needed.
const Undecided Decision = 0

// QuorumOf is the quorum of n masters configured, however many are up.
func QuorumOf(n int) int { return n/2 + 1 }
