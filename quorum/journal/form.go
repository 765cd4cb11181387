package journal

import (
	"crypto/sha1"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"redlock-proxy/quorum"
	"redlock-proxy/quorum/master"
)

// Form is how the masters know a Script: one of ours always by the same, and a client's by one
// of its own where it was asked for often of late.
type Form struct {
	*quorum.Script
	wrapped *master.Script                // of ours
	own     atomic.Pointer[master.Script] // of a client's, once it has become one
	since   atomic.Int64                  // the beginning of the span, in nanoseconds
	calls   atomic.Int32
}

// FormOf is the form of a Script, which is made when it is first asked for.
func FormOf(s *quorum.Script) *Form {
	if f, ok := s.Known.Load().(*Form); ok {
		return f
	}
	f := &Form{Script: s}
	switch {
	case s.Runs != nil:
		f.wrapped = running(s)
	case s.Printed == nil:
		f.wrapped = prelude.wrap(s.Text, first(s))
	}
	s.Known.CompareAndSwap(nil, f)
	return s.Known.Load().(*Form)
}

// first is what is done before a script, and what the prelude is to know of it.
func first(s *quorum.Script) wrapping {
	w := wrapping{first: DatedText, reads: s.Reads, reaches: s.OfClient() && s.Reaches}
	if s.Latches {
		w.first, w.latch = DatedText+latchText+" ", "__latch"
	}
	return w
}

// Called notes a call.
func (f *Form) Called(now time.Time) {
	if f.Printed == nil || f.own.Load() != nil {
		return
	}
	at := now.UnixNano()
	if since := f.since.Load(); at-since > int64(oftenSpan) && f.since.CompareAndSwap(since, at) {
		f.calls.Store(0)
	}
	if f.calls.Add(1) != oftenCalls {
		return
	}
	if sum := f.sum(); mayKeep(sum, 0) {
		own := f.Own()
		if mayKeep(sum, len(own.Text)) {
			f.own.Store(own)
		}
	}
}

// sum is by which a script is known, of its own, before that is put together.
func (f *Form) sum() [sha1.Size]byte {
	return sha1.Sum(fmt.Appendf(nil, "%v %t %t %v %s", f.Printed.Bounds, f.Reads, f.Reaches, f.Printed.Helpers, f.Text))
}

// Own is the Script as one of its own. A client's is put together anew by each call.
func (f *Form) Own() *master.Script {
	if f.wrapped != nil {
		return f.wrapped
	}
	w := first(f.Script)
	w.bounds, w.knows = &f.Printed.Bounds, helpers.of(f.Printed.Helpers)
	return prelude.wrap(f.Text, w)
}

// Runs is what the masters are to run, and the argument by which that is told what the script
// is, if it is none of its own.
func (f *Form) Runs() (run *master.Script, chunk string) {
	if f.wrapped != nil {
		return f.wrapped, ""
	}
	if own := f.own.Load(); own != nil {
		return own, ""
	}
	return f.Constant(), f.Chunk()
}

// Chunk is the script as an argument of a constant one.
func (f *Form) Chunk() string {
	return "local " + printedParameters + "=... " + f.named() + "return function(...) " + f.Text + "\nend" + printedFurther
}

// named has what the script names made at its beginning, where it may call so deep that Lua
// has no room left to make that: what a script can do is not to hang on how often it is asked
// for.
func (f *Form) named() string {
	var b strings.Builder
	for _, name := range f.Printed.Helpers {
		switch name {
		case "pcall", "string_gsub", "table_sort", "index", "method":
			b.WriteString("local _=")
			for i, name := range f.Printed.Helpers {
				if i > 0 {
					b.WriteString(" _=")
				}
				b.WriteString("__h." + name)
			}
			return b.String() + " "
		}
	}
	return ""
}
