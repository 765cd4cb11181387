package engine

import (
	"slices"

	"redlock-proxy/quorum/marker"
)

// maxPast bounds how many nonces are remembered, of the latest of what a lane has seen.
const maxPast = 256

// past is what a lane has seen in the place of its master's marker. A nonce stands there once:
// where one is back that had gone, or was replaced, so is what the master held then.
//
//	1: SWAPDB 0 20 at master 1, whose marker is gone: it is given all anew, and votes
//	2: A holds k with the votes of 1 and 2
//	3: SWAPDB 0 20, and the marker of before is there, of the same process; B asks for k, and
//	   1 and 3 grant
//
// So it is where a backup of keys is put back.
type past struct {
	now marker.Nonce
	old []marker.Nonce
}

// replaced notes a nonce that stands there now, "" if none does, and tells whether it is back.
func (p *past) replaced(now marker.Nonce) bool {
	if slices.Contains(p.old, now) {
		return true
	}
	if p.now != now && p.now != "" {
		if len(p.old) == maxPast {
			p.old = slices.Delete(p.old, 0, 1)
		}
		p.old = append(p.old, p.now)
	}
	p.now = now
	return false
}
