package proxy

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"redlock-proxy/commands"
	"redlock-proxy/quorum"
	"redlock-proxy/quorum/registry"
)

// answering is a fake engine's auto that says the same of whatever is asked.
func answering(r quorum.Result) func(*fakeEngine, asked) {
	return func(e *fakeEngine, a asked) { a.asker.Answer(r).Flush() }
}

func TestWhatIsToldOfLocksIsNoted(t *testing.T) {
	won, contended := quorum.Result{Decision: quorum.Won}, quorum.Result{Decision: quorum.Contended}
	replied := func(r quorum.Reply) quorum.Result { return quorum.Result{Decision: quorum.Won, Reply: r} }
	ok, one, none := quorum.Reply{Kind: quorum.StatusReply, Str: "OK"}, quorum.Reply{Kind: quorum.IntegerReply, Int: 1}, quorum.Reply{Kind: quorum.IntegerReply}
	written := won
	written.Script = &quorum.ScriptReply{Reply: one}
	for _, c := range []struct {
		send   string
		result quorum.Result
		what   string // of the last thing known of k: "" is nothing; "+" before it: and it is fought for
		left   time.Duration
	}{
		{"SET k t NX PX 30000", won, "granted", 30 * time.Second},
		{"SET k t NX PXAT 1700000030123", won, "granted", 30*time.Second - 456*time.Microsecond}, // by the engine's time
		{"SET k t NX", won, "granted", -1},
		{"SET k t NX PX 30000", contended, "+", 0},
		{"SET k t NX PX 30000", quorum.Result{Decision: quorum.Unavailable}, "+", 0},
		{"SET k t NX PX 30000", quorum.Result{Decision: quorum.Won, Reply: quorum.Reply{Kind: quorum.FailureReply, Str: "OOM"}}, "", 0},
		{"SET k t PX 30000", replied(ok), "granted", 30 * time.Second},
		{"SET k t XX PX 30000", replied(quorum.Reply{Kind: quorum.NilReply}), "+", 0},
		{"SET k t PX 30000 GET", replied(quorum.Reply{Kind: quorum.NilReply}), "granted", 30 * time.Second},
		{"GET k", won, "", 0},
		{"HSET k f v", written, "written", -2},
		{"PEXPIRE k 60000", replied(one), "", 0}, // of a lock that is not known: by whom is not, either
		{"PEXPIRE k 60000", replied(none), "", 0},
	} {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, Config{})
			r.engine.auto = answering(c.result)
			client := r.dial()
			client.send(c.send + "\r\n")
			synctest.Wait()
			h, known := r.server.seen.Last(0, "k")
			_, fought := r.server.seen.Hot(0, "k", r.server.clock())
			got := ""
			if fought {
				got = "+"
			}
			if known {
				got += h.What.String()
			}
			if got != c.what {
				t.Errorf("%s, told %v: it is %q, want %q", c.send, c.result.Decision, got, c.what)
			}
			left := h.Until - h.Since
			switch {
			case !known:
				left = 0
			case h.Endless:
				left = -1
			case h.EndUnknown:
				left = -2
			}
			if left != c.left {
				t.Errorf("%s: it lives for %v, want %v", c.send, left, c.left)
			}
			r.end()
		})
	}
}

// TestWhoHoldsItIsWhoTookIt, under the name that it has by then, from grant to release.
func TestWhoHoldsItIsWhoTookIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, Config{})
		r.engine.auto = answering(quorum.Result{Decision: quorum.Won, Reply: quorum.Reply{Kind: quorum.IntegerReply, Int: 1}})
		c := r.dial()
		c.send("CLIENT SETNAME joe\r\n")
		c.expect("+OK\r\n")
		c.send("SET k t NX PX 30000\r\n")
		c.expect("+OK\r\n")
		sign := []registry.Sign{registry.SignOf("t")}
		if h, ok := r.server.seen.Holder(0, "k", sign, 30*time.Second, r.server.clock()); !ok || h.By.Name != "joe" || h.By.ID != 1 {
			t.Errorf("%v, %+v", ok, h)
		}
		time.Sleep(time.Second)
		c.send("PEXPIRE k 60000\r\n")
		c.expect(":1\r\n")
		if h, _ := r.server.seen.Holder(0, "k", sign, time.Minute, r.server.clock()); h.Extensions != 1 || h.Until-h.Since != 61*time.Second {
			t.Errorf("%+v", h)
		}
		r.engine.auto = answering(quorum.Result{Decision: quorum.Won, Script: &quorum.ScriptReply{Reply: quorum.Reply{Kind: quorum.BulkReply, Str: "t"}}})
		c.send("GETEX k PX 90000\r\n")
		c.expect("$1\r\nt\r\n")
		if h, ok := r.server.seen.Holder(0, "k", sign, 90*time.Second, r.server.clock()); !ok || h.Extensions != 2 || !h.EndUnknown || h.What != registry.Granted {
			t.Errorf("%v, %+v", ok, h)
		}
		r.engine.auto = answering(quorum.Result{Decision: quorum.Won, Reply: quorum.Reply{Kind: quorum.IntegerReply, Int: 1}})
		c.send("DEL k\r\n")
		c.expect(":1\r\n")
		if h, ok := r.server.seen.Last(0, "k"); !ok || h.What != registry.Deleted {
			t.Errorf("%v, %+v", ok, h)
		}
		c.send("SET k t NX PX 30000\r\nSET l t NX PX 30000\r\n")
		c.expect("+OK\r\n+OK\r\n")
		if n := r.server.seen.Held(r.server.clock()); n != 2 {
			t.Errorf("%d are held", n)
		}
		r.end()
	})
}

