package proxy

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"redlock-proxy/commands"
	"redlock-proxy/quorum"
)

// trackers are clients of a server over three masters, which the test is.
type trackers struct {
	*rig
	t *testing.T
}

func withTrackers(t *testing.T, test func(tr *trackers)) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, Config{Commands: commands.Options{Users: "user default on nopass ~* &* +@all\n"}})
		r.engine.stands(quorum.Status{Quorum: 2, Masters: make([]quorum.MasterStatus, 3)})
		time.Sleep(1100 * time.Millisecond) // it has looked how masters stand
		test(&trackers{r, t})
		r.end()
	})
}

// tracks is a client who speaks RESP3 and tracks with these options.
func (tr *trackers) tracks(options string) *client {
	c := tr.dial()
	c.send("HELLO 3\r\n")
	time.Sleep(time.Millisecond)
	c.discards()
	c.send(strings.TrimSpace("CLIENT TRACKING ON "+options) + "\r\n")
	c.expect(ok)
	return c
}

// discards reads what there is.
func (c *client) discards() {
	c.nc.SetReadDeadline(time.Now().Add(time.Millisecond))
	for buf := make([]byte, 4096); ; {
		if _, err := c.nc.Read(buf); err != nil {
			return
		}
	}
}

// registers has masters tell of a key, from now on.
func (tr *trackers) registers(key string, masters ...int) {
	time.Sleep(time.Millisecond)
	for _, m := range masters {
		tr.engine.observer.Watched(m, key, false)
	}
	time.Sleep(time.Millisecond)
}

// alikeSays is an answer that these masters have given alike.
func alikeSays(value string, masters ...int) quorum.Result {
	r := quorum.Result{Decision: quorum.Won, Exists: true, Type: "string", Value: value, TTL: quorum.NoTTL, Needed: 2, Masters: 3, Voted: 3}
	for _, m := range masters {
		r.Alike |= 1 << m
	}
	return r
}

// reads has a client be answered what masters say.
func (tr *trackers) reads(c *client, key string, r quorum.Result) {
	tr.t.Helper()
	c.send("GET " + key + "\r\n")
	synctest.Wait()
	tr.engine.answer(tr.t, key, r)
	c.expect(fmt.Sprintf("$%d\r\n%s\r\n", len(r.Value), r.Value))
}

// keeps has a client read what masters 0 and 1 tell of from then on, and so keep it.
func (tr *trackers) keeps(c *client, key string) {
	tr.t.Helper()
	tr.reads(c, key, alikeSays("v"))
	c.expect(invalid(key)) // no master told of changes by then
	tr.registers(key, 0, 1)
	tr.reads(c, key, alikeSays("v", 0, 1))
	c.expectSilence()
}

func invalid(key string) string {
	return fmt.Sprintf(">2\r\n$10\r\ninvalidate\r\n*1\r\n$%d\r\n%s\r\n", len(key), key)
}

const allInvalid = ">2\r\n$10\r\ninvalidate\r\n_\r\n"

func TestClientIsToldWhenWhatHeHasReadChanges(t *testing.T) {
	withTrackers(t, func(tr *trackers) {
		c := tr.tracks("")
		tr.reads(c, "k", alikeSays("v", 0, 1, 2))
		c.expect(invalid("k")) // no master told of changes by then
		tr.registers("k", 0, 1, 2)
		tr.reads(c, "k", alikeSays("v", 0, 1))
		tr.engine.observer.Changed(2, "other")
		c.expectSilence()
		tr.engine.observer.Changed(2, "k")
		c.expect(invalid("k"))
		tr.engine.observer.Changed(1, "k")
		c.expectSilence() // it is told once
	})
}

// It is not enough that masters tell: those must whose answer it is, since before it was asked for, and be a quorum.
func TestAnswerIsKeptOnlyIfThoseTellWhoHaveGivenIt(t *testing.T) {
	for name, test := range map[string]struct {
		tell, late, lost []int
		alike            []int
		of               int // masters, 3 if it is not said
		kept             bool
	}{
		"all":                          {tell: []int{0, 1, 2}, alike: []int{0, 1, 2}, kept: true},
		"those who have answered":      {tell: []int{0, 1}, alike: []int{0, 1}, kept: true},
		"one of them not":              {tell: []int{0, 1}, alike: []int{0, 2}},
		"one of them too late":         {tell: []int{0}, late: []int{1}, alike: []int{0, 1}},
		"one of them not any more":     {tell: []int{0, 1}, lost: []int{1}, alike: []int{0, 1}},
		"one, and lost, and another":   {tell: []int{0, 1, 2}, lost: []int{1}, alike: []int{0, 2}, kept: true},
		"nobody knows whose it is":     {tell: []int{0, 1, 2}},
		"a quorum of four":             {tell: []int{0, 1, 2}, alike: []int{0, 1, 2}, of: 4, kept: true},
		"half of four":                 {tell: []int{0, 1}, alike: []int{0, 1, 2}, of: 4},
		"lost, and anew, but too late": {tell: []int{0, 1}, lost: []int{1}, late: []int{1}, alike: []int{0, 1}},
	} {
		t.Run(name, func(t *testing.T) {
			withTrackers(t, func(tr *trackers) {
				c := tr.tracks("")
				tr.reads(c, "k", alikeSays("v"))
				c.expect(invalid("k"))
				tr.registers("k", test.tell...)
				c.send("GET k\r\n")
				synctest.Wait()
				for _, m := range test.lost {
					tr.engine.observer.Changed(m, "")
				}
				tr.registers("k", test.late...)
				r := alikeSays("v", test.alike...)
				if test.of > 0 {
					r.Masters, r.Needed = test.of, quorum.QuorumOf(test.of)
				}
				tr.engine.answer(t, "k", r)
				c.expect("$1\r\nv\r\n")
				if test.kept {
					c.expectSilence()
				} else {
					c.expect(invalid("k"))
				}
			})
		})
	}
}

