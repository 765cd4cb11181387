// Package lease judges what clients of a lock have seen. It knows nothing of
// how a lock is made: from the moments at which each client asked and heard,
// it says whether two of them ever held one lock inside their validity.
//
// A client relies on a lock from when it hears that it has it until its ttl
// has passed since it *asked*, or until it begins to release it, or until it
// hears that it no longer has it, whichever is first. That is all that a
// client with no clock but its own can rely on, so it is all that is held
// against the lock: a refusal, an error and a time-out are always allowed, and
// a key may outlive its lock.
package lease

import (
	"fmt"
	"time"
)

// Instant is a moment in nanoseconds of a clock that all processes of one
// machine share, and that never jumps.
type Instant int64

// After is the instant d later.
func (i Instant) After(d time.Duration) Instant { return i + Instant(d) }

// Since is the time from an earlier instant to this one.
func (i Instant) Since(earlier Instant) time.Duration { return time.Duration(i - earlier) }

// Kind is what a client asked.
type Kind uint8

const (
	Acquire Kind = iota + 1
	Extend
	Read // of one's own key: is the token still there?
	Release
)

var kinds = []string{Acquire: "acquire", Extend: "extend", Read: "read", Release: "release"}

func (k Kind) String() string { return Name(kinds, int(k), "kind") }

// MarshalText writes the name, so that histories can be read by people.
func (k Kind) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// UnmarshalText reads what MarshalText wrote.
func (k *Kind) UnmarshalText(text []byte) error {
	n, err := Number(kinds, string(text))
	*k = Kind(n)
	return err
}

// Outcome is what a client heard. An outcome that is unknown may have happened
// or not, or may yet happen.
type Outcome uint8

const (
	Yes Outcome = iota + 1
	No
	Unknown
)

var outcomes = []string{Yes: "yes", No: "no", Unknown: "unknown"}

func (o Outcome) String() string { return Name(outcomes, int(o), "outcome") }

// MarshalText writes the name, so that histories can be read by people.
func (o Outcome) MarshalText() ([]byte, error) { return []byte(o.String()), nil }

// UnmarshalText reads what MarshalText wrote.
func (o *Outcome) UnmarshalText(text []byte) error {
	n, err := Number(outcomes, string(text))
	*o = Outcome(n)
	return err
}

// Name is the n-th of some names, counted from 1, of so and so.
func Name(names []string, n int, what string) string {
	if n < 1 || n >= len(names) {
		return fmt.Sprintf("%s %d", what, n)
	}
	return names[n]
}

// Number is where a name is among some, counted from 1.
func Number(names []string, name string) (int, error) {
	for i, n := range names {
		if i > 0 && n == name {
			return i, nil
		}
	}
	return 0, fmt.Errorf("%q is none of %q", name, names[1:])
}

// Op is one question of a client and its answer. A token is never used for two
// acquires, and the ops of a token follow each other without overlapping.
type Op struct {
	Client       int
	Proxy        int // that was asked
	Key, Token   string
	Kind         Kind
	Outcome      Outcome
	TTL          time.Duration `json:",omitempty"` // of an acquire or extend
	Call, Return Instant
	Heard        string `json:",omitempty"` // the words of an unknown outcome
}

// promises tells until when a client may rely on the lock after a yes.
func (o Op) promises() Instant { return o.Call.After(o.TTL) }

func (o Op) String() string {
	s := fmt.Sprintf("%v %s", o.Kind, o.Token)
	if o.TTL > 0 {
		s += fmt.Sprintf(" for %v", o.TTL)
	}
	s += fmt.Sprintf(": %v", o.Outcome)
	if o.Heard != "" {
		s += fmt.Sprintf(" (%s)", o.Heard)
	}
	return s
}
