package quorum

import "sync/atomic"

// Script is a script that is run journaled: made once, and asked for as often as it is
// needed, by any goroutine. But for Conduct and Known nothing of it changes.
type Script struct {
	Text    string   // what the masters run, without the prelude
	Printed *Printed // of a client's; nil: it is one of ours
	Runs    *Bounds  // of the clients' scripts that it runs, see NewRunner; nil: it runs none
	Reads   bool     // it may not write
	Latches bool     // see NewStep
	Exact   bool     // see NewExactStep
	Heard   bool     // see NewHeardStep
	Frees   bool     // it names what deletes a key, and may so let go of a lock
	Reaches bool     // a client's, or one that runs some, may use keys that it was not given, if they have the tag of one that it was

	// Further, of a step that counts, tells whether it has counted further to a than
	// to b; nil otherwise.
	Further func(a, b int64) bool

	// Conduct, of a client's, is for who has it run: what it has seen of how much that takes
	// a master, as it puts it.
	Conduct atomic.Uint32

	// Known is for the engine: how the masters know it.
	Known atomic.Value

	reading  atomic.Pointer[Script] // the same, where it may not write
	confined atomic.Pointer[Script] // and where it may use no keys but those that it was given
}

// Printed is a client's script as it runs on a master: what was printed from what was
// read of it, see package lua. It names nothing but KEYS, ARGV, and its helpers.
type Printed struct {
	Body    string   // Lua statements
	Helpers []string // what it names in __h
	Bounds  Bounds
}

// Bounds says what one call of a client's script may cost a master.
type Bounds struct {
	Steps  int // turns of loops and calls of functions, and what else takes its time
	Memory int // bytes of the strings that it makes
}

// DefaultBounds are far from any lock script. Within them a script takes a few tens of
// milliseconds of a master at most.
var DefaultBounds = Bounds{Steps: 10_000, Memory: 1 << 20}

// NewScript makes a Script of a text of ours.
func NewScript(text string) *Script { return &Script{Text: text} }

// NewPrinted makes a Script of a client's.
func NewPrinted(p Printed) *Script { return &Script{Text: p.Body, Printed: &p, Reaches: true} }

// NewReaching makes a Script of a text of ours that is ordered as one which may use keys that it was
// not given.
func NewReaching(text string) *Script { return &Script{Text: text, Reaches: true} }

// NewStep makes a Script whose calls keep out of each other's way: it latches its
// keys. It is for scripts whose writes are signed by no token.
func NewStep(text string) *Script { return &Script{Text: text, Latches: true} }

// NewExactStep makes a step that is tried again without the masters that may have carried it out: what it
// answers tells too little of whether that is so.
func NewExactStep(text string) *Script { return &Script{Text: text, Latches: true, Exact: true} }

// NewHeardStep makes a step that is decided when every master has voted, or can vote no more.
func NewHeardStep(text string) *Script { return &Script{Text: text, Latches: true, Heard: true} }

// NewRunner makes an exact step that runs clients' scripts, which are given to it as arguments, all of them
// together within these bounds. One is to be made for those that are run together, as what it takes is theirs.
func NewRunner(text string, bounds Bounds) *Script {
	return &Script{Text: text, Latches: true, Exact: true, Runs: &bounds, Reaches: true}
}

// NewCountUp makes a step that counts a string up and answers the number.
func NewCountUp(text string) *Script {
	s := NewStep(text)
	s.Further = func(a, b int64) bool { return a > b }
	return s
}

// NewCountDown makes a step that counts a string down and answers the number.
func NewCountDown(text string) *Script {
	s := NewStep(text)
	s.Further = func(a, b int64) bool { return a < b }
	return s
}

// OfClient tells whether it is a client's script, or runs some.
func (s *Script) OfClient() bool { return s.Printed != nil || s.Runs != nil }

// ReadOnly is the script in calls that may not write.
func (s *Script) ReadOnly() *Script {
	if s.reading.Load() == nil {
		s.reading.CompareAndSwap(nil, &Script{Text: s.Text, Printed: s.Printed, Runs: s.Runs, Latches: s.Latches && s.Printed == nil, Exact: s.Exact, Reads: true, Reaches: s.Reaches})
	}
	return s.reading.Load()
}

// Confined is the script in calls that may use no keys but those that it was given.
func (s *Script) Confined() *Script {
	if !s.Reaches {
		return s
	}
	if s.confined.Load() == nil {
		s.confined.CompareAndSwap(nil, &Script{Text: s.Text, Printed: s.Printed, Runs: s.Runs, Latches: s.Latches, Exact: s.Exact, Reads: s.Reads, Frees: s.Frees, Further: s.Further})
	}
	return s.confined.Load()
}
