package page

import "redlock-proxy/quorum"

// Overview is how the proxy stands now.
type Overview struct {
	At        Time        `json:"at"` // the handler's
	Verdict   Verdict     `json:"verdict"`
	Proxy     Proxy       `json:"proxy"`
	Proxies   []Proxy     `json:"proxies"` // the others in front of these masters, as far as they are known
	Masters   []Master    `json:"masters"` // always in the same order
	Held      int         `json:"held"`
	Waiters   int         `json:"waiters"`
	Contended []Contended `json:"contended"` // those most fought for first, MaxContended at most
	Latency   []Latency   `json:"latency"`

	Orders bool    `json:"orders"`        // the handler's: whether orders are allowed
	Demo   bool    `json:"demo,omitzero"` // the handler's: whether masters can be broken
	Events []Event `json:"events"`        // the handler's: the latest, the oldest first
}

// MaxContended keys are shown.
const MaxContended = 20

// Verdict is what somebody who is woken wants to know first.
type Verdict struct {
	Grants  bool    `json:"grants"` // whether a quorum of masters can vote
	Text    string  `json:"text"`   // why, or why not
	Restart Restart `json:"restart"`
}

// Restart tells whether this proxy may be restarted now, and nobody but its own clients, who
// connect again, notices.
type Restart struct {
	Safe bool   `json:"safe"`
	Text string `json:"text"`
}

// Proxy is this proxy or another.
type Proxy struct {
	ID      string `json:"id"` // another one after a restart
	Address Text   `json:"address"`
	Version string `json:"version"`
	Since   Time   `json:"since"`
	Clients int    `json:"clients,omitzero"` // this proxy's
}

// Master is one master, as this proxy sees it.
type Master struct {
	Name        string    `json:"name"`
	State       string    `json:"state"` // as quorum.State says it
	Since       Time      `json:"since"`
	Why         Text      `json:"why,omitempty"`
	Left        Millis    `json:"leftMs,omitzero"` // of its quarantine, if that is known
	RoundTrip   Micros    `json:"roundTripUs,omitzero"`
	ClockKnown  bool      `json:"clockKnown"`
	ClockOffset Millis    `json:"clockOffsetMs"` // ahead of the median of all, if it is known
	Queue       int       `json:"queue"`
	InBatch     int       `json:"inBatch"`
	Debts       int       `json:"debts"`
	Votes       VoteCount `json:"votes"`
	Version     Text      `json:"version"`
	CatchUp     *CatchUp  `json:"catchUp,omitempty"`   // while there is a quarantine
	Elsewhere   []DBState `json:"elsewhere,omitempty"` // databases in which it stands otherwise
	Troubles    []Trouble `json:"troubles"`            // what it has had, the latest first
}

// VoteCount is how often a master voted how.
type VoteCount struct {
	Granted  uint64 `json:"granted"`
	Refused  uint64 `json:"refused"`
	Unknown  uint64 `json:"unknown"`
	Withheld uint64 `json:"withheld"`
	Unasked  uint64 `json:"unasked"`
}

// CatchUp is how far a master's has come.
type CatchUp struct {
	Copied  int64 `json:"copied"`
	Sources int64 `json:"sources"`
	Needed  int64 `json:"needed"`
}

// DBState is where a master stands in one database.
type DBState struct {
	DB    int    `json:"db"`
	State string `json:"state"`
	Why   Text   `json:"why,omitempty"`
}

// Trouble is what a master had at some time.
type Trouble struct {
	At   Time `json:"at"`
	Text Text `json:"text"`
}

// Contended is a key that is fought for.
type Contended struct {
	DB          int      `json:"db"`
	Key         Text     `json:"key"`
	KeyBytes    int      `json:"keyBytes,omitzero"` // the handler's, if Key is only the beginning
	Refusals    uint64   `json:"refusals"`
	PerSecond   [60]uint `json:"perSecond"` // refusals, the latest second last
	Waiters     int      `json:"waiters"`
	LastKnownBy Text     `json:"lastKnownBy,omitempty"` // who last held it, as far as is known here
}

// Latency is how long what clients asked took lately, by what it was.
type Latency struct {
	Kind string `json:"kind"`
	P50  Millis `json:"p50Ms"`
	P99  Millis `json:"p99Ms"`
}

// MasterOf is what the engine tells of a master. Troubles are not the engine's.
func MasterOf(m *quorum.MasterStatus) Master {
	row := Master{
		Name: m.Name, State: m.State.String(), Since: Time(m.Since), Why: Text(m.Reason), Left: Millis(m.Left),
		RoundTrip: Micros(m.RoundTrip), ClockKnown: m.ClockKnown, ClockOffset: Millis(m.ClockOffset),
		Queue: m.Queue, InBatch: m.InBatch, Debts: m.Debts, Version: Text(m.Version),
		Votes: VoteCount{m.Granted, m.Refused, m.Unknown, m.Withheld, m.Unasked},
	}
	if m.State == quorum.Quarantined || m.State == quorum.CatchingUp || m.Left > 0 {
		row.CatchUp = &CatchUp{m.CatchUp.Copied, m.CatchUp.Sources, m.CatchUp.Needed}
	}
	for i := range m.Elsewhere {
		e := &m.Elsewhere[i]
		row.Elsewhere = append(row.Elsewhere, DBState{e.DB, e.State.String(), Text(e.Reason)})
	}
	return row
}
