package quorum

import (
	"strconv"
	"time"
)

// errand is a command for one master alone, on which nobody waits: an undo, a
// debt paid, or a key given again. It goes to the head of the next batch.
type errand struct {
	debt debt
	heal *op       // if not nil, the extension whose key is to be set again
	from time.Time // of heal: when its ttl began
}

func (e *errand) key() string {
	if e.heal != nil {
		return e.heal.Key
	}
	return e.debt.key
}

// argv is the errand as the master gets it, or nil if it has come too late.
func (e *errand) argv(b []string, now time.Time) []string {
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
	return append(b, "PX", strconv.FormatInt(milliseconds(left), 10))
}
