package quorum

import (
	"crypto/sha1"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"
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

// often is how often a client's script was asked for of late, and the script of its own that
// it has become.
type often struct {
	own   atomic.Pointer[script]
	since atomic.Int64 // the beginning of the span, in nanoseconds
	calls atomic.Int32
}

// again notes a call.
func (s *Script) again(now time.Time) {
	if s.printed == nil || s.asked.own.Load() != nil {
		return
	}
	at := now.UnixNano()
	if since := s.asked.since.Load(); at-since > int64(oftenSpan) && s.asked.since.CompareAndSwap(since, at) {
		s.asked.calls.Store(0)
	}
	if s.asked.calls.Add(1) != oftenCalls {
		return
	}
	if sum := s.sum(); mayKeep(sum, 0) {
		own := s.itself()
		if mayKeep(sum, len(own.text)) {
			s.asked.own.Store(own)
		}
	}
}

// sum is by which a script is known, of its own, before that is put together.
func (s *Script) sum() [sha1.Size]byte {
	return sha1.Sum(fmt.Appendf(nil, "%v %t %v %s", s.printed.Bounds, s.reads, s.printed.Helpers, s.text))
}

// itself is a client's script as one of its own.
func (s *Script) itself() *script {
	return prelude.wrap(s.text, wrapping{first: datedText, reads: s.reads, bounds: &s.printed.Bounds, knows: helpers.of(s.printed.Helpers)})
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
func (s *Script) runs() (run *script, chunk string) {
	if s.wrapped != nil {
		return s.wrapped, ""
	}
	if own := s.asked.own.Load(); own != nil {
		return own, ""
	}
	return constantOf(s.printed.Bounds, s.reads), s.chunk()
}

// chunk is the script as an argument of a constant one.
func (s *Script) chunk() string {
	return "local " + printedParameters + "=... " + s.named() + "return function(...) " + s.text + "\nend" + printedFurther
}

// named has what the script names made at its beginning, where it may call so deep that Lua
// has no room left to make that: what a script can do is not to hang on how often it is asked
// for.
func (s *Script) named() string {
	var b strings.Builder
	for _, name := range s.printed.Helpers {
		switch name {
		case "pcall", "string_gsub", "table_sort", "index", "method":
			b.WriteString("local _=")
			for i, name := range s.printed.Helpers {
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
	made map[constantKey]*script
}

type constantKey struct {
	bounds Bounds
	reads  bool
}

// constantLine is where the prelude is in a constant script: behind any line that a script
// can have.
const constantLine = 1 + 70_000

func constantOf(b Bounds, reads bool) *script {
	constants.mu.Lock()
	defer constants.mu.Unlock()
	k := constantKey{b, reads}
	if s := constants.made[k]; s != nil {
		return s
	}
	if constants.made == nil {
		constants.made = make(map[constantKey]*script)
	}
	s := newScript(datedText + "local __make,__e=loadstring(table.remove(ARGV,3),'@user_script') if not __make then return {err='ERR Error compiling script (new function): '..__e} end" +
		strings.Repeat("\n", constantLine-1) + prelude.run(constantLine, helpers.all(), wrapping{reads: reads, bounds: &b}))
	constants.made[k] = s
	return s
}
