package proxy

import (
	"io"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"redlock-proxy/quorum"
)

// With NOLOOP a client is told of what another has changed while he asked for a change: of keys that his command has
// not changed, whatever it has done to others.
func TestClientIsToldOfWhatHisCommandHasNotChanged(t *testing.T) {
	for name, test := range map[string]struct {
		command string
		results map[string]quorum.Result // by their first keys
		told    []string
	}{
		"a script that changes one key of two": {"EVAL return 2 a b", map[string]quorum.Result{
			"a": {Decision: quorum.Won, Spared: []string{"b"}, Script: &quorum.ScriptReply{Reply: quorum.Reply{Kind: quorum.IntegerReply, Int: 1}}},
		}, []string{"b"}},
		"one key of two is removed": {"DEL a b", map[string]quorum.Result{
			"a": {Decision: quorum.Won},
			"b": {Decision: quorum.Unavailable, Needed: 2, Masters: 3},
		}, []string{"b"}},
		"there is nothing to change": {"PERSIST a", map[string]quorum.Result{
			"a": {Decision: quorum.Won, Spared: []string{"a"}, Reply: quorum.Reply{Kind: quorum.IntegerReply}},
		}, []string{"a", "b"}}, // it is not about b
		"all is changed": {"DEL a b", map[string]quorum.Result{"a": {Decision: quorum.Won}, "b": {Decision: quorum.Won}}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			withTrackers(t, func(tr *trackers) {
				c := tr.tracks("NOLOOP OPTIN") // it is not told of what a script reads, too
				for _, key := range []string{"a", "b"} {
					for range 2 {
						c.send("CLIENT CACHING YES\r\n")
						c.expect(ok)
						tr.reads(c, key, alikeSays("v", 0, 1))
						synctest.Wait()
						c.discards()
						tr.registers(key, 0, 1, 2)
					}
				}
				c.send(test.command + "\r\n")
				synctest.Wait()
				tr.engine.observer.Changed(0, "a")
				tr.engine.observer.Changed(0, "b")
				c.expectSilence()
				for key, r := range test.results {
					go tr.engine.answer(t, key, r)
				}
				synctest.Wait()
				got := c.reads()
				for _, key := range []string{"a", "b"} {
					if is := strings.Contains(got, invalid(key)); is != slices.Contains(test.told, key) {
						t.Errorf("told of %s: %t, by %q", key, is, got)
					}
				}
			})
		})
	}
}

// reads is what there is to be read.
func (c *client) reads() string {
	c.nc.SetReadDeadline(time.Now().Add(time.Millisecond))
	got, _ := io.ReadAll(c.nc)
	return string(got)
}
