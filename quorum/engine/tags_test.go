package engine

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"redlock-proxy/quorum"
	"redlock-proxy/quorum/clock"
	"redlock-proxy/quorum/decide"
	"redlock-proxy/quorum/journal"
)

// What is about keys of one tag is ordered, and latched, as if it were about one key.

func TestWhatHasATagOnItsWayToAFarMasterWaits(t *testing.T) {
	inFarWorld(t, func(w *world) {
		won := w.timed(quorum.Request{Kind: quorum.Acquire, Key: "{t}:a", Token: "t", TTL: time.Minute})
		same := w.timed(quorum.Request{Kind: quorum.Acquire, Key: "{t}:b", Token: "t", TTL: time.Minute})
		other := w.timed(quorum.Request{Kind: quorum.Acquire, Key: "{u}:b", Token: "t", TTL: time.Minute})
		won.want(w, 1)
		other.want(w, 1)
		w.want(same.wait(t), quorum.Won)
		if took := time.Since(same.put); took != 19*ms {
			t.Errorf("what is about another key of the tag took %v", took)
		}
		for _, m := range w.masters {
			if sets := m.commands("SET {t}"); len(sets) != 2 || !strings.HasPrefix(sets[0], "SET {t}:a") {
				t.Errorf("%s: %q", m.name, sets)
			}
		}
	})
}

// Where an errand waits for the next batch, or a long command for room, what is about another key
// of the tag does not go before it.
func TestNothingGoesBeforeWhatHasItsTag(t *testing.T) {
	set := func(key string, weight int) *op {
		o := &op{weight: weight}
		o.Kind, o.Key, o.Args = quorum.Write, key, []string{"SET", key, "v"}
		return o
	}
	ops := []*op{set("{t}:b", 10), set("x{t}", 10), set("{u}:b", 10), set("t", 10), set("{t", 10)}
	n := overtake(ops, 0, maxBatch, waitingFor([]errand{&debt{key: "{t}:a"}}))
	var keys []string
	for _, o := range ops {
		keys = append(keys, o.Key)
	}
	if want := []string{"{u}:b", "{t", "{t}:b", "x{t}", "t"}; n != 2 || !slices.Equal(keys, want) {
		t.Errorf("%d go of %q, want the first 2 of %q", n, keys, want)
	}
}

func TestStepsOnOneTagTakeTurns(t *testing.T) {
	inWorldOfSteps(t, func(w *world) {
		w.each(func(m *fakeMaster) { m.set(func(m *fakeMaster) { m.lag = 3 * ms }) }, 1, 2, 3)
		var mu sync.Mutex
		var order []string
		var waiters []*waiter
		for _, key := range []string{"{t}:a", "{t}:b", "t", "{u}:a", "a{t}"} {
			a := &chained{newWaiter(), func(quorum.Result) {
				mu.Lock()
				defer mu.Unlock()
				order = append(order, key)
			}}
			w.engine.Put(&quorum.Request{Kind: quorum.Run, Script: countStep, Key: key, Keys: []string{key}}, a)
			waiters = append(waiters, a.waiter)
		}
		for _, a := range waiters {
			w.wantNumber(a.wait(t), 1)
		}
		if i := slices.Index(order, "{u}:a"); i > 1 { // it waits for nobody
			t.Errorf("the order is %v", order)
		} else if order = slices.Delete(order, i, i+1); !slices.Equal(order, []string{"{t}:a", "{t}:b", "t", "a{t}"}) {
			t.Errorf("of one tag the order is %v", order)
		}
	})
}

func TestStepMeetsTheLatchOfItsTag(t *testing.T) {
	inWorldOfSteps(t, func(w *world) {
		w.each(func(m *fakeMaster) { m.latch("{t}:a", 100*ms) }, 1, 2)
		began := time.Now()
		w.wantNumber(w.count("b{t}"), 1)
		if waited := time.Since(began); waited < 90*ms {
			t.Errorf("it took %v", waited)
		}
		w.settle()
		w.wantValues("b{t}", "1", "1", "1")
	})
}

