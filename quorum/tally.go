package quorum

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
