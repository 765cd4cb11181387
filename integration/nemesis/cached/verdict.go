package cached

import (
	"fmt"

	"redlock-proxy/integration/nemesis/lease"
)

// Verdict is what is to be said of a history.
type Verdict struct {
	Stale  []string // kept, though overwritten, and the client had to be told
	Old    []string // read, though overwritten before it was asked for
	Behind []string // kept when all was quiet, and masters held something else
	// How many were written, read from masters, still kept when it was looked, and in the end.
	Written, Read, Kept, Settled int
}

// known is what was written to a key.
type known struct {
	writes []Op // those that were acknowledged, in their order
	ends   bool // one of all of them has it end
}

// Judge goes through what all clients did. Who keeps something that was overwritten has to
// have been told of a write through his own proxy before its answer, and of another when
// told says so: it is asked whether a client that looks is to know of what came before.
func Judge(history []Op, told func(look Op, of lease.Instant) bool) Verdict {
	var v Verdict
	keys := make(map[string]*known)
	for _, op := range history {
		if op.Kind != Write {
			continue
		}
		if keys[op.Key] == nil {
			keys[op.Key] = &known{}
		}
		keys[op.Key].note(op)
	}
	for _, op := range history {
		if op.Outcome != lease.Yes {
			continue
		}
		switch op.Kind {
		case Write:
			v.Written++
		case Read:
			v.Read++
			if w, old := keys[op.Key].after(op, func(w Op) bool { return w.Return < op.Call }); old && op.Number != Absent {
				v.Old = append(v.Old, fmt.Sprintf("%s: %v, after the %v", op.Key, op, w))
			}
		case Look:
			v.Kept++
			if w, old := keys[op.Key].after(op, func(w Op) bool {
				return w.Return < op.Call && (w.Proxy == op.Proxy || told(op, w.Return))
			}); old {
				v.Stale = append(v.Stale, fmt.Sprintf("%s: %v, %v after the %v", op.Key, op, op.Call.Since(w.Return), w))
			}
		case Quiet:
			v.Settled++
			if op.Number != op.Is {
				v.Behind = append(v.Behind, fmt.Sprintf("%s: %v, and it is %d", op.Key, op, op.Is))
			}
		}
	}
	return v
}

func (k *known) note(op Op) {
	k.ends = k.ends || op.Ends
	if op.Outcome == lease.Yes {
		k.writes = append(k.writes, op)
	}
}

// after finds a write of something greater than what a client has that counts.
func (k *known) after(op Op, counts func(Op) bool) (Op, bool) {
	// What has gone may be absent without another write.
	if k == nil || op.Number == Absent && k.ends {
		return Op{}, false
	}
	for _, w := range k.writes {
		if w.Number > op.Number && counts(w) {
			return w, true
		}
	}
	return Op{}, false
}
