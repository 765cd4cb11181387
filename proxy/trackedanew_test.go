package proxy

import (
	"testing"
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
