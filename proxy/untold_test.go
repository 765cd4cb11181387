package proxy

import (
	"testing"
	"testing/synctest"
	"time"

	"redlock-proxy/quorum"
)

// Who is about to be told by a master that a key has changed is told before who has changed it has his answer, however
// slow it is to tell all. Nobody is told twice by that, and who is not to be told of his own change is not.
func TestClientIsToldBeforeTheWriterIsAnsweredThoughAMasterWasTheFirstToTell(t *testing.T) {
	withTrackers(t, func(tr *trackers) {
		c, w := tr.tracks(""), tr.tracks("NOLOOP")
		tr.keeps(c, "k")
		time.Sleep(time.Millisecond)
		tr.reads(w, "k", alikeSays("v", 0, 1))
		w.expectSilence()
		all := &tr.server.tracking
		all.mu.Lock()
		b := &batch{all: all.take("k", all.keys["k"]), key: "k"} // as far as a master's telling has come
		all.untold = append(all.untold, b)
		all.mu.Unlock()
		w.send("SET k w\r\n")
		synctest.Wait()
		tr.engine.answer(t, "k", quorum.Result{Decision: quorum.Won, Reply: quorum.Reply{Kind: quorum.StatusReply, Str: "OK"}})
		w.expect(ok)
		c.expect(invalid("k"))
		b.tell(tr.server) // which goes on
		c.expectSilence()
		w.expectSilence()
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

// What was asked for before a writer was answered is not kept, though no master has told of the change yet.
func TestWhatIsReadWhileAnotherWritesIsNotKept(t *testing.T) {
	withTrackers(t, func(tr *trackers) {
		tr.keeps(tr.tracks(""), "k")
		c, w := tr.tracks(""), tr.dial()
		c.send("GET k\r\n")
		synctest.Wait()
		read := tr.engine.take("k")
		w.send("SET k w\r\n")
		synctest.Wait()
		tr.engine.answer(t, "k", quorum.Result{Decision: quorum.Won, Reply: quorum.Reply{Kind: quorum.StatusReply, Str: "OK"}})
		w.expect(ok)
		read.asker.Answer(alikeSays("v", 0, 1)).Flush()
		c.expect("$1\r\nv\r\n" + invalid("k"))
		time.Sleep(time.Millisecond)
		tr.reads(c, "k", alikeSays("w", 0, 1))
		c.expectSilence()
	})
}
