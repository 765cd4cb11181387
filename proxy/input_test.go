package proxy

import (
	"bytes"
	"fmt"
	"math"
	"net"
	"runtime"
	"strings"
	"testing"
	"time"
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

// A byte at a time, two million times: what a reader that looks again at what
// it has pays for with its stack or a square of the time.
func TestDripCostsNothing(t *testing.T) {
	r := newRig(t, Config{})
	ours, theirs := net.Pipe()
	defer ours.Close()
	defer theirs.Close()
	c := newConn(r.server, theirs)
	k := newChunk(smallChunkSize)
	const size = 1_000_000
	body := strings.Repeat("x", size)
	text := fmt.Sprintf("*3\r\n$5\r\nwrite\r\n$%d\r\n%s\r\n$%d\r\n%s\r", size, body, size, body)
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	begun := time.Now()
	for i := range len(text) {
		if _, end := c.feed(k, []byte{text[i]}); end != 0 {
			t.Fatalf("refused at byte %d", i)
		}
	}
	took := time.Since(begun)
	runtime.GC()
	runtime.ReadMemStats(&after)
	if grown := int64(after.HeapAlloc+after.StackInuse) - int64(before.HeapAlloc+before.StackInuse); grown > 6<<20 {
		t.Errorf("%d bytes held for a command of %d", grown, len(text))
	}
	// A square would be many minutes; a second is usual, and 13 with the race
	// detector on a busy machine.
	if took > time.Minute {
		t.Errorf("took %v", took)
	}
	c.feed(k, []byte("\n"))
	if got := r.engine.keys(); got != "write:"+body {
		t.Errorf("put: %d bytes, want the command", len(got))
	}
}
