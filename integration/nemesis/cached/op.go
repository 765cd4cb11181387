// Package cached judges what clients keep of what they have read. It knows nothing of
// how they are told of changes: each key is written by one client, with numbers that grow,
// and from who wrote, read and kept which of them, and when, it says who kept an old one.
package cached

import (
	"fmt"

	"redlock-proxy/integration/nemesis/lease"
)

// Kind is what a client did.
type Kind uint8

const (
	Write Kind = iota + 1 // of a number greater than all before
	Read                  // of what the masters hold
	Look                  // at what the client has kept, when it has heard all that it was told until it asked
	Quiet                 // the same, when all is well again and nobody writes
)

var kinds = []string{Write: "write", Read: "read", Look: "look", Quiet: "quiet"}

func (k Kind) String() string { return lease.Name(kinds, int(k), "kind") }

// MarshalText writes the name, so that histories can be read by people.
func (k Kind) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// UnmarshalText reads what MarshalText wrote.
func (k *Kind) UnmarshalText(text []byte) error {
	n, err := lease.Number(kinds, string(text))
	*k = Kind(n)
	return err
}

// Absent is the number of a key that is not there.
const Absent = 0

// Op is one thing that a client did.
type Op struct {
	Client, Proxy int
	Key           string
	Kind          Kind
	Number        int  // what was written, read or kept
	Ends          bool `json:",omitempty"` // a write after which the key is gone, at once or soon
	Is            int  `json:",omitempty"` // what the masters hold when it is quiet
	Outcome       lease.Outcome
	Call, Return  lease.Instant
	Heard         string `json:",omitempty"` // the words of an unknown outcome
}

func (o Op) String() string {
	s := fmt.Sprintf("%v of %d by client %d at proxy %d: %v", o.Kind, o.Number, o.Client, o.Proxy, o.Outcome)
	if o.Heard != "" {
		s += fmt.Sprintf(" (%s)", o.Heard)
	}
	return s
}
