package proxy

import (
	"testing"
	"testing/synctest"
	"time"
)

// A master that was away when it was to be asked may tell by now, and then be among those that answer first. It is asked
// anew for what is read, not each time.
func TestMasterThatDoesNotTellIsAskedAnew(t *testing.T) {
	withTrackers(t, func(tr *trackers) {
		c := tr.tracks("")
		tr.keeps(c, "k")
		asked := tr.engine.watches()
		tr.reads(c, "k", alikeSays("v", 0, 1))
		if n := tr.engine.watches() - asked; n != 0 {
			t.Errorf("it was asked %d times within a second", n)
		}
		time.Sleep(2 * lookSpan)
		tr.reads(c, "k", alikeSays("v", 0, 1))
		tr.registers("k", 2)
		if n := tr.engine.watches() - asked; n != 1 {
			t.Errorf("it was asked %d times anew", n)
		}
		time.Sleep(2 * lookSpan)
		tr.reads(c, "k", alikeSays("v", 1, 2))
		c.expectSilence()
		if n := tr.engine.watches() - asked; n != 1 {
			t.Errorf("it was asked %d times though all tell", n)
		}
	})
}

// Of keys that are read at once each has its own quorum, which has to tell of that key.
func TestKeysThatAreReadAtOnceAreKeptEachByWhoHasSaidIt(t *testing.T) {
	for _, options := range []string{"", "BCAST"} {
		withTrackers(t, func(tr *trackers) {
			c := tr.tracks(options)
			read := func(a, b []int) {
				c.send("MGET a b\r\n")
				synctest.Wait()
				tr.engine.answer(t, "a", alikeSays("v", a...))
				tr.engine.answer(t, "b", alikeSays("w", b...))
				c.expect("*2\r\n$1\r\nv\r\n$1\r\nw\r\n")
			}
			for m := range 3 {
				tr.engine.observer.Broadcasts(m, true)
			}
			if options == "" {
				read(nil, nil)
				c.expect(invalid("a") + invalid("b"))
			}
			tr.registers("a", 0, 1, 2)
			tr.registers("b", 0, 1, 2)
			read([]int{0, 1}, []int{1, 2})
			c.expectSilence()
			read([]int{0, 1}, []int{2})
			c.expect(invalid("b"))
			tr.engine.observer.Changed(0, "a")
			tr.engine.observer.Broadcast(0, "a")
			c.expect(invalid("a"))
		})
	}
}
