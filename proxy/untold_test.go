package proxy

import (
	"testing"
	"testing/synctest"

	"redlock-proxy/quorum"
)

// Who is about to be told by a master that a key has changed is told before who has changed it has his answer, however
// slow it is to tell all.
func TestClientIsToldBeforeTheWriterIsAnsweredThoughAMasterWasTheFirstToTell(t *testing.T) {
	withTrackers(t, func(tr *trackers) {
		c := tr.tracks("")
		tr.keeps(c, "k")
		all := &tr.server.tracking
		all.mu.Lock()
		b := &batch{all: all.take("k", all.keys["k"])} // as far as a master's telling has come
		all.untold = append(all.untold, b)
		all.mu.Unlock()
		w := tr.dial()
		w.send("SET k w\r\n")
		synctest.Wait()
		tr.engine.answer(t, "k", quorum.Result{Decision: quorum.Won, Reply: quorum.Reply{Kind: quorum.StatusReply, Str: "OK"}})
		w.expect(ok)
		c.expect(invalid("k"))

		b.told.Add(1)
		w.send("SET k w\r\n")
		synctest.Wait()
		tr.engine.answer(t, "k", quorum.Result{Decision: quorum.Won, Reply: quorum.Reply{Kind: quorum.StatusReply, Str: "OK"}})
		w.expect(ok)
		c.expectSilence()
	})
}

// What is told is kept no longer.
func TestWhoIsToldIsNotAboutToBe(t *testing.T) {
	withTrackers(t, func(tr *trackers) {
		c := tr.tracks("")
		tr.keeps(c, "k")
		tr.engine.observer.Changed(0, "k")
		c.expect(invalid("k"))
		if n := len(tr.server.tracking.untold); n > 0 {
			t.Errorf("%d are told yet", n)
		}
	})
}
