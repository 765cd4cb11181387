package engine

import (
	"fmt"
	"testing"
	"time"

	"redlock-proxy/quorum"
	"redlock-proxy/quorum/messages"
)

func (w *world) survey(only int, args ...string) quorum.Result {
	w.t.Helper()
	return w.ask(quorum.Request{Kind: quorum.Survey, Args: args, Only: only})
}

func TestSurveyTellsWhatEachMasterSaid(t *testing.T) {
	inWorld(t, 3, func(w *world) {
		for i, m := range w.masters {
			for j := range i {
				m.put(fmt.Sprint("k", j), "v", 0)
			}
		}
		r := w.survey(0, "DBSIZE")
		w.want(r, quorum.Won)
		for i, a := range r.Answers {
			// The marker is one of them: it is for the asker to leave it out.
			if want := (quorum.Reply{Kind: quorum.IntegerReply, Int: int64(i) + 1}); !a.Given || a.Reply.Reply != want || a.Server != w.masters[i].runID {
				t.Errorf("master %d: %+v", i+1, a)
			}
		}
		// An array, with what is in it.
		r = w.survey(3, "SCAN", "0", "COUNT", "10")
		w.want(r, quorum.Won)
		page := r.Answers[2].Reply
		if page.Kind != quorum.ArrayReply || len(page.Elems) != 2 || page.Elems[0].Str != "0" || page.Elems[1].Kind != quorum.ArrayReply || len(page.Elems[1].Elems) != 3 {
			t.Errorf("%+v", page)
		}
		// Redis's own error is an answer; what says that a master cannot is none.
		answering(w.masters[0], "DBSIZE", "-ERR syntax error\r\n")
		answering(w.masters[1], "DBSIZE", "-NOPERM this user has no permissions\r\n")
		r = w.survey(0, "DBSIZE")
		w.want(r, quorum.Won)
		if a := r.Answers[0]; !a.Given || a.Reply.Kind != quorum.FailureReply || a.Reply.Str != "ERR syntax error" {
			t.Errorf("%+v", a)
		}
		if r.Answers[1].Given || !r.Answers[2].Given {
			t.Errorf("%+v", r.Answers)
		}
	})
}

func TestSurveyOfOneMasterAsksNoOther(t *testing.T) {
	inWorld(t, 3, func(w *world) {
		r := w.survey(2, "DBSIZE")
		if w.want(r, quorum.Won); r.Answers[0].Given || !r.Answers[1].Given || r.Answers[2].Given {
			t.Errorf("%+v", r.Answers)
		}
		for i, m := range w.masters {
			if n := len(m.commands("DBSIZE")); n != map[int]int{1: 1}[i] {
				t.Errorf("master %d was asked %d times", i+1, n)
			}
		}
		w.down(1, 3)
		w.want(w.survey(2, "DBSIZE"), quorum.Won)
		w.want(w.survey(1, "DBSIZE"), quorum.Unavailable)
		for _, nobody := range []int{-1, 4, quorum.MaxMasters + 1, 1 << 40} {
			w.want(w.survey(nobody, "DBSIZE"), quorum.Unavailable)
		}
	})
}

// A hung master costs a survey what a decision may take, and no more.
func TestSurveyIsDecidedWithoutAHungMaster(t *testing.T) {
	inWorld(t, 3, func(w *world) {
		w.masters[2].freeze()
		began := time.Now()
		r := w.survey(0, "DBSIZE")
		if w.want(r, quorum.Won); r.Answers[2].Given || !r.Answers[0].Given || !r.Answers[1].Given {
			t.Errorf("%+v", r.Answers)
		}
		if took := time.Since(began); took < w.cfg.AcquireTimeout || took > w.cfg.AcquireTimeout*11/10 {
			t.Errorf("it took %v", took)
		}
		w.masters[1].freeze()
		w.want(w.survey(0, "DBSIZE"), quorum.Unavailable)
	})
}

