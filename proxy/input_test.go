package proxy

import (
	"bytes"
	"fmt"
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
