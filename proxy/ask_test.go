package proxy

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"redlock-proxy/quorum"
	"redlock-proxy/quorum/registry"
)

var nightShift = Operator{User: "default", From: "10.0.0.9:4711"}

// on is what contentScript tells of a string.
func on(value string) quorum.SurveyAnswer {
	text := func(s string) quorum.ScriptReply {
		return quorum.ScriptReply{Reply: quorum.Reply{Kind: quorum.BulkReply, Str: s}}
	}
	left := quorum.ScriptReply{Reply: quorum.Reply{Kind: quorum.IntegerReply, Int: 1000}}
	return quorum.SurveyAnswer{Given: true, Reply: quorum.ScriptReply{Reply: quorum.Reply{Kind: quorum.ArrayReply}, Elems: []quorum.ScriptReply{text("string"), left, text(value)}}}
}

// TestOperatorForcesALockWithoutAConnection, which is noted as his.
func TestOperatorForcesALockWithoutAConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := Config{}
		cfg.Commands.Users = everybodyOperates
		cfg.Commands.Password = func() string { return "secret" } // he has shown it to somebody else
		r := newRig(t, cfg)
		var dbs []int
		r.engine.auto = func(e *fakeEngine, a asked) {
			dbs = append(dbs, a.request.DB)
			result := quorum.Result{Decision: quorum.Won, Needed: 1}
			switch a.request.Kind {
			case quorum.Survey:
				result.Answers = []quorum.SurveyAnswer{on("t")}
			case quorum.Read:
				result.Exists, result.Type, result.Value, result.TTL = true, "string", "t", time.Second
			}
			a.asker.Answer(result).Flush()
		}
		r.server.seen.Note(&registry.Act{What: registry.Granted, DB: 3, Key: "k", Signs: registry.SignedBy("t"), TTL: time.Hour, By: &registry.Origin{ID: 5}})
		reply, err := r.server.Ask(context.Background(), nightShift, 3, "LOCK", "FORCE", "k", "HOLDER", registry.Fingerprint("t"), "REASON", "it hangs")
		if err != nil || !strings.HasPrefix(reply.Str, "OK, ") {
			t.Fatalf("%v, %+v", err, reply)
		}
		if len(dbs) != 3 || dbs[0] != 3 || dbs[1] != 3 || dbs[2] != 3 {
			t.Errorf("asked in %v", dbs)
		}
		if h, ok := r.server.seen.Last(3, "k"); !ok || h.What != registry.Forced || h.By.Addr != nightShift.From {
			t.Errorf("%v, %+v", ok, h)
		}
		events, _ := r.server.seen.Events.After(0, 10)
		if e := events[len(events)-1]; e.Kind != "order" || e.About != "k" || !strings.Contains(e.Text, "it hangs") || !strings.Contains(e.By, nightShift.From) {
			t.Errorf("%+v", e)
		}
		r.end()
	})
}

// TestOperatorFreesALockWhoeverHoldsIt, which is no less his doing, and is told of where no answer came.
func TestOperatorFreesALockWhoeverHoldsIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := Config{}
		cfg.Commands.Users = everybodyOperates
		r := newRig(t, cfg)
		last := func() string {
			events, _ := r.server.seen.Events.After(0, 10)
			return events[len(events)-1].Text
		}
		r.server.seen.Note(&registry.Act{What: registry.Granted, Key: "k", Signs: registry.SignedBy("t"), TTL: time.Hour, By: &registry.Origin{ID: 5}})
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		for holder, name := range map[string]string{"": "DEL", "1f2e": "LOCK FORCE"} {
			if _, err := r.server.Free(ctx, nightShift, 0, "k", holder, "it hangs"); err != context.DeadlineExceeded || last() != name+": "+unanswered+", for: it hangs" {
				t.Errorf("%v, %s", err, last())
			}
		}
		r.engine.auto = func(e *fakeEngine, a asked) {
			a.asker.Answer(quorum.Result{Decision: quorum.Won, Needed: 1}).Flush()
		}
		reply, err := r.server.Free(context.Background(), nightShift, 0, "k", "", "it hangs")
		if err != nil || reply.Int != 1 || last() != "DEL: 1 deleted, for: it hangs" {
			t.Errorf("%v, %+v, %s", err, reply, last())
		}
		if h, ok := r.server.seen.Last(0, "k"); !ok || h.What != registry.Forced || h.By.Addr != nightShift.From {
			t.Errorf("%v, %+v", ok, h)
		}
		r.end()
	})
}

func TestOperatorDoesNotWaitForEver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, Config{})
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		if reply, err := r.server.Ask(ctx, nightShift, 0, "LOCK", "INFO", "k"); err != context.DeadlineExceeded {
			t.Errorf("%v, %+v", err, reply)
		}
		if reply, err := r.server.Ask(ctx, nightShift, 0, "LOCK", "TOP", "x"); err != nil || !strings.HasPrefix(reply.Str, "ERR ") {
			t.Errorf("%v, %+v", err, reply)
		}
		if _, err := r.server.Ask(ctx, nightShift, 0, "CLIENT", "LIST"); err == nil {
			t.Error("he is answered what is about connections")
		}
		r.engine.answer(t, "k", quorum.Result{}) // nobody waits for it any more
		r.end()
	})
}

func TestOrdersAboutMastersAreAnOperators(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, Config{})
		if reply := r.server.Order(nightShift, "LOCK DRAIN", "m1", "disk", true); !strings.HasPrefix(reply.Str, "OK, ") {
			t.Errorf("%+v", reply)
		}
		if reply := r.server.Order(nightShift, "LOCK EAT", "m1", "", false); !strings.HasPrefix(reply.Str, "ERR ") {
			t.Errorf("%+v", reply)
		}
		if len(r.engine.orders) != 1 || r.engine.orders[0] != "drain m1 by force" || !strings.Contains(r.log.String(), "reason=disk") {
			t.Errorf("%v\n%s", r.engine.orders, r.log.String())
		}
		r.end()
	})
}

// TestWhoLooksIntoItHoldsUpNobody: other proxies are asked who holds a lock, and take their time.
func TestWhoLooksIntoItHoldsUpNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hanging = make(chan struct{})
		r := newRig(t, Config{Inquire: func(string) []string { <-hanging; return nil }})
		c, other := r.dial(), r.dial()
		c.send("LOCK INFO k\r\n")
		other.send("SET l t NX PX 1000\r\n")
		synctest.Wait()
		// As a lane does, one after the other.
		r.engine.answer(t, "", quorum.Result{Decision: quorum.Won, Needed: 1, Answers: []quorum.SurveyAnswer{on("t")}})
		r.engine.answer(t, "k", quorum.Result{Decision: quorum.Won, Needed: 1, Exists: true, Type: "string", Value: "t", TTL: time.Second})
		r.engine.answer(t, "l", won)
		other.expect("+OK\r\n")
		c.send("PING\r\n")
		c.expectSilence()
		time.Sleep(time.Second)
		close(hanging)
		c.expect("*")
		if l := r.server.Latencies(); l[quorum.Read].Sum >= time.Second || l[quorum.Survey].Sum >= time.Second {
			t.Error("others are told to be the masters")
		}
		r.end()
	})
}
