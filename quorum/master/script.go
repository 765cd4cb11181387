package master

import (
	"crypto/sha1"
	"encoding/hex"
	"strconv"
	"sync/atomic"
)

// Script is one of our own scripts as the masters know it: loaded at each
// gate, run by its hash. It may be used by several goroutines at once.
type Script struct {
	Text, SHA string                 // the latter is the hash, in hexadecimal
	other     atomic.Pointer[Script] // see Form
}

// NewScript makes a Script of a text.
func NewScript(text string) *Script {
	sum := sha1.Sum([]byte(text))
	return &Script{Text: text, SHA: hex.EncodeToString(sum[:])}
}

// Eval is a call of the script with its text, for what is seldom run: the command for Ask.
func (s *Script) Eval(key string, args ...string) []string {
	return append([]string{"EVAL", s.Text, "1", key}, args...)
}

// Call appends to b the beginning of a call of the script by its hash, up to its arguments: the
// gate has loaded it.
func (s *Script) Call(b []string, keys ...string) []string {
	return append(append(b, "EVALSHA", s.SHA, strconv.Itoa(len(keys))), keys...)
}

// Form is another form of the script, which is made of its text once: of is the same at each call.
func (s *Script) Form(of func(text string) string) *Script {
	if s.other.Load() == nil {
		s.other.Store(NewScript(of(s.Text)))
	}
	return s.other.Load()
}

// maxLoaded bounds what a link remembers of scripts. Beyond it they are sent
// with their text again.
const maxLoaded = 10_000

// Knows tells whether the master has a script already, and notes that it will:
// the caller sends the text otherwise.
func (l *Link) Knows(sha string) bool {
	if _, ok := l.loaded[sha]; ok {
		return true
	}
	if l.loaded == nil || len(l.loaded) >= maxLoaded {
		l.loaded = make(map[string]struct{})
	}
	l.loaded[sha] = struct{}{}
	return false
}

// Forget has all journaled scripts be sent again with their text.
func (l *Link) Forget() { l.loaded = nil }
