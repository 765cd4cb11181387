package master

import (
	"crypto/sha1"
	"encoding/hex"
	"strconv"
	"sync/atomic"
)

// Script is one of our own scripts as the masters know it: loaded at each
// gate, run by its hash.
type Script struct {
	Text, SHA string                 // the latter is the hash, in hexadecimal
	other     atomic.Pointer[Script] // see form
}

// NewScript makes a Script of a text.
func NewScript(text string) *Script {
	sum := sha1.Sum([]byte(text))
	return &Script{Text: text, SHA: hex.EncodeToString(sum[:])}
}

// Eval is a call of the script with its text, for what is seldom run.
func (s *Script) Eval(key string, args ...string) []string {
	return append([]string{"EVAL", s.Text, "1", key}, args...)
}

// Call begins a call of the script by its hash: the gate has loaded it.
func (s *Script) Call(b []string, keys ...string) []string {
	return append(append(b, "EVALSHA", s.SHA, strconv.Itoa(len(keys))), keys...)
}

// Form is another form of the script, which is made of its text once.
func (s *Script) Form(of func(text string) string) *Script {
	if s.other.Load() == nil {
		s.other.Store(NewScript(of(s.Text)))
	}
	return s.other.Load()
}
