package proxy

import (
	"testing"
	"testing/synctest"

	"redlock-proxy/quorum"
)

// Who waits is told meanwhile, which may be for ever: of what others change, though it is what he may change himself.
func TestWhoWaitsIsToldMeanwhile(t *testing.T) {
	for name, test := range map[string]struct {
		options, command string
		behind           bool // another who waits already
		meanwhile        bool // it changes before he has been answered that he is to wait
	}{
		"for an element":                {"", "BLPOP k 0", false, false},
		"for an element, with NOLOOP":   {"NOLOOP", "BLPOP k 0", false, false},
		"for a lock":                    {"", "SET k w NX", false, false},
		"for a lock, with NOLOOP":       {"NOLOOP", "SET k w NX", false, false},
		"behind others, for a lock":     {"NOLOOP", "SET k w NX", true, false},
		"while he asks, for an element": {"NOLOOP", "BLPOP k 0", false, true},
	} {
		t.Run(name, func(t *testing.T) {
			withTrackers(t, func(tr *trackers) {
				tr.server.room.most = 3600e9
				none := quorum.Result{Decision: quorum.Contended, Exists: true, Value: "v", Script: &quorum.ScriptReply{Reply: quorum.Reply{Kind: quorum.NilReply}}}
				c := tr.tracks(test.options)
				tr.reads(c, "k", alikeSays("v"))
				c.expect(invalid("k"))
				tr.registers("k", 0, 1, 2)
				tr.reads(c, "k", alikeSays("v", 0, 1))
				if test.behind {
					tr.dial().send("SET k w NX\r\n")
					synctest.Wait()
					tr.engine.answer(t, "k", none)
				}
				c.send(test.command + "\r\n")
				synctest.Wait()
				if test.meanwhile {
					tr.engine.observer.Changed(0, "k")
					c.expectSilence()
				}
				if !test.behind {
					tr.engine.answer(t, "k", none)
				}
				synctest.Wait()
				if !test.meanwhile {
					tr.engine.observer.Changed(0, "k")
				}
				c.expect(invalid("k"))
			})
		})
	}
}
