package proxy

import (
	"math/bits"
	"sync/atomic"

	"redlock-proxy/quorum"
)

// conduct is what is known of how much a client's script takes a master. What a call takes
// may hang on what it is given, so that it is known for so much of that: who has a script
// toil with hundreds of keys says nothing of those who give it one.
type conduct struct {
	light uint8 // the greatest heft of a call that was seen not to toil
	heavy uint8 // the least of those which are on probation
	left  uint8 // how many of these are still to show that they do not toil
}

// heftOf is how much a call is given, in keys, arguments and bytes: twice as much is one more.
// It is at least 1.
func heftOf(r *quorum.Request) uint8 {
	n := 1 + 32*(len(r.Keys)+len(r.Args))
	for _, key := range r.Keys {
		n += len(key)
	}
	for _, arg := range r.Args {
		n += len(arg)
	}
	return uint8(bits.Len(uint(n)))
}

// margin is how much less than what has toiled is believed to toil as well.
const margin = 2

// toils tells that such a call is on probation, and strange that nothing is known of it.
func (k conduct) toils(heft uint8) bool   { return k.left > 0 && heft >= k.heavy }
func (k conduct) strange(heft uint8) bool { return heft > k.light }

// after is what is known after such a call. One that has toiled takes from what was believed
// of others that are given as much.
func (k conduct) after(heft uint8, toiled bool) conduct {
	switch {
	case toiled:
		from := max(heft, margin+1) - margin
		if k.left > 0 {
			from = min(from, k.heavy)
		}
		return conduct{light: min(k.light, from-1), heavy: from, left: probation}
	case k.toils(heft):
		k.left--
	}
	k.light = max(k.light, heft)
	return k
}

// doubted is what is known once masters have not answered such a call.
func (k conduct) doubted() conduct {
	k.light = 0
	return k
}

// conductOf is what is known of a script, which keeps it.
func conductOf(s *quorum.Script) conduct { return unpacked(s.Conduct.Load()) }

func (k conduct) packed() uint32 { return uint32(k.light) | uint32(k.heavy)<<8 | uint32(k.left)<<16 }
func unpacked(n uint32) conduct  { return conduct{uint8(n), uint8(n >> 8), uint8(n >> 16)} }

// learn has what is known become what change makes of it, and tells both.
func learn(kept *atomic.Uint32, change func(conduct) conduct) (was, is conduct) {
	for {
		n := kept.Load()
		was = unpacked(n)
		is = change(was)
		if was == is || kept.CompareAndSwap(n, is.packed()) {
			return was, is
		}
	}
}