// A lost step that has written to several keys of a tag is taken back on each of them: the latch,
// without which nothing is, stays until the last is.
func TestLatchOfATagStaysUntilTheLastOfItsKeys(t *testing.T) {
	inWorldOfSteps(t, func(w *world) {
		m, holder := w.masters[2], "0123456789abcdef:1"
		w.putAll("{t}:a", "", "", "6")
		w.putAll("t", "", "", "7") // which it was not given
		m.put(journal.Latch("t"), holder, time.Minute)
		m.set(func(m *fakeMaster) { m.log = nil })
		o := &op{
			Question: decide.Question{Request: quorum.Request{Kind: quorum.Run, Script: countStep, Key: "{t}:a", Keys: []string{"{t}:a", "{t}:b"}}, Said: make([]decide.Said, 3)},
			db:       w.engine.zero, turn: &turn{tags: []string{"t"}}, holder: holder, sent: make([]sending, 3),
		}
		o.Said[2].Journal = &decide.Journal{Acted: true, Latched: true, Undo: []decide.UndoRecord{
			{Key: "{t}:a", Before: stringDump("5"), Left: decide.SaysNoTTL, After: stringDump("6"), Expires: decide.SaysNoTTL},
			{Key: "{t}:b", After: stringDump("1"), Before: stringDump("1"), Left: decide.SaysNoTTL, Expires: decide.SaysNoTTL},
			{Key: "t", Before: stringDump("6"), Left: decide.SaysNoTTL, After: stringDump("7"), Expires: decide.SaysNoTTL},
		}}
		for i := range o.sent {
			o.sent[i].nonce = w.engine.zero.lanes[i].nonce
		}
		list := ruling{o, decide.Votes(0).Voted(2, quorum.Granted, true), time.Now()}.endings(2, true)
		ruling{o, 0, time.Now()}.endAll(list)
		w.settle()
		w.wantFree("t")
		w.wantValues("{t}:a", "", "", "5")
		w.wantValues("t", "", "", "6")
		if got := m.commands(""); !slices.Equal(got, []string{"take-back t", "take-back {t}:a", "let-go t"}) {
			t.Errorf("it was told %q", got)
		}
	})
}

// A script that may use keys that it was not given waits for the acquire of any that has its tag,
// and spoils one that it does not wait for.
func TestScriptThatReachesWaitsForTheAcquiresOfItsTag(t *testing.T) {
	reaches := quorum.NewScript(renewHash.Text)
	reaches.Reaches = true
	for key, waits := range map[string]bool{"t": true, "{t}:x": true, "{u}:x": false, "{": false} {
		for _, script := range []*quorum.Script{reaches, renewHash} {
			inWorld(t, 3, func(w *world) {
				w.each((*fakeMaster).freeze, 2, 3)
				acquired := w.put(quorum.Request{Kind: quorum.Acquire, Key: "{t}:k", Token: "1", TTL: time.Minute})
				synctest.Wait()
				renewed := w.put(quorum.Request{Kind: quorum.Run, Script: script, Key: key, Keys: []string{key}, Args: []string{"1", "60000"}})
				time.Sleep(10 * ms)
				sent := len(w.masters[0].commands("renew hash")) > 0
				if sent == (waits && script.Reaches) {
					t.Errorf("of %q, reaching %v, before the acquire is decided: sent %v", key, script.Reaches, sent)
				}
				w.each((*fakeMaster).unfreeze, 2, 3)
				w.want(acquired.wait(t), quorum.Won)
				renewed.wait(t)
			})
		}
	}
}

func TestCommandIsNotSentAgainBehindOneOfItsTag(t *testing.T) {
	var s sender
	later := &op{}
	later.Kind, later.Key = quorum.Release, "{t}:b"
	for key, want := range map[string]bool{"{t}:a": false, "t": false, "{u}:a": true, "b": true} {
		if got := s.resendable([]string{key}, []*op{later}, []bool{true}); got != want {
			t.Errorf("%s: %v", key, got)
		}
	}
	if fmt.Sprint(later.tags()) != "[t]" {
		t.Errorf("its tags are %q", later.tags())
	}
}

