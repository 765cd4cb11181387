package proxy

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/go-hclog"

	"redlock-proxy/commands"
	"redlock-proxy/quorum"
)

// fields is the text of a map, one field after another.
func fields(r commands.Reply) string {
	var b strings.Builder
	for i := 0; i+1 < len(r.Elems); i += 2 {
		fmt.Fprintf(&b, "%s=%s ", r.Elems[i].Str, field(r.Elems[i+1]))
	}
	return strings.TrimSpace(b.String())
}

func field(r commands.Reply) string {
	switch r.Kind {
	case commands.IntegerReply:
		return fmt.Sprint(r.Int)
	case commands.MapReply:
		return "[" + fields(r) + "]"
	case commands.ArrayReply:
		var list []string
		for _, e := range r.Elems {
			list = append(list, strings.Trim(field(e), "[]"))
		}
		return "[" + strings.Join(list, " ") + "]"
	}
	return fmt.Sprintf("%q", r.Str)
}

func TestHowMastersStandIsToldFieldByField(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		now := time.Now()
		st := quorum.Status{Quorum: 2, CanVote: 1, Masters: []quorum.MasterStatus{
			{
				Name: "m1", State: quorum.Voting, Since: now.Add(-90 * time.Second), RoundTrip: 123456 * time.Nanosecond,
				Granted: 1, Refused: 2, Unknown: 3, Withheld: 4, Queue: 5, Debts: 6, DebtBytes: 700, Reconnects: 8, RunID: "abc", Version: "7.0.15",
				ClockKnown: true, ClockOffset: -2500 * time.Microsecond,
				Elsewhere: []quorum.MasterStatus{{DB: 3, State: quorum.CatchingUp, Since: now, Reason: "its marker is gone", Left: time.Minute,
					CatchUp: quorum.CatchUp{Copied: 10, Sources: 1, Needed: 2}}},
			},
			{Name: "m2", State: quorum.Quarantined, Since: now, Reason: "its process was started anew", Left: 4 * time.Minute},
			{Name: "m3", State: quorum.Connecting, ClockKnown: true, ClockOffset: -20 * time.Microsecond},
		}}
		s := newServer(Config{}, &fakeEngine{}, hclog.NewNullLogger(), nil) // which looks at no masters by itself
		s.watched.masters = []seenMaster{{troubles: []Trouble{{At: now, Text: "down: refused"}}}, {}, {}}
		r := s.mastersReply(st)
		if len(r.Elems) != 4 {
			t.Fatalf("%+v", r)
		}
		at := now.UTC().Format(time.RFC3339)
		for i, want := range []string{
			`summary="locks are granted, 1 of 3 masters vote, 2 are needed: m2 quarantined (its process was started anew), m3 connecting" quorum=2 voting=1 masters=3`,
			`name="m1" state="voting" since="` + now.Add(-90*time.Second).UTC().Format(time.RFC3339) + `, 1m30s ago" why="" left="" catch-up="" ` +
				`votes=[granted=1 refused=2 unknown=3 withheld=4 unasked=0] clock-offset="-2.5ms" round-trip-us=123 queue=5 in-batch=0 debts=6 debt-bytes=700 reconnects=8 run-id="abc" version="7.0.15" ` +
				`elsewhere=[database=3 state="catching-up" since="` + at + `, 0s ago" why="its marker is gone" left="1m0s" catch-up="copied=10 sources=1/2"] troubles=["` + at + ` down: refused"]`,
			`name="m2" state="quarantined" since="` + at + `, 0s ago" why="its process was started anew" left="4m0s" catch-up="copied=0 sources=0/0" ` +
				`votes=[granted=0 refused=0 unknown=0 withheld=0 unasked=0] clock-offset="" round-trip-us=0 queue=0 in-batch=0 debts=0 debt-bytes=0 reconnects=0 run-id="" version="" troubles=[]`,
			`name="m3" state="connecting" since="" why="" left="" catch-up="" ` +
				`votes=[granted=0 refused=0 unknown=0 withheld=0 unasked=0] clock-offset="+0.0ms" round-trip-us=0 queue=0 in-batch=0 debts=0 debt-bytes=0 reconnects=0 run-id="" version="" troubles=[]`,
		} {
			if got := fields(r.Elems[i]); got != want {
				t.Errorf("%d:\n%s\nwant\n%s", i, got, want)
			}
			if r.Elems[i].Kind != commands.MapReply {
				t.Errorf("%d is no map", i)
			}
		}
	})
}

func TestOrdersReachTheEngineAndAreAnswered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := Config{}
		cfg.Commands.Users = everybodyOperates
		r := newRig(t, cfg)
		c := r.dial()
		c.send("LOCK ADMIT m1\r\n")
		c.expect("+OK, but locks that master m1 has lost may now be given a second time, until they would have run out\r\n")
		c.send("LOCK DRAIN m2\r\n")
		c.expect("+OK, this proxy asks master m2 for no votes until LOCK RESUME or its own restart; each proxy is told for itself\r\n")
		c.send("LOCK DRAIN m3 FORCE\r\n")
		c.expect("+OK, this proxy asks master m3 for no votes until LOCK RESUME or its own restart; each proxy is told for itself\r\n")
		c.send("LOCK DRAIN m3 FARCE\r\nLOCK DRAIN m3 FORCE FORCE\r\n")
		c.expect("-ERR syntax error\r\n-ERR syntax error\r\n")
		c.send("LOCK RESUME m2\r\n")
		c.expect("+OK\r\n")
		r.engine.mu.Lock()
		r.engine.notNow = errors.New("there is no master \"m9\",\r\nthe masters are m1 m2")
		r.engine.mu.Unlock()
		for _, word := range []string{"ADMIT", "DRAIN", "RESUME"} {
			c.send("LOCK " + word + " m9\r\n")
			c.expect("-ERR there is no master \"m9\", the masters are m1 m2\r\n")
		}
		if got, want := fmt.Sprint(r.engine.orders), "[admit m1 drain m2 drain m3 by force resume m2 admit m9 drain m9 resume m9]"; got != want {
			t.Errorf("%s, want %s", got, want)
		}
		r.end()
	})
}
