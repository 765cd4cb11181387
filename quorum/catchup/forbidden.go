package catchup

import (
	"errors"
	"fmt"
	"slices"

	"redlock-proxy/quorum/master"
)

// A master's ACL may keep keys from our user, and says no to a script on many keys for the sake
// of one. That is what somebody else keeps beside the locks, or what a client of ours has asked
// for where another master's ACL has it. The others are asked about without it.
//
// What the master that catches up forbids it needs no copy of: our user is refused there when
// it asks for a vote on that, too.
//
// What a source forbids it may hold. It has granted nothing of that to our user, but its ACL may
// be new, or another proxy's user another one:
//
//	1: A holds k with the votes of 1 and 2; then the ACL of 2 forbids k
//	2: master 1 loses its keys; were it admitted without k, as 3 has none either, and 2 does
//	   not tell
//	3: B asks for k; 1 and 3 grant
//
// But it does not hold what its SCAN has not named. So what a source names and forbids, and is not
// told of by N-quorum+1 others, keeps the master from being admitted before its quarantine is
// over; all else is given to it. Whoever asks for a key that another master forbids brings
// nobody into that.
//
// Nor is what a source forbids a ghost, or left by a lock, where that has to be known of it.

// forbidden are the keys of which a peer has told that our user may not touch them.
type forbidden struct {
	keys    keySet
	count   int    // of them, of which some may be forgotten
	example string // one of them
}

var errForbidsKey = errors.New("it does not let its user touch a key")

// forbids tells that the peer has told so.
func (p *peer) forbids(key string) bool { return p.forbidden.keys.has(key) }

// SiftScript tells of the keys ARGV, in a text of a letter each, which our user may read and
// write: = if so, ! if not. The expiry is none, and changes nothing. They are no KEYS, of which
// one could have all of it refused.
var SiftScript = master.NewScript(`local function bars(...)
local said=redis.pcall(...)
return type(said)=='table' and said.err and string.find(said.err,'access',1,true) end
local r={}
for i,k in ipairs(ARGV) do
r[i]=(bars('GETRANGE',k,'0','0') or bars('PEXPIRE',k,'')) and '!' or '=' end
return {table.concat(r)}`)

// sift finds out which of the keys, no more than a script may be about, are forbidden.
func (p *peer) sift(keys []string) (barred map[string]bool, err error) {
	barred = p.knownOf(keys)
	keys = slices.DeleteFunc(slices.Clone(keys), func(key string) bool { return barred[key] })
	if len(keys) == 0 {
		return barred, nil
	}
	a, err := p.call(SiftScript, nil, keys)
	if err != nil {
		return nil, err
	}
	if len(a.Elems) != 1 || len(a.Elems[0].Str) != len(keys) {
		return nil, p.garbage()
	}
	if len(p.forbidden.keys.known)+len(keys) > maxKeySet {
		p.forbidden.keys = newKeySet() // they are found again
	}
	for i, letter := range []byte(a.Elems[0].Str) {
		if letter == '!' {
			p.forbidden.keys.add(keys[i])
			barred[keys[i]] = true
			p.forbidden.count, p.forbidden.example = p.forbidden.count+1, keys[i]
		}
	}
	return barred, nil
}

// knownOf are those of the keys of which it is known that they are forbidden.
func (p *peer) knownOf(keys []string) map[string]bool {
	barred := make(map[string]bool)
	for _, key := range keys {
		if p.forbids(key) {
			barred[key] = true
		}
	}
	return barred
}

// sparing asks a peer about the items but for those whose keys it forbids, which it returns:
// what is remembered of these may be others by the next question.
func sparing[T any](p *peer, items []T, keyOf func(T) string, ask func([]T) error) (barred map[string]bool, err error) {
	asked := items
	if p.forbidden.count > 0 {
		barred = p.knownOf(keysOf(items, keyOf))
		asked = slices.DeleteFunc(slices.Clone(items), func(item T) bool { return barred[keyOf(item)] })
	}
	if err = ask(asked); !errors.Is(err, errForbidsKey) {
		return barred, err
	}
	if barred, err = p.sift(keysOf(items, keyOf)); err != nil {
		return barred, err
	}
	return barred, ask(slices.DeleteFunc(slices.Clone(items), func(item T) bool { return barred[keyOf(item)] }))
}

// each is what a peer says of each item, and no of those whose keys it forbids. It may say
// nothing of the last of them.
func each[T, S any](p *peer, items []T, keyOf func(T) string, no S, ask func([]T) ([]S, error)) (said []S, err error) {
	var told []S
	barred, err := sparing(p, items, keyOf, func(items []T) (err error) {
		if told = nil; len(items) > 0 {
			told, err = ask(items)
		}
		return err
	})
	if err != nil || len(barred) == 0 {
		return told, err
	}
	for _, item := range items {
		switch {
		case barred[keyOf(item)]:
			said = append(said, no)
		case len(told) == 0:
			return said, nil
		default:
			said, told = append(said, told[0]), told[1:]
		}
	}
	return said, nil
}

// forbiddenOf are the keys that some source forbids.
func forbiddenOf(keys []string, readings [][]reading) (list []string) {
	for i, of := range readings {
		if slices.ContainsFunc(of, func(s reading) bool { return s.forbidden }) {
			list = append(list, keys[i])
		}
	}
	return list
}

// keepsSilent notes that a key cannot be copied if the source that has named it does not tell
// what it holds, and too few others do. It tells whether the key may be named again by
// another one that forbids it.
func (r *run) keepsSilent(of []reading, from *peer) (again bool) {
	told, silent := 0, false
	for i, s := range of {
		switch {
		case !s.forbidden:
			told++
		case r.sources[i] == from:
			silent = true
		default:
			again = true
		}
	}
	if silent && told < r.needed {
		r.failed = &errPeer{from.Master.Name, fmt.Errorf("%w that it holds", errForbidsKey)}
	}
	return again
}

// handledUnless notes that a key need not be read again, unless it has to be.
func (r *run) handledUnless(again bool, key string) {
	if !again {
		r.handled.add(key)
	}
}

// untold stands for the digest of what a source does not tell of.
const untold = "?"

// tellForbidden tells which masters forbid keys.
func (r *run) tellForbidden() {
	for _, p := range append(slices.Clip(r.sources), r.target) {
		if r.Forbids != nil && p != nil && p.forbidden.count > 0 {
			r.Forbids(p.Source, p.forbidden.count, p.forbidden.example)
		}
	}
}
