package commands

import (
	"hash/fnv"
	"math/bits"
	"strconv"
	"strings"
)

// The cursor of a SCAN through the proxy tells the whole place where the scan goes
// on, so that every proxy of the same masters can go on with it. It is 0 at both
// ends, as in Redis. From its lowest bit on:
//
//	 4 bits  the master that is being scanned, counted from 1
//	15 bits  the masters that have been scanned
//	 7 bits  of a hash of the server process that the next part is from
//	 7 bits  at random, so that no two scans have the same cursor
//	31 bits  that master's own cursor
//
// Some clients keep a cursor in a floating-point number, which is exact up to 53
// bits: enough for a million keys.
const (
	masterBits, doneBits, processBits, saltBits, ownBits = 4, 15, 7, 7, 31

	doneShift    = masterBits
	processShift = doneShift + doneBits
	saltShift    = processShift + processBits
	ownShift     = saltShift + saltBits
)

// place is where a scan goes on.
type place struct {
	master  int // counted from 1; 0 is the end
	done    masterSet
	process uint8
	own     uint64 // 0 begins with the master
}

var beginning = place{master: 1}

// parseCursor reads a cursor that may be of anybody's invention, as strtoul does: empty is
// 0, it may have a sign, and it ends at a zero byte.
func parseCursor(s string) (cursor uint64, ok bool) {
	if s, _, _ = strings.Cut(s, "\x00"); s == "" {
		return 0, true
	}
	digits := strings.TrimPrefix(s, "-")
	if len(digits) == len(s) {
		digits = strings.TrimPrefix(s, "+")
	}
	if digits == "" || digits[0] < '0' || digits[0] > '9' {
		return 0, false
	}
	cursor, err := strconv.ParseUint(digits, 10, 64)
	if s[0] == '-' {
		cursor = -cursor
	}
	return cursor, err == nil
}

func placeOf(cursor uint64) place {
	p := place{
		master:  int(cursor & (1<<masterBits - 1)),
		done:    masterSet(cursor >> doneShift & (1<<doneBits - 1)),
		process: uint8(cursor >> processShift & (1<<processBits - 1)),
		own:     cursor >> ownShift,
	}
	if p.master == 0 {
		return beginning
	}
	return p
}

// cursor is the place as the client is told it.
func (p place) cursor(salt uint64) uint64 {
	if p.master == 0 {
		return 0
	}
	return uint64(p.master) | uint64(p.done)<<doneShift | uint64(p.process)<<processShift |
		salt%(1<<saltBits)<<saltShift | p.own<<ownShift
}

// processOf is what a cursor holds of a run id: a master's cursor means nothing to
// another process, which has its keys in another order.
func processOf(runID string) uint8 {
	h := fnv.New32a()
	h.Write([]byte(runID))
	return uint8(h.Sum32() % (1 << processBits))
}

// masterSet has a bit for each master.
type masterSet uint16

func (s masterSet) with(master int) masterSet { return s | 1<<(master-1) }
func (s masterSet) has(master int) bool       { return s>>(master-1)&1 != 0 }
func (s masterSet) len() int                  { return bits.OnesCount16(uint16(s)) }

// first is the first of so many masters that is not in the set, or 0.
func (s masterSet) first(masters int) int {
	for m := range masters {
		if !s.has(m + 1) {
			return m + 1
		}
	}
	return 0
}
