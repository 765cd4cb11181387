package engine

import (
	"crypto/sha1"
	"encoding/hex"
	"strconv"
	"sync"

	"redlock-proxy/quorum"
)

// maxEnded bounds each of the two generations of what is remembered of releases.
const maxEnded = 8 << 10

// ended remembers what was released lately, while a master catches up. The master is
// sent each release, but may be given a copy of the lock afterwards:
//
//	1: A holds k with the votes of 1 and 2; both are read, for 3 that has lost its keys
//	2: A releases k on all of them; B acquires it of 1 and 2
//	3: 3 is given k as it was A's, and votes again
//	4: 2 crashes: until A's lock would have run out, nobody gets k of 1 and 3
//
// B's key hides from who asks the sources that A's is gone: whose that is, and whether
// it stays, is not known. So this proxy remembers what it was told itself. What other
// proxies were told it does not see.
//
// To take a copy back is to have the release carried out a little later, behind the copy.
// Only what is released after the catch-up began is taken back so: all decisions that
// counted the master's votes from before its loss have fallen by then, and none counts a
// later one. So a newer lock of the same token needs no copy on the master.
type ended struct {
	mu sync.Mutex
	// Two generations of what was freed, as texts, see freed. There is no late one
	// while no catch-up runs.
	late, older noted
}

// watch begins to remember.
func (e *ended) watch() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.late = newNoted()
}

// rest forgets all, and remembers no more.
func (e *ended) rest() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.late, e.older = noted{}, noted{}
}

// note remembers an op that is about to be sent, if it is one that frees a lock.
func (e *ended) note(o *op) {
	if o.Kind != quorum.Release && o.Kind != quorum.Remove {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.late.known == nil {
		return
	}
	if len(e.late.known) >= maxEnded {
		e.late, e.older = newNoted(), e.late
	}
	if o.Kind == quorum.Remove {
		e.late.note(freed(o.Key, ""))
	} else {
		e.late.note(freed(o.Key, digestOf(o.Token)))
	}
}

// part parts what a master was given into what lasts and what has been freed.
func (e *ended) part(list []given) (lasting, over []given) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(e.late.known)+len(e.older.known) == 0 {
		return list, nil
	}
	for _, g := range list {
		if e.has(freed(g.key, g.digest)) || e.has(freed(g.key, "")) {
			over = append(over, g)
		} else {
			lasting = append(lasting, g)
		}
	}
	return lasting, over
}

func (e *ended) has(text string) bool { return e.late.has(text) || e.older.has(text) }

// freed names a key with the digest of the value that it was freed of, or "" for any.
func freed(key, digest string) string { return strconv.Itoa(len(key)) + ":" + key + digest }

// digestOf is the digest that our scripts make of a string.
func digestOf(value string) string {
	if len(value) <= 64 {
		return toldWhole + value
	}
	sum := sha1.Sum([]byte(value))
	return "string#" + hex.EncodeToString(sum[:])
}