func TestWhatAMasterToldOfIsInvalidWhenItTellsNoMore(t *testing.T) {
	withTrackers(t, func(tr *trackers) {
		c, other := tr.tracks(""), tr.tracks("")
		for _, key := range []string{"a", "b"} {
			tr.keeps(c, key)
		}
		tr.engine.observer.Changed(2, "") // which told of neither
		c.expectSilence()
		tr.engine.observer.Changed(1, "")
		c.expect(allInvalid)
		other.expectSilence()
		tr.engine.observer.Changed(0, "")
		c.expectSilence()
	})
}

// An invalidation comes behind the replies to what was asked before.
func TestInvalidationsComeBehindReplies(t *testing.T) {
	withTrackers(t, func(tr *trackers) {
		c := tr.tracks("")
		tr.reads(c, "k", alikeSays("v"))
		c.expect(invalid("k"))
		tr.registers("k", 0, 1, 2)
		c.send("GET slow\r\nGET k\r\n")
		synctest.Wait()
		tr.engine.answer(t, "k", alikeSays("v", 0, 1))
		tr.engine.observer.Changed(0, "k")
		c.expectSilence()
		tr.engine.answer(t, "slow", alikeSays("w"))
		c.expect("$1\r\nw\r\n$1\r\nv\r\n" + invalid("k") + invalid("slow"))
	})
}

// Who writes has his answer when others have been told.
func TestChangeThroughTheProxyIsToldBeforeItsAnswer(t *testing.T) {
	withTrackers(t, func(tr *trackers) {
		c, quiet, writer := tr.tracks(""), tr.tracks("NOLOOP"), tr.dial()
		for _, reader := range []*client{c, quiet} {
			tr.keeps(reader, "k")
		}
		writer.send("SET k w\r\n")
		synctest.Wait()
		answer := quorum.Result{Decision: quorum.Won, Reply: quorum.Reply{Kind: quorum.StatusReply, Str: "OK"}}
		go tr.engine.answer(t, "k", answer)
		c.expect(invalid("k"))
		quiet.expect(invalid("k"))
		writer.expect(ok)

		tr.registers("k", 0, 1, 2)
		tr.reads(c, "k", alikeSays("w", 0, 1))
		c.send("SET k x\r\n")
		synctest.Wait()
		tr.engine.answer(t, "k", answer)
		c.expect(ok + invalid("k"))
	})
}

// With NOLOOP a client is not told of what he changes himself, whoever tells first; and he is if it was not he.
func TestClientIsNotToldOfHisOwnChangesWithNoloop(t *testing.T) {
	for name, result := range map[string]quorum.Result{
		"done":     {Decision: quorum.Won, Reply: quorum.Reply{Kind: quorum.StatusReply, Str: "OK"}},
		"not done": {Decision: quorum.Unavailable, Needed: 2, Masters: 3},
	} {
		t.Run(name, func(t *testing.T) {
			withTrackers(t, func(tr *trackers) {
				c := tr.tracks("NOLOOP")
				tr.keeps(c, "k")
				c.send("SET k w\r\n")
				synctest.Wait()
				tr.engine.observer.Changed(0, "k")
				c.expectSilence()
				tr.engine.answer(t, "k", result)
				if result.Decision == quorum.Won {
					c.expect(ok)
					c.expectSilence()
					return
				}
				c.expect("-NOQUORUM 0 of 3 masters can vote, 2 are needed\r\n" + invalid("k"))
			})
		})
	}
}

// What he reads behind his change he is told of, be that answered before the change is.
func TestWhatIsReadBehindAChangeIsToldOfWithNoloop(t *testing.T) {
	withTrackers(t, func(tr *trackers) {
		c := tr.tracks("NOLOOP")
		tr.keeps(c, "k")
		c.send("SET k w\r\nMGET k\r\n")
		synctest.Wait()
		set := tr.engine.take("k")
		tr.engine.answer(t, "k", alikeSays("w", 0, 1))
		tr.engine.observer.Changed(0, "k")
		set.asker.Answer(quorum.Result{Decision: quorum.Won, Reply: quorum.Reply{Kind: quorum.StatusReply, Str: "OK"}}).Flush()
		c.expect(ok + "*1\r\n$1\r\nw\r\n" + invalid("k"))
	})
}

func TestTrackingIsRefusedWhereTooFewMastersTell(t *testing.T) {
	withTrackers(t, func(tr *trackers) {
		tr.engine.dumb = errors.New("2 of 3 masters tell of no changes, and 2 have to")
		c := tr.dial()
		c.send("CLIENT TRACKING ON\r\n")
		c.expect("-ERR CLIENT TRACKING ON is refused: 2 of 3 masters tell of no changes, and 2 have to\r\n")
		c.send("CLIENT GETREDIR\r\n")
		c.expect(":-1\r\n")
	})
}

func TestWhoTracksNoMoreIsToldOfNothing(t *testing.T) {
	for _, end := range []string{"CLIENT TRACKING OFF\r\n", "RESET\r\n", ""} {
		withTrackers(t, func(tr *trackers) {
			c := tr.tracks("")
			tr.keeps(c, "k")
			if c.send(end); end == "" {
				c.nc.Close()
			}
			time.Sleep(time.Millisecond)
			tr.engine.observer.Changed(0, "k")
			if f := tr.server.tracking.figures(); f != (TrackingFigures{}) {
				t.Errorf("%q: %+v", end, f)
			}
			if end != "" {
				c.expect(map[byte]string{'C': ok, 'R': "+RESET\r\n"}[end[0]])
				c.expectSilence()
			}
		})
	}
}
