package quorum

import "time"

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

// Status is a picture of the engine for whoever runs it. Counters only grow.
type Status struct {
	Quorum  int
	Masters []MasterStatus

	// Decisions by kind and decision: Decisions[Acquire][Won].
	Decisions [Survey + 1][Unavailable + 1]uint64

	Splits       uint64 // attempts to acquire that were split and undone
	Shared       uint64 // acquires that were answered by another client's attempt
	Undos        uint64 // keys taken back from masters that had granted
	Heals        uint64 // keys given again to masters that had lost them
	DebtsOwed    uint64 // releases and undos that could not be delivered at once
	DebtsPaid    uint64
	DebtsDropped uint64 // debts forgotten: the lock's ttl passed, or the bound was reached
	OverMaxTTL   uint64 // requests whose ttl was over max-ttl, or that had none
	MaxHoldEnds  uint64 // extensions refused because of max-hold

	InFlight int // requests put and not yet decided

	Subscriptions     int    // masters whose messages can be heard; 0 before the first subscriber
	MessagesPublished uint64 // by this proxy's clients and their scripts
	MessagesShort     uint64 // of these, put to fewer than a quorum of masters
	MessagesReceived  uint64 // from other proxies, each counted once
}

// MasterStatus is one master's part of a Status.
type MasterStatus struct {
	Name      string
	State     State
	Since     time.Time // when State began
	Reason    string    // why it is in State; "" while voting
	RunID     string
	Version   string
	RoundTrip time.Duration // of batches, a moving average; 0 before the first

	Granted, Refused, Unknown, Withheld uint64 // votes by kind

	Queue      int // requests that wait for the next batch
	InBatch    int // commands in flight
	Debts      int
	DebtBytes  int
	Reconnects uint64
}
