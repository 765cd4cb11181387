package quorum

import (
	_ "embed"
	"fmt"
	"strings"
	"sync/atomic"
)

// Script is a script that is run journaled.
type Script struct {
	text    string   // what the masters run, without the prelude
	printed *Printed // nil: it is one of ours
	reads   bool     // it may not write
	latches bool     // see NewStep
	wrapped *script  // of ours, as the masters know it
	asked   often    // of a client's

	// Conduct, of a client's, is for who has it run: what it has seen of how much that takes
	// a master, as it puts it.
	Conduct atomic.Uint32

	reading atomic.Pointer[Script] // the same, where it may not write

	// further, of a step that counts, tells whether it has counted further to a than
	// to b; nil otherwise.
	further func(a, b int64) bool
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
func NewScript(text string) *Script {
	return &Script{text: text, wrapped: prelude.wrap(text, wrapping{first: datedText})}
}

// NewPrinted makes a Script of a client's.
func NewPrinted(p Printed) *Script {
	return &Script{text: p.Body, printed: &p}
}

// OfClient tells whether it is a client's script, and none of ours.
func (s *Script) OfClient() bool { return s.printed != nil }

// ReadOnly is the script in calls that may not write.
func (s *Script) ReadOnly() *Script {
	if s.reading.Load() == nil {
		reading := &Script{text: s.text, printed: s.printed, reads: true}
		if s.printed == nil {
			reading.wrapped = prelude.wrap(s.text, wrapping{first: datedText, reads: true})
		}
		s.reading.CompareAndSwap(nil, reading)
	}
	return s.reading.Load()
}

// wrapping is how a script and the prelude are put together.
type wrapping struct {
	first  string // what is done before
	latch  string // the name of what the prelude is to know of a latch, if there is one
	reads  bool
	bounds *Bounds // nil: the script is one of ours
	knows  string  // what makes the script's helpers
}

// wrap puts a script before the prelude.
func (p preludeParts) wrap(text string, w wrapping) *script {
	parameters, further, knows := "KEYS,ARGV,redis", "", oursKnow
	if w.bounds != nil {
		parameters, further, knows = printedParameters, printedFurther, w.knows
	}
	return newScript(w.first + "local __make=function(" + parameters + ") return function(...) " + text + "\nend" + further + " end " +
		p.run(2+strings.Count(text, "\n"), knows, w))
}

// run is the prelude, which is on that line, and makes the script by __make.
func (p preludeParts) run(line int, knows string, w wrapping) string {
	latch, bounds := "nil", "nil,nil"
	if w.latch != "" {
		latch = w.latch
	}
	if b := w.bounds; b != nil {
		bounds = fmt.Sprintf("%d,%d", b.Steps, b.Memory)
	}
	return fmt.Sprintf("%s %s %s(redis,KEYS,ARGV,%s,%t,__make,%d,%s)", p.before, knows, p.after, latch, w.reads, line, bounds)
}

// A client's script is given what it may name, and makes besides what takes its steps.
const (
	printedParameters = "KEYS,ARGV,__h,__t,__x"
	printedFurther    = ",function(n) __t=__t-n if __t<1 then __x() end return __t end"
)

//go:embed journal.lua
var preludeText string

// prelude is the journal's text on one line, parted where it says what a script knows.
var prelude = func() preludeParts {
	before, after, ok := strings.Cut(preludeText, "-- what it knows\n")
	if !ok {
		panic("the prelude does not say what a script knows")
	}
	return preludeParts{oneLine(before), oneLine(after)}
}()

type preludeParts struct{ before, after string }

//go:embed ours.lua
var oursText string

// oursKnow is what a script of ours knows of Redis, and has beside the prelude.
var oursKnow = oneLine(oursText)

// oneLine takes comments, indentation and line ends out of a Lua text in which
// no string holds any of them.
func oneLine(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "--") {
			continue
		}
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(line)
	}
	return b.String()
}
