package proxy

import (
	"fmt"
	"testing"
)

// What is remembered is bounded, however many clients read the same keys: for one more other keys go.
func TestClientsOfTheSameKeysTakeBoundedMemory(t *testing.T) {
	withTrackers(t, func(tr *trackers) {
		all := &tr.server.tracking
		all.clients.Add(1)
		defer all.leave()
		keys := make([]string, 50000)
		for i := range keys {
			keys[i] = fmt.Sprint(i)
		}
		c := tr.tracks("")
		var told int
		for id := range int64(60) {
			all.want(tr.server, 0, keys, 1)
			for _, key := range keys {
				for m := range 3 {
					all.registered(tr.server, m, key, 2)
				}
			}
			told += len(all.answered(tr.server, id+1000, keys, &said{alike: 7, needed: 2}, 3))
			if f := all.figures(); all.bytes > mostTracked {
				t.Fatalf("%d bytes: %+v", all.bytes, f)
			}
		}
		if f := all.figures(); f.Items == 0 || told > 30*len(keys) {
			t.Errorf("%+v, and %d are told at once", f, told)
		}
		c.expectSilence()
	})
}
