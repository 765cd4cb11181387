package engine

import (
	"strconv"
	"time"

	"redlock-proxy/quorum/clock"
	"redlock-proxy/quorum/messages"
)

// errand is a command for one master alone: an undo, a debt paid, a key given again,
// the end of a step, or a message published. It goes to the head of the next batch. What does
// not fit there waits for the one after, and so does every command on its key.
type errand struct {
	debt     debt
	ending   *ending   // if not nil, how a step ends
	heal     *op       // if not nil, the extension whose key is to be set again
	from     time.Time // of heal: when its ttl began
	envelope string    // if not "", what is to be published
}

// pays tells that the errand takes something back, and is owed if it fails.
func (e *errand) pays() bool { return e.heal == nil && e.envelope == "" && e.ending == nil }

// keys are those that no later command may have been put for, where the errand is
// sent once more. The end of a step does nothing where one has changed the key.
func (e *errand) keys() []string {
	switch {
	case e.heal != nil:
		return []string{e.heal.Key}
	case e.ending != nil && e.ending.gives():
		return []string{e.ending.key}
	case e.ending != nil:
		return nil
	}
	return []string{e.debt.key}
}

// about are the keys that the errand is about.
func (e *errand) about() []string {
	switch {
	case e.envelope != "":
		return nil
	case e.ending != nil:
		return []string{e.ending.key}
	}
	return e.keys()
}

// size is about what the errand takes in memory, in bytes. It does not change while the
// errand waits.
func (e *errand) size() int {
	switch {
	case e.envelope != "":
		return len(e.envelope)
	case e.heal != nil:
		return errandSize + len(e.heal.Key) + len(e.heal.Token)
	case e.ending == nil:
		return errandSize + e.debt.size()
	}
	return errandSize + len(e.ending.key) + e.ending.back.size()
}

// errandSize is what it takes beside its texts.
const errandSize = 400

// argv is the errand as the master gets it, or nil if it has come too late.
func (e *errand) argv(b []string, now time.Time) []string {
	if e.envelope != "" {
		return append(b, "PUBLISH", messages.Channel, e.envelope)
	}
	if e.ending != nil {
		return e.ending.argv(b, now)
	}
	if e.heal == nil {
		if e.debt.over(now) {
			return nil
		}
		return e.debt.argv(b, now)
	}
	b = append(b, "SET", e.heal.Key, e.heal.Token, "NX")
	if e.heal.ttl == 0 {
		return b
	}
	left := e.heal.ttl - now.Sub(e.from)
	if left <= 0 {
		return nil
	}
	return append(b, "PX", strconv.FormatInt(clock.Milliseconds(left), 10))
}
