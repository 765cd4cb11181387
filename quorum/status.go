package quorum

import (
	"math/bits"
	"time"
)

// State is where a master stands.
type State uint8

const (
	Down        State = iota + 1 // no connection, and the last attempt failed
	Connecting                   // being dialled, identified, or paid its debts
	Voting                       // its votes count
	Quarantined                  // it may have lost keys: its votes are withheld
	CatchingUp                   // quarantined, and being given what it lost
	Drained                      // taken out by the operator
)

func (s State) String() string {
	switch s {
	case Down:
		return "down"
	case Connecting:
		return "connecting"
	case Voting:
		return "voting"
	case Quarantined:
		return "quarantined"
	case CatchingUp:
		return "catching-up"
	case Drained:
		return "drained"
	}
	return "unknown"
}

// Status is a picture of the engine for whoever runs it, with a field for each figure that
// INFO and the metrics show. Counters only grow.
type Status struct {
	Quorum  int
	Masters []MasterStatus

	// CanVote is how many masters can vote at this moment, and Shortage what keeps the
	// others, as NOQUORUM says it, without their names: "2 down, 1 quarantined (4m51s left)".
	CanVote  int
	Shortage string

	// Hindrance says what keeps all of them from voting, see Engine.Hindrance.
	Hindrance string

	// Decisions by kind and decision: Decisions[Acquire][Won].
	Decisions [Survey + 1][Unavailable + 1]uint64

	Splits      uint64 // attempts to acquire that were split and undone
	Shared      uint64 // acquires that were answered by another client's attempt
	Undos       uint64 // keys taken back from masters that had granted
	UndosMissed uint64 // undos that could not be: what they would have taken was not to be told from another's, or too many waited
	Heals       uint64 // keys given again to masters that had lost them

	// Debts are releases and undos that could not be delivered at once, each counted once.
	// In the end it was paid; needless, since the master held nothing of it; or dropped,
	// since the lock's ttl has passed, the bound was reached or the master forgot. The
	// others are left: what is owed is the sum of these four.
	DebtsOwed, DebtsPaid, DebtsNeedless, DebtsDropped, DebtsLeft uint64

	OverMaxTTL  uint64 // requests whose ttl was over max-ttl, or that had none
	MaxHoldEnds uint64 // extensions refused because of max-hold

	Quarantines uint64 // begun, or met, by this proxy, in all databases in use
	Quarantined int    // of these, those that last
	CatchUps    uint64 // catch-ups that gave a master all it had lost
	CatchUpKeys uint64 // keys that masters were given by catch-ups

	InFlight int // requests put and not yet decided

	Subscriptions     int    // masters that can be heard; 0 before Consult and the first subscriber
	MessagesPublished uint64 // by this proxy's clients and their scripts
	MessagesShort     uint64 // of these, put to fewer than a quorum of masters
	MessagesReceived  uint64 // from other proxies, each counted once
}

// MasterStatus is one master's part of a Status: again, a field for each figure.
type MasterStatus struct {
	Name   string
	DB     int // the database that the fields up to CatchUp are about
	State  State
	Since  time.Time // when State began
	Reason string    // why it is in State; "" while voting

	// Left is how long its quarantine still lasts if nothing ends it earlier, and it does
	// not have to wait for another master, and
	// CatchUp how far the present or last catch-up of it has come. Both are zero
	// while there is no quarantine.
	Left    time.Duration
	CatchUp CatchUp

	// Elsewhere are the other databases, in use or opened to be healed, in which the master
	// does not stand as it does here.
	Elsewhere []MasterStatus

	// ClockKnown tells that ClockOffset is: by how much its clock is ahead of
	// the median of all masters' clocks, within a round trip or so.
	ClockKnown  bool
	ClockOffset time.Duration

	RunID     string
	Version   string
	RoundTrip time.Duration // of batches, a moving average; 0 before the first

	// Votes by kind. Unasked are those that the master was not asked for, since it was
	// not there, or the decision had fallen before it could be asked.
	Granted, Refused, Unknown, Withheld, Unasked uint64

	Quarantines uint64 // of Status, in this database alone: of database 0, where it is told of all

	Queue   int // requests, and letters of proxies to each other, that wait for the next batch
	InBatch int // commands in flight

	// Batches counts the batches that it was sent by how many commands were in them: up to
	// 1<<i, and more than half as many, but for the last, which is of all that are longer.
	// Batched is how many that were together.
	Batches [BatchSizes]uint64
	Batched uint64

	Debts      int
	DebtBytes  int
	Reconnects uint64
}

// BatchSizes is how many sizes of batches are told apart: up to 1, 2, 4 and so on to 1024,
// and those which are longer.
const BatchSizes = 12

// BatchSize is the place in MasterStatus.Batches of a batch of n commands, at least one.
func BatchSize(n int) int { return min(bits.Len(uint(n-1)), BatchSizes-1) }

// CatchUp is how far a catch-up has come.
type CatchUp struct {
	Copied  int64 // keys given to the master
	Sources int64 // masters read to their end
	Needed  int64 // how many have to be
}

// Add counts another database's requests as this one's.
func (s *Status) Add(o Status) {
	s.Splits += o.Splits
	s.Shared += o.Shared
	s.Undos += o.Undos
	s.Heals += o.Heals
	s.DebtsOwed += o.DebtsOwed
	s.DebtsPaid += o.DebtsPaid
	s.DebtsNeedless += o.DebtsNeedless
	s.DebtsDropped += o.DebtsDropped
	s.DebtsLeft += o.DebtsLeft
	s.UndosMissed += o.UndosMissed
	s.OverMaxTTL += o.OverMaxTTL
	s.MaxHoldEnds += o.MaxHoldEnds
	s.InFlight += o.InFlight
	s.Quarantines += o.Quarantines
	s.Quarantined += o.Quarantined
	s.CatchUps += o.CatchUps
	s.CatchUpKeys += o.CatchUpKeys
	for k := range s.Decisions {
		for d := range s.Decisions[k] {
			s.Decisions[k][d] += o.Decisions[k][d]
		}
	}
	for i := range s.Masters {
		m, n := &s.Masters[i], o.Masters[i]
		m.Granted += n.Granted
		m.Refused += n.Refused
		m.Unknown += n.Unknown
		m.Withheld += n.Withheld
		m.Unasked += n.Unasked
		m.Queue += n.Queue
		m.InBatch += n.InBatch
		m.Batched += n.Batched
		for size := range m.Batches {
			m.Batches[size] += n.Batches[size]
		}
		m.Debts += n.Debts
		m.DebtBytes += n.DebtBytes
		m.Reconnects += n.Reconnects
	}
	s.AddElsewhere(o)
}

// AddElsewhere tells in which state masters are in another database, where it is another one.
func (s *Status) AddElsewhere(o Status) {
	for i := range s.Masters {
		if m, n := &s.Masters[i], o.Masters[i]; n.State != m.State {
			m.Elsewhere = append(m.Elsewhere, n)
		}
	}
}