// What a quorum has made of a key that a script was not given, a master that has declined is given, too.
func TestMasterThatDeclinedIsGivenWhatAScriptReached(t *testing.T) {
	inWorldOfSteps(t, func(w *world) {
		record := decide.UndoRecord{Key: "{k}:x", Before: stringDump("4"), Left: 60000, After: stringDump("5"), Expires: 60000}
		o := &op{
			Question: decide.Question{Request: quorum.Request{Kind: quorum.Run, Script: renewHash, Key: "k", Keys: []string{"k"}}, Said: make([]decide.Said, 3)},
			db:       w.engine.zero, sent: make([]sending, 3), put: time.Now(),
		}
		o.refs.Store(1)
		c := decide.Votes(0).With(quorum.Won)
		for i, v := range []quorum.Vote{quorum.Granted, quorum.Granted, quorum.Refused} {
			o.Said[i].Journal = &decide.Journal{Acted: v == quorum.Granted}
			if v == quorum.Granted {
				o.Said[i].Journal.Undo = []decide.UndoRecord{record}
			}
			now := w.engine.zero.Boot()
			o.sent[i].nonce, o.sent[i].asked = w.engine.zero.lanes[i].nonce, clock.Span{From: now, To: now}
			c = c.Voted(i, v, v == quorum.Granted)
		}
		ruling{o, c, time.Now()}.give(2)
		w.settle()
		w.wantValues("{k}:x", "", "", "5")
		if got := (ruling{o, c, time.Now()}).allTouched(); !slices.Equal(got, []string{"k", "{k}:x"}) {
			t.Errorf("it has touched %q", got)
		}
	})
}

// However far the masters are, and however many batches are on their way, each is asked about the
// keys of one tag in the order in which they were put.
func TestEachMasterIsAskedAboutATagInOneOrder(t *testing.T) {
	inFarWorld(t, func(w *world) {
		keys := []string{"{t}:a", "t", "b{t}", "{t}{u}"}
		var put []string
		var waiters []*waiter
		for i := range 120 {
			key, other := keys[i%len(keys)], fmt.Sprint("other", i)
			put = append(put, fmt.Sprint(key, "=", i))
			for _, key := range []string{key, other} {
				waiters = append(waiters, w.put(quorum.Request{Kind: quorum.Write, Key: key, Args: []string{"SET", key, fmt.Sprint(i)}}))
			}
			if i%3 == 0 {
				time.Sleep(ms / 2)
			}
		}
		for _, a := range waiters {
			w.want(a.wait(t), quorum.Won)
		}
		w.settle()
		for _, m := range w.masters {
			var asked []string
			for _, command := range m.commands("write ") {
				words := strings.Fields(command)
				if key, value := words[1], words[len(words)-1]; slices.Contains(keys, key) {
					asked = append(asked, key+"="+value)
				}
			}
			if !slices.Equal(asked, put) {
				t.Errorf("%s was asked %q", m.name, asked)
			}
		}
	})
}

// So no acquire is spoiled by it, and who asks for another lock meanwhile comes behind it: else there would always be one.
func TestScriptThatReachesWaitsForAllAcquiresOfItsTag(t *testing.T) {
	reaches := quorum.NewScript(renewHash.Text)
	reaches.Reaches = true
	for _, keys := range [][]string{{"t"}, {"t", "{u}:x"}} {
		inWorld(t, 3, func(w *world) {
			lock := func(key string) *waiter {
				defer synctest.Wait()
				return w.put(quorum.Request{Kind: quorum.Acquire, Key: key, Token: key, TTL: time.Minute})
			}
			told := func(want ...string) {
				t.Helper()
				var got []string
				for _, command := range w.masters[0].commands("") {
					if words := strings.Fields(command); words[0] == "SET" || words[0] == "renew" {
						got = append(got, words[1])
					}
				}
				if !slices.Equal(got, want) {
					t.Errorf("it was told %q, want %q", got, want)
				}
			}
			w.each((*fakeMaster).freeze, 2, 3)
			before := []*waiter{lock("{t}:a"), lock("{t}:b"), lock("{t}:c")}
			script := w.put(quorum.Request{Kind: quorum.Run, Script: reaches, Key: "t", Keys: keys, Args: []string{"1", "60000"}})
			synctest.Wait()
			behind, refused, other := lock("{t}:d"), lock("{t}:d"), lock("{v}:d")
			told("{t}:a", "{t}:b", "{t}:c", "{v}:d")
			w.each((*fakeMaster).unfreeze, 2, 3)
			for _, a := range append(before, other, behind) {
				w.want(a.wait(t), quorum.Won)
			}
			script.wait(t)
			w.want(refused.wait(t), quorum.Contended)
			told("{t}:a", "{t}:b", "{t}:c", "{v}:d", "hash", "{t}:d")
			w.want(lock(keys[len(keys)-1]+"{t}").wait(t), quorum.Won) // nothing is kept waiting any more
		})
	}
}
