package marker

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"redlock-proxy/quorum"
)

// Marker is what a master's marker says. It has a field for each word that stands in the key, and
// so more of them than other types: other programs, and other versions of this one, read them
// by these names.
type Marker struct {
	Nonce        Nonce  `json:"-"`
	Installation string `json:"installation"` // drawn by bootstrap; tells one set of masters from another
	Member       string `json:"member"`       // the master's own name in the set
	DB           int    `json:"db"`           // the database that it stands in; NotTold if it does not say
	Terms

	// RunID is that of the process that was admitted, and Durable that it was
	// seen, while it ran, to put every write on disk before it answered.
	RunID   string `json:"run_id"`
	Durable bool   `json:"durable,omitempty"`

	// Log is the name of the log that it wrote all the while, if not RunID, and Others,
	// in database 0 alone, which log each other member writes; see engine/durable.go.
	Log    string            `json:"log,omitempty"`
	Others map[string]string `json:"others,omitempty"`

	// Whole tells that the process has read a log when it was started that is whole, so that
	// it is excused in all databases; in database 0.
	Whole bool `json:"whole,omitempty"`

	// Rewrites, in database 0, is how often the process had begun to write its log anew when
	// that got its name.
	Rewrites int `json:"rewrites,omitempty"`

	// First tells that no master of the installation was known to vote when this
	// provisional marker was written. Loss names that step.
	First bool `json:"first,omitempty"`

	// Sworn tells of a first marker that it was written on the operator's word that nobody
	// holds a lock; see members/bootstrapplan.go.
	Sworn bool `json:"sworn,omitempty"`

	// Was is the nonce of the marker that this one has replaced.
	Was Nonce `json:"was,omitempty"`

	// Loss tells one loss of the whole master from the next: the markers of all its
	// databases name the last that was told there, also when they let it vote again.
	Loss string `json:"loss,omitempty"`

	// Evicted is how many keys the process had evicted, and Replication which history
	// its data set had, when the marker was written: of a loss that was told since the
	// lane looked at the server last, what that has told.
	Evicted     int    `json:"evicted"`
	Replication string `json:"replication,omitempty"`

	// Why a quarantine began, and how long it has lasted already, in
	// milliseconds, as proxies have seen it pass by their own clocks.
	Why     string `json:"why,omitempty"`
	Elapsed int64  `json:"elapsed_ms,omitempty"`

	// Ghosts tells that the master was let vote again and may hold what nobody does. Who
	// has freed it of that, takes the word back.
	Ghosts bool `json:"ghosts,omitempty"`

	// From is the installation that the set was made of by change-masters. Until
	// that has finished, Changing is told, and nobody lets the master vote; Holds
	// is, if it remembers what it granted as one of the old set; and Given as well, the
	// nonces of the new set's masters, when they have been given that, so that whoever
	// bears another one may have voted since.
	From     string  `json:"from,omitempty"`
	Changing bool    `json:"changing,omitempty"`
	Holds    bool    `json:"holds,omitempty"`
	Given    []Nonce `json:"given,omitempty"`
}

// NotTold is in a number that a marker of an older program does not have.
const NotTold = -1

// String is the marker as it stands on the master.
func (m Marker) String() string {
	b, err := json.Marshal(m)
	if err != nil {
		panic(err) // strings and numbers
	}
	return string(m.Nonce) + " " + string(b)
}

// NoMarker says what stands in a marker's place, and what to do about it: a master
// without a marker is kept out until no lock can be left that it has forgotten.
const NoMarker = "the key " + quorum.MarkerKey + " holds what is no marker: find out who wrote that, and delete it; the master is then one that has lost its marker"

// Parse reads a marker. What is not one of ours is an error.
func Parse(text string) (m Marker, err error) {
	n, rest, ok := strings.Cut(text, " ")
	if m.Nonce = Nonce(n); !ok || !m.Nonce.Valid() {
		return m, errors.New(NoMarker)
	}
	m.DB, m.Evicted = NotTold, NotTold
	if err := json.Unmarshal([]byte(rest), &m); err != nil {
		return m, fmt.Errorf("%s: %w", NoMarker, err)
	}
	return m, nil
}

// Since tells what has become of a master's keys, by its own word, since the marker was
// written: why it forgot, or "".
//
// A server that was a replica for a while may hold what another one held. If that was
// none but its own replica, it bears its own marker, and lacks the last that it granted.
//
// It is asked in every database, as each has a connection of its own, and the first that
// is back must not vote before the others have found out.
func (m Marker) Since(who Identity) (why string) {
	switch {
	case m.RunID != who.RunID:
	case m.Evicted != NotTold && who.Evicted > m.Evicted:
		return fmt.Sprintf("it has evicted %d keys", who.Evicted-m.Evicted)
	case m.Replication != "" && who.Replication != m.Replication && who.Continued:
		return "it has been a replica"
	}
	return ""
}

// OfAnEarlier tells that the marker is an earlier process's, and may be older than what
// became of its master there. That another master bears a marker of the installation which
// change-masters has made, without Changing, tells that each of its masters has been given
// everything, so that one which comes back as it was before has lost its memory as any other:
//
//	1: a set of 1 2 3 becomes 1 to 5, and its proxies serve
//	2: master 1 crashes, and reads a dump of before; were its marker that of another set's,
//	   no proxy would grant anything
//
// A log is no better: one that was not switched off would hold what came after.
func (m Marker) OfAnEarlier(who Identity) bool { return m.RunID != who.RunID }