// TestWhoAskedIsNotWhoHeSaysThatHeIsLater, be it before he is answered.
func TestWhoAskedIsNotWhoHeSaysThatHeIsLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, Config{})
		c := r.dial()
		c.send("CLIENT SETNAME joe\r\nSET k t NX PX 30000\r\nCLIENT SETNAME jim\r\n")
		synctest.Wait()
		r.engine.answer(t, "k", quorum.Result{Decision: quorum.Won})
		c.expect("+OK\r\n+OK\r\n+OK\r\n")
		if h, _ := r.server.seen.Last(0, "k"); h.By.Name != "joe" {
			t.Errorf("%+v", h.By)
		}
		r.end()
	})
}

// TestWhoTakesOneOfSeveralKeysThatAreFreedHasIt: the others may take longer.
func TestWhoTakesOneOfSeveralKeysThatAreFreedHasIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, Config{})
		c, other := r.dial(), r.dial()
		c.send("DEL k l\r\n")
		synctest.Wait()
		one := quorum.Result{Decision: quorum.Won, Reply: quorum.Reply{Kind: quorum.IntegerReply, Int: 1}}
		r.engine.answer(t, "k", one)
		other.send("SET k t NX PX 30000\r\n")
		synctest.Wait()
		r.engine.answer(t, "k", quorum.Result{Decision: quorum.Won})
		other.expect("+OK\r\n")
		r.engine.answer(t, "l", one)
		c.expect(":2\r\n")
		if h, _ := r.server.seen.Last(0, "k"); h.What != registry.Granted {
			t.Errorf("%+v", h)
		}
		r.end()
	})
}

// TestEmptyTokenHasAHolder: it is a client's as others are.
func TestEmptyTokenHasAHolder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, Config{})
		r.engine.auto = answering(quorum.Result{Decision: quorum.Won, Reply: quorum.Reply{Kind: quorum.StatusReply, Str: "OK"}})
		c := r.dial()
		c.send("SET k \"\" NX PX 30000\r\nSET l \"\" PX 30000\r\n")
		c.expect("+OK\r\n+OK\r\n")
		for _, key := range []string{"k", "l"} {
			if _, ok := r.server.seen.Holder(0, key, []registry.Sign{registry.SignOf("")}, 30*time.Second, r.server.clock()); !ok {
				t.Errorf("the holder of %s is not known", key)
			}
		}
		r.end()
	})
}

// TestLockThatCouldNotBeToldIsNotHeld: its client is gone.
func TestLockThatCouldNotBeToldIsNotHeld(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, Config{})
		c := r.dial()
		c.send("SET k t NX PX 30000\r\n")
		synctest.Wait()
		c.nc.Close()
		synctest.Wait()
		r.server.conn(1).cut()
		r.engine.answer(t, "k", quorum.Result{Decision: quorum.Won})
		synctest.Wait()
		if h, ok := r.server.seen.Last(0, "k"); !ok || h.What != registry.Undone {
			t.Errorf("%v, %+v", ok, h)
		}
		r.end()
	})
}

