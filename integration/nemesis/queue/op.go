// Package queue judges what clients of a queue have seen. It knows nothing of how
// a queue is made: every element has a name of its own, and from what each client
// pushed and was given it says which elements came twice, which never, and which
// nobody had pushed.
package queue

import (
	"fmt"

	"redlock-proxy/integration/nemesis/lease"
)

// Kind is what a client asked.
type Kind uint8

const (
	Push  Kind = iota + 1
	Move       // from where elements are pushed to where they are popped
	Pop        // an element is delivered
	Drain      // is the queue empty now, when all is well again?
)

var kinds = []string{Push: "push", Move: "move", Pop: "pop", Drain: "drain"}

func (k Kind) String() string { return lease.Name(kinds, int(k), "kind") }

// MarshalText writes the name, so that histories can be read by people.
func (k Kind) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// UnmarshalText reads what MarshalText wrote.
func (k *Kind) UnmarshalText(text []byte) error {
	n, err := lease.Number(kinds, string(text))
	*k = Kind(n)
	return err
}

// Op is one question of a client and its answer: yes is an element that was pushed or
// given, or a queue that is empty; no that there was none to give. What is unknown may
// have happened or not, or may yet happen.
type Op struct {
	Client       int
	Queues       []string // one, unless it is a pop that was given nothing
	Kind         Kind
	Element      string `json:",omitempty"`
	Outcome      lease.Outcome
	Call, Return lease.Instant
	Heard        string `json:",omitempty"` // the words of an unknown outcome
}

func (o Op) String() string {
	s := fmt.Sprintf("%v %s of %v by client %d: %v", o.Kind, o.Element, o.Queues, o.Client, o.Outcome)
	if o.Heard != "" {
		s += fmt.Sprintf(" (%s)", o.Heard)
	}
	return s
}
