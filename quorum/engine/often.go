package engine

import (
	"crypto/sha1"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"redlock-proxy/quorum"
	"redlock-proxy/quorum/master"
)

// A master keeps every script that it has ever run, and a client may think of as many as it
// likes. So what is asked for seldom is given to one constant script as an argument, which
// takes a master somewhat longer and leaves nothing there. What is asked for often becomes a
// script of its own, as long as there are not too many of these.

const (
	// oftenCalls within oftenSpan are often.
	oftenCalls = 4
	oftenSpan  = time.Minute

	// maxOften and maxOftenBytes bound what one proxy has the masters keep. On a master a
	// script takes some three times as much as its text.
	maxOften      = 400
	maxOftenBytes = 8 << 20
)

// form is how the masters know a Script: one of ours always by the same, and a client's by one
// of its own where it was asked for often of late.
type form struct {
	*quorum.Script
	wrapped *master.Script                // of ours
	own     atomic.Pointer[master.Script] // of a client's, once it has become one
	since   atomic.Int64                  // the beginning of the span, in nanoseconds
	calls   atomic.Int32
}

// formOf is the form of a Script, which is made when it is first asked for.
func formOf(s *quorum.Script) *form {
	if f, ok := s.Known.Load().(*form); ok {
		return f
	}
	f := &form{Script: s}
	if s.Printed == nil {
		w := wrapping{first: datedText, reads: s.Reads}
		if s.Latches {
			w.first, w.latch = datedText+latchText+" ", "__latch"
		}
		f.wrapped = prelude.wrap(s.Text, w)
	}
	s.Known.CompareAndSwap(nil, f)
	return s.Known.Load().(*form)
}

// again notes a call.
func (f *form) again(now time.Time) {
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
		own := f.itself()
		if mayKeep(sum, len(own.Text)) {
			f.own.Store(own)
		}
	}
}

// sum is by which a script is known, of its own, before that is put together.
func (f *form) sum() [sha1.Size]byte {
	return sha1.Sum(fmt.Appendf(nil, "%v %t %v %s", f.Printed.Bounds, f.Reads, f.Printed.Helpers, f.Text))
}

// itself is a client's script as one of its own.
func (f *form) itself() *master.Script {
	return prelude.wrap(f.Text, wrapping{first: datedText, reads: f.Reads, bounds: &f.Printed.Bounds, knows: helpers.of(f.Printed.Helpers)})
}

// keeping is what the masters were made to keep.
var keeping struct {
	mu    sync.Mutex
	sums  map[[sha1.Size]byte]struct{}
	bytes int
}

// mayKeep tells that the masters may keep one more script, or have it already. Once its
// length is known it counts as one that they keep.
func mayKeep(sum [sha1.Size]byte, length int) bool {
	keeping.mu.Lock()
	defer keeping.mu.Unlock()
	if _, there := keeping.sums[sum]; there {
		return true
	}
	if len(keeping.sums) >= maxOften || keeping.bytes+max(length, 1) > maxOftenBytes {
		return false
	}
	if length == 0 {
		return true
	}
	if keeping.sums == nil {
		keeping.sums = make(map[[sha1.Size]byte]struct{})
	}
	keeping.sums[sum] = struct{}{}
	keeping.bytes += length
	return true
}

// runs is what the masters are to run, and the argument by which that is told what the script
// is, if it is none of its own.
func (f *form) runs() (run *master.Script, chunk string) {
	if f.wrapped != nil {
		return f.wrapped, ""
	}
	if own := f.own.Load(); own != nil {
		return own, ""
	}
	return constantOf(f.Printed.Bounds, f.Reads), f.chunk()
}

// chunk is the script as an argument of a constant one.
func (f *form) chunk() string {
	return "local " + printedParameters + "=... " + f.named() + "return function(...) " + f.Text + "\nend" + printedFurther
}

// named has what the script names made at its beginning, where it may call so deep that Lua
// has no room left to make that: what a script can do is not to hang on how often it is asked
// for.
func (f *form) named() string {
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

// constants are the scripts that run what they are given.
var constants struct {
	mu   sync.Mutex
	made map[constantKey]*master.Script
}

type constantKey struct {
	bounds quorum.Bounds
	reads  bool
}

// constantLine is where the prelude is in a constant script: behind any line that a script
// can have.
const constantLine = 1 + 70_000

func constantOf(b quorum.Bounds, reads bool) *master.Script {
	constants.mu.Lock()
	defer constants.mu.Unlock()
	k := constantKey{b, reads}
	if s := constants.made[k]; s != nil {
		return s
	}
	if constants.made == nil {
		constants.made = make(map[constantKey]*master.Script)
	}
	s := master.NewScript(datedText + "local __make,__e=loadstring(table.remove(ARGV,3),'@user_script') if not __make then return {err='ERR Error compiling script (new function): '..__e} end" +
		strings.Repeat("\n", constantLine-1) + prelude.run(constantLine, helpers.all(), wrapping{reads: reads, bounds: &b}))
	constants.made[k] = s
	return s
}