// TestChangesOfMastersAreEvents, each with its reason, and the last troubles are told of each.
func TestChangesOfMastersAreEvents(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, Config{})
		quarantines, other, since := uint64(0), quorum.CatchingUp, time.Now()
		stand := func(state quorum.State, reason string) {
			if state == quorum.Quarantined {
				quarantines++
			}
			r.engine.stands(quorum.Status{Quorum: 1, Masters: []quorum.MasterStatus{
				{Name: "m1", State: state, Since: time.Now(), Reason: reason, Quarantines: quarantines},
				{Name: "m2", State: other, Since: since, Quarantines: 7},
			}})
			time.Sleep(2 * time.Second)
		}
		stand(quorum.Voting, "")
		stand(quorum.Down, "it does not answer")
		stand(quorum.Quarantined, "its process was started anew")
		stand(quorum.Voting, "")
		quarantines++ // which nobody saw, and another one votes again in the same second
		other, since = quorum.Voting, time.Now()
		stand(quorum.Voting, "")
		events, _ := r.server.seen.Events.After(0, 100)
		var texts []string
		for _, e := range events {
			texts = append(texts, e.About+" "+e.Text)
		}
		want := "m1 voting, m2 catching-up, m1 down: it does not answer, m1 quarantined: its process was started anew, m1 voting, " +
			"m1 voting, after a quarantine that took less than a second: what it had lost was given back to it, m2 voting"
		if got := strings.Join(texts, ", "); got != want {
			t.Errorf("%s\nwant %s", got, want)
		}
		c := r.dial()
		c.send("LOCK EVENTS 1\r\n")
		c.expect("*1\r\n*12\r\n$6\r\nnumber\r\n:7\r\n")
		if got := len(r.server.watched.troublesOf(0)); got != 3 {
			t.Errorf("%d troubles", got)
		}
		r.end()
	})
}

func TestVerdictSaysWhetherLocksAreGrantedAndTheProxyMayBeRestarted(t *testing.T) {
	m := func(state quorum.State, reason string, debts int) quorum.MasterStatus {
		return quorum.MasterStatus{Name: "m" + fmt.Sprint(int(state)), State: state, Reason: reason, Debts: debts}
	}
	for _, c := range []struct {
		masters  []quorum.MasterStatus
		canVote  int
		shortage string
		want     []string
	}{
		{[]quorum.MasterStatus{m(quorum.Voting, "", 0), m(quorum.Voting, "", 0), m(quorum.Voting, "", 0)}, 3, "",
			[]string{"locks are granted, 3 of 3 masters vote, 2 are needed; ", "this proxy may be restarted"}},
		{[]quorum.MasterStatus{m(quorum.Voting, "", 0), m(quorum.Voting, "", 0), m(quorum.Down, "refused", 3)}, 2, "1 down",
			[]string{"will not be if one more master fails", "m1 down (refused)", "better do not restart", "3 releases that are owed to m1"}},
		{[]quorum.MasterStatus{m(quorum.Voting, "", 0), m(quorum.CatchingUp, "", 0), m(quorum.Drained, "by the operator", 0)}, 1, "1 catching up, 1 drained",
			[]string{"1 of 3 masters vote", "being given what it lost", "asked for votes again"}},
		// One that hangs is voting until its time is up, and cannot vote.
		{[]quorum.MasterStatus{m(quorum.Voting, "", 0), m(quorum.Voting, "", 0), m(quorum.Voting, "", 0)}, 2, "1 gave no answer in time",
			[]string{"will not be if one more master fails, 2 of 3 masters vote, 2 are needed: 1 gave no answer in time; "}},
	} {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, Config{})
			r.engine.stands(quorum.Status{Quorum: 2, Masters: c.masters, CanVote: c.canVote, Shortage: c.shortage})
			got := r.server.verdict()
			for _, want := range c.want {
				if !strings.Contains(got, want) {
					t.Errorf("%q is not in %q", want, got)
				}
			}
			r.end()
			if got := r.server.verdict(); !strings.HasPrefix(got, "no locks are granted: this proxy is shutting down") {
				t.Errorf("%q", got)
			}
		})
	}
}

// TestNamesAreRememberedAsFarAsTheyTellOneFromTheOthers: each lock keeps its client's.
func TestNamesAreRememberedAsFarAsTheyTellOneFromTheOthers(t *testing.T) {
	c := &conn{id: 1, addr: "a:1"}
	long := strings.Repeat("x", 1<<20)
	o := c.originOf(&commands.Snapshot{Name: long, LibName: long, LibVer: long, User: long})
	if n := len(o.Name) + len(o.Library) + len(o.User); n > 4*mostOfName+1 {
		t.Errorf("%d bytes of names", n)
	}
}

func TestNoteAllocatesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, Config{})
		c := &conn{srv: r.server}
		s := &slot{conn: c, command: commands.Table()[0], origin: &registry.Origin{ID: 1}}
		request := quorum.Request{Kind: quorum.Acquire, Key: "k", Token: "t", TTL: time.Second}
		s.asks, s.results = []ask{{slot: s, request: &request}}, []quorum.Result{{Decision: quorum.Won}}
		reply := commands.OK
		if n := testing.AllocsPerRun(100, func() { c.note(s, &reply, 0) }); n != 0 {
			t.Errorf("%v allocations", n)
		}
		r.end()
	})
}
