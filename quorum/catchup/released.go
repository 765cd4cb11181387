package catchup

import (
	"crypto/sha1"
	"encoding/hex"
	"strconv"
	"sync"

	"redlock-proxy/quorum"
)

// maxReleased bounds each of the two generations of what is remembered of releases.
const maxReleased = 8 << 10

// Released remembers what was released lately, while a master catches up. The master is
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
//
// The zero Released is ready for Run; any goroutine may Note.
type Released struct {
	mu sync.Mutex
	// Two generations of what was freed, as texts, see releaseOf. There is no late one
	// while no catch-up runs.
	late, older keySet
}

// start has it remember from now on.
func (r *Released) start() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.late = newKeySet()
}

// stop forgets all, and remembers no more.
func (r *Released) stop() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.late, r.older = keySet{}, keySet{}
}

// Note remembers a request that is about to be put to the master, if it is one that frees a
// lock.
func (r *Released) Note(q *quorum.Request) {
	if q.Kind != quorum.Release && q.Kind != quorum.Remove {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.late.known == nil {
		return
	}
	if len(r.late.known) >= maxReleased {
		r.late, r.older = newKeySet(), r.late
	}
	if q.Kind == quorum.Remove {
		r.late.add(releaseOf(q.Key, ""))
	} else {
		r.late.add(releaseOf(q.Key, DigestOf(q.Token)))
	}
}

// part parts what a master was given into what lasts and what has been freed.
func (r *Released) part(list []given) (lasting, over []given) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.late.known)+len(r.older.known) == 0 {
		return list, nil
	}
	for _, g := range list {
		if r.has(releaseOf(g.key, g.digest)) || r.has(releaseOf(g.key, "")) {
			over = append(over, g)
		} else {
			lasting = append(lasting, g)
		}
	}
	return lasting, over
}

func (r *Released) has(text string) bool { return r.late.has(text) || r.older.has(text) }

// releaseOf names a key with the digest of the value that it was freed of, or "" for any.
func releaseOf(key, digest string) string { return strconv.Itoa(len(key)) + ":" + key + digest }

// DigestOf is the digest that our scripts make of a string; see digestFunction.
func DigestOf(value string) string {
	if len(value) <= 64 {
		return toldWhole + value
	}
	sum := sha1.Sum([]byte(value))
	return "string#" + hex.EncodeToString(sum[:])
}
