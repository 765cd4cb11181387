package quorum

import (
	"crypto/sha1"
	"encoding/hex"
	"strings"
	"sync"
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
// Only what was released after the catch-up began may be taken back: all decisions
// that counted the master's votes from before its loss have fallen by then, and none
// counts a later one. So no lock of the same token needs the master's copy.
type ended struct {
	mu          sync.Mutex
	watched     bool
	late, older map[given]struct{} // the digest of a removal is ""
}

// watch begins to remember.
func (e *ended) watch() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.watched = true
}

// rest forgets all, and remembers no more.
func (e *ended) rest() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.watched, e.late, e.older = false, nil, nil
}

// note remembers an op that is about to be sent, if it is one that frees a lock.
func (e *ended) note(o *op) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if !e.watched {
		return
	}
	var g given
	switch o.Kind {
	case Release:
		g = given{strings.Clone(o.Key), digestOf(o.Token)}
	case Remove:
		g.key = strings.Clone(o.Key)
	default:
		return
	}
	if len(e.late) >= maxEnded {
		e.late, e.older = nil, e.late
	}
	if e.late == nil {
		e.late = make(map[given]struct{})
	}
	e.late[g] = struct{}{}
}

// part parts what a master was given into what lasts and what has been freed.
func (e *ended) part(list []given) (lasting, over []given) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(e.late)+len(e.older) == 0 {
		return list, nil
	}
	for _, g := range list {
		if e.has(g) || e.has(given{key: g.key}) {
			over = append(over, g)
		} else {
			lasting = append(lasting, g)
		}
	}
	return lasting, over
}

func (e *ended) has(g given) bool {
	if _, ok := e.late[g]; ok {
		return true
	}
	_, ok := e.older[g]
	return ok
}

// digestOf is the digest that our scripts make of a string.
func digestOf(value string) string {
	if len(value) <= 64 {
		return toldWhole + value
	}
	sum := sha1.Sum([]byte(value))
	return "string#" + hex.EncodeToString(sum[:])
}
