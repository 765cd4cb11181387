package commands

import (
	"math"
	"strconv"
	"testing"
)

func TestCursorTellsThePlace(t *testing.T) {
	r := seeded(t)
	for range 10_000 {
		p := place{
			master:  1 + r.IntN(15),
			done:    masterSet(r.UintN(1 << doneBits)),
			process: uint8(r.UintN(1 << processBits)),
			own:     r.Uint64N(1 << ownBits),
		}
		if got := placeOf(p.cursor(r.Uint64())); got != p {
			t.Fatalf("%+v becomes %+v", p, got)
		}
	}
	if c := (place{done: 7}).cursor(99); c != 0 {
		t.Errorf("the end is %d", c)
	}
	// Exact as a floating-point number, with a table of a million places.
	largest := place{master: 15, done: 1<<doneBits - 1, process: 1<<processBits - 1, own: 1<<20 - 1}
	if c := largest.cursor(math.MaxUint64); c >= 1<<53 {
		t.Errorf("%d is not exact as a number of JavaScript's", c)
	}
}

func TestMastersAreCountedInSets(t *testing.T) {
	s := masterSet(0).with(1).with(3)
	if s.len() != 2 || !s.has(1) || s.has(2) || !s.has(3) || s.first(3) != 2 || s.with(2).first(3) != 0 || s.with(2).first(15) != 4 {
		t.Errorf("%b", s)
	}
}

func TestWhatIsRememberedOfScansIsBounded(t *testing.T) {
	var s scans
	of := func(size int) (l listed) {
		for i := range size {
			l.add(strconv.Itoa(i))
		}
		return l
	}
	at := place{master: 1, own: 5}
	first := s.keep(1, 0, at, of(3))
	cursors := map[uint64]bool{first: true}
	for range maxScans - 1 {
		cursors[s.keep(1, 0, at, of(1))] = true
	}
	if len(cursors) != maxScans {
		t.Errorf("%d scans at one place have %d cursors", maxScans, len(cursors))
	}
	if l := s.take(1, first); l.has("0") {
		t.Error("it was another database")
	}
	if l := s.take(0, first); !l.has("2") || l.has("3") {
		t.Errorf("%+v", l)
	}
	if l := s.take(0, first); l.has("2") {
		t.Error("it was taken twice")
	}
	s.restore(1, 0, first, of(3))
	s.keep(1, 0, at, of(1))
	if len(s.list) != maxScans {
		t.Errorf("%d are remembered", len(s.list))
	}
	for s.bytes > 0 {
		s.remove(0)
	}
	if len(s.list) != 0 {
		t.Errorf("%d are left, and no bytes", len(s.list))
	}
	for range 5 {
		s.keep(1, 0, at, listed{bytes: maxListedBytes / 3})
	}
	s.keep(1, 0, at, listed{bytes: maxListedBytes + 1})
	if len(s.list) != 3 || s.bytes > maxListedBytes {
		t.Errorf("%d scans, %d bytes", len(s.list), s.bytes)
	}
}

// FuzzScan: whatever cursor a client invents, its scan comes to an end.
func FuzzScan(f *testing.F) {
	for _, seed := range []string{"0", "1", "15", "16", "18446744073709551615", "-1", "+5", "", "9007199254740993", "abc"} {
		f.Add(seed, 3)
	}
	f.Fuzz(func(t *testing.T, cursor string, n int) {
		if n < 1 || n > 15 {
			return
		}
		s := newShelves(n)
		for i := range 20 {
			s.masters[i%n].keys[strconv.Itoa(i)] = true
		}
		d := NewDialect(Options{})
		for range 100 {
			reply := s.carryOut(d.Session(1).Do([]string{"SCAN", cursor}))
			if reply.Kind == ErrorReply {
				if reply.Str != errCursor {
					t.Fatal(reply.Str)
				}
				return
			}
			if cursor = reply.Elems[0].Str; cursor == "0" {
				return
			}
		}
		t.Fatal("the scan does not come to an end")
	})
}

// A client that begins one scan after another loses its own, by number and by bytes, and what
// others scan is remembered.
func TestScansOfOthersArePushedOutByNobody(t *testing.T) {
	at := place{master: 1, own: 5}
	for name, l := range map[string]listed{
		"many": {bytes: 1}, "long": {bytes: maxListedBytes / 4}, "longer than all": {bytes: maxListedBytes - 1},
	} {
		var s scans
		mine := s.keep(1, 0, at, listed{bytes: maxListedBytes / 5})
		for i := range 3 * maxScans {
			s.keep(2, 0, at, l)
			if i%10 != 0 {
				continue
			}
			if s.bytes > maxListedBytes || len(s.list) > maxScans {
				t.Fatalf("%s: %d bytes of %d scans", name, s.bytes, len(s.list))
			}
			taken := s.take(0, mine)
			if taken.bytes == 0 {
				t.Fatalf("%s: it is forgotten after %d others", name, i+1)
			}
			mine = s.keep(1, 0, at, taken)
		}
	}
}