// What is put to all masters may be a flush, which all of them must get at the same
// place among the commands on every key.
func TestSurveyOfAllMastersIsOrderedWithEveryKey(t *testing.T) {
	inWorld(t, 3, func(w *world) {
		locked := func() (n int) {
			for i := range w.engine.zero.shards {
				mu := &w.engine.zero.shards[i].mu
				if mu.TryLock() {
					mu.Unlock()
				} else {
					n++
				}
			}
			return n
		}
		unlock := w.engine.zero.lock(&quorum.Request{Kind: quorum.Survey})
		if n := locked(); n != len(w.engine.zero.shards) {
			t.Errorf("%d shards are locked", n)
		}
		unlock()
		unlock = w.engine.zero.lock(&quorum.Request{Kind: quorum.Survey, Only: 1})
		if n := locked(); n > 1 {
			t.Errorf("%d shards are locked for one master", n)
		}
		unlock()
		if n := locked(); n != 0 {
			t.Errorf("%d shards are still locked", n)
		}
	})
}

func TestFlushLeavesWhatComesAfterIt(t *testing.T) {
	inWorld(t, 3, func(w *world) {
		for i, m := range w.masters {
			m.set(func(m *fakeMaster) { m.lag = time.Duration(i) * ms })
		}
		w.want(w.acquire("k", "t", time.Minute), quorum.Won)
		w.want(w.acquire("before", "t", time.Minute), quorum.Won)
		for _, r := range []quorum.Request{
			{Kind: quorum.Survey, Args: []string{"FLUSHALL", "SYNC"}},
			{Kind: quorum.Acquire, Key: "after", Token: "t", TTL: time.Minute},
		} {
			a := w.put(r)
			defer func() { w.want(a.wait(t), quorum.Won) }()
		}
		w.settle()
		w.wantValues("before", "", "", "")
		w.wantValues("k", "", "", "")
		w.wantValues("after", "t", "t", "t")
	})
}

// A command that is sent again for want of a script does not go behind a flush.
func TestFlushIsNotOvertakenByWhatIsSentAgain(t *testing.T) {
	inWorld(t, 1, func(w *world) {
		m := w.masters[0]
		m.set(func(m *fakeMaster) {
			clear(m.scripts)
			m.lag = 10 * ms
		})
		w.put(quorum.Request{Kind: quorum.Read, Key: "x"}) // keeps the lane busy, so that the next two are one batch
		write := w.put(quorum.Request{Kind: quorum.Write, Key: "k", Args: []string{"SET", "k", "v"}})
		flush := w.put(quorum.Request{Kind: quorum.Survey, Args: []string{"FLUSHALL"}})
		w.want(flush.wait(t), quorum.Won)
		write.wait(t)
		w.settle()
		w.wantValues("k", "")
	})
}

func TestPageLongerThanAScriptsReplyIsRead(t *testing.T) {
	inWorld(t, 1, func(w *world) {
		var names []string
		for i := range 5000 {
			names = append(names, fmt.Sprint("k", i))
		}
		answering(w.masters[0], "SCAN", array(bulk("0"), bulkList(names)))
		r := w.survey(1, "SCAN", "0", "COUNT", "10")
		if w.want(r, quorum.Won); len(r.Answers[0].Reply.Elems[1].Elems) != 5000 {
			t.Error("keys are missing")
		}
		// Nothing else may be so long.
		answering(w.masters[0], "EVALSHA", bulkList(names))
		w.want(w.read("k"), quorum.Unavailable)
	})
}

func TestPrivateKeysAreTold(t *testing.T) {
	for key, own := range map[string]bool{messages.Channel: true, quorum.MarkerKey: true, "redlock-proxy:{x}": true, "redlock-proxy:x": false, "": false} {
		if quorum.Private(key) != own {
			t.Errorf("%q: %v", key, !own)
		}
	}
}
