package proxy

import (
	"bytes"
	"fmt"
	"math"
	"runtime"
	"strings"
	"testing"
)

// Arguments point into what is kept: later commands must leave it alone, whatever
// their length and whatever is appended to it.
func TestWhatIsKeptNeverChanges(t *testing.T) {
	k := newChunk(chunkSize)
	var kept [][]byte
	var want []string
	for i := range 2000 {
		command := []byte(fmt.Sprint(i, strings.Repeat("x", i%(storeSize/8))))
		kept, want = append(kept, k.keep(command)), append(want, string(command))
		clear(command)
		_ = append(kept[i], "more"...)
	}
	for i := range kept {
		if !bytes.Equal(kept[i], []byte(want[i])) {
			t.Fatalf("command %d has become %.20q, was %.20q", i, kept[i], want[i])
		}
	}
}

func TestLongArgumentLeavesLittleToTheCollector(t *testing.T) {
	const size = 8 << 20
	argument := bytes.Repeat([]byte("x"), size)
	var c conn
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for at := 0; at < size; at += chunkSize {
		c.gather(argument[at:at+chunkSize], size-at-chunkSize) // the last of its command
	}
	runtime.ReadMemStats(&after)
	if !bytes.Equal(c.partial, argument) || cap(c.partial) > size {
		t.Errorf("%d bytes are gathered in room for %d, want %d", len(c.partial), cap(c.partial), size)
	}
	c.partial = nil
	for at := 0; at < size; at += chunkSize {
		c.gather(argument[at:at+chunkSize], math.MaxInt)
	}
	if !bytes.Equal(c.partial, argument) || cap(c.partial) > 2*size {
		t.Errorf("%d bytes are gathered in room for %d, want %d", len(c.partial), cap(c.partial), size)
	}
	if made := after.TotalAlloc - before.TotalAlloc; made > 3*size {
		t.Errorf("%d bytes were made for %d", made, size)
	}
}
