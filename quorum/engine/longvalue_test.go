package engine

import (
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"redlock-proxy/quorum"
	"redlock-proxy/quorum/decide"
)

// A master that lags has ops waiting for it long after the others have decided them.
func TestWhatIsDecidedHoldsNoLongValuesUntilTheSlowestMasterHasAnswered(t *testing.T) {
	for name, r := range map[string]quorum.Request{
		"read":    {Kind: quorum.Read, Key: "k", ValueOnly: true},
		"acquire": {Kind: quorum.Acquire, Key: "k", Token: "t", TTL: time.Minute, TellsValue: true},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, 3, func(w *world) {
				long := strings.Repeat("v", 100<<10)
				for _, m := range w.masters {
					m.put("k", long, 0)
				}
				w.masters[2].freeze()
				for range 20 {
					if got := w.ask(r); got.Value != long {
						t.Fatalf("%d bytes, %v", len(got.Value), got.Decision)
					}
				}
				synctest.Wait()
				ops := w.engine.zero.lanes[2].unanswered()
				held := 0
				for _, o := range ops {
					for i := range o.Said {
						held += len(o.Said[i].Value)
					}
				}
				if len(ops) < 20 || held > 0 {
					t.Errorf("%d ops wait, and hold %d bytes of what was told", len(ops), held)
				}
				w.masters[2].unfreeze()
				if got := w.ask(r); got.Value != long {
					t.Errorf("%d bytes, %v", len(got.Value), got.Decision)
				}
			})
		})
	}
}

// unanswered is what has been put into a lane and was not answered.
func (l *lane) unanswered() (ops []*op) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, b := range l.queue.flying {
		ops = append(ops, b.ops...)
	}
	return append(ops, l.queue.ops...)
}

// Whoever decides lets go what another master's lane may be about to compare.
func TestLongValuesAreComparedWhileTheyAreLetGo(t *testing.T) {
	inWorld(t, 5, func(w *world) {
		long := strings.Repeat("v", 8<<10)
		for _, m := range w.masters {
			m.put("k", long, time.Minute)
		}
		var wrong atomic.Int32
		var all []*waiter
		for range 300 {
			all = append(all, w.put(quorum.Request{Kind: quorum.Read, Key: "k"}))
		}
		for _, a := range all {
			if a.wait(t).Value != long {
				wrong.Add(1)
			}
		}
		if n := wrong.Load(); n > 0 {
			t.Errorf("%d reads were told something else", n)
		}
	})
}

func TestADumpThatIsPackedDoesNotMakeAValueShort(t *testing.T) {
	var s sizes
	write, read := &op{place: at(7), Question: decide.Question{Request: quorum.Request{Kind: quorum.Write}}}, &op{place: at(7), Question: decide.Question{Request: quorum.Request{Kind: quorum.Read}}}
	s.note(7, 1<<20)
	s.told(write, 11<<10)
	if n := s.of(7); n != 1<<20 {
		t.Errorf("a value of 1 MiB that was put over one of which the dump has 11 KiB is taken for %d bytes", n)
	}
	s.told(write, 2<<20)
	if n := s.of(7); n != 2<<20 {
		t.Errorf("what is longer is taken for %d bytes", n)
	}
	s.told(read, 11<<10)
	if n := s.of(7); n != 11<<10 {
		t.Errorf("what is known to be shorter is taken for %d bytes", n)
	}
}

// The order about each key stays, and nothing passes what is about all keys.
func TestWhatIsShortGoesBeforeWhatIsLongAndDoesNotFit(t *testing.T) {
	const mib = 1 << 20
	for _, test := range []struct {
		queue string // key, and its weight in MiB; "*" is about all keys, "+" about several
		goes  string
		stays string
		waits string // the keys of errands that wait
	}{
		{"a b c", "a b c", "", ""},
		{"a1 b1 c d1 e", "a1 c e", "b1 d1", ""},
		{"a1 b1 b c", "a1 c", "b1 b", ""},
		{"a1 b1 a c", "a1 a c", "b1", ""},
		{"a1 b1 b+c c d", "a1 d", "b1 b+c c", ""},
		{"a1 b1 c * d", "a1 c", "b1 * d", ""},
		{"a1 b1 b c b d", "a1 c d", "b1 b b", ""},
		{"a b c", "a c", "b", "b"},
		{"a b b+c c d", "a d", "b b+c c", "b"},
		{"a * b", "a", "* b", "c"},
		{"a1 c b", "a1 c", "b", "b"},
		{"a1 b1 c1 b d", "b1 b d", "a1 c1", "a"},
	} {
		var ops []*op
		for name := range strings.FieldsSeq(test.queue) {
			o := &op{Question: decide.Question{Said: make([]decide.Said, 3), Request: quorum.Request{Kind: quorum.Release}}, sent: make([]sending, 3)}
			o.Key = strings.TrimRight(name, "1")
			if o.Key != name {
				o.weight = mib
			}
			if keys := strings.Split(o.Key, "+"); len(keys) > 1 {
				o.Key, o.Keys = keys[0], keys
			}
			if name == "*" {
				o.Kind = quorum.Survey
			}
			ops = append(ops, o)
		}
		n, waits := fitting(ops, maxBatch), map[string]struct{}(nil)
		for key := range strings.FieldsSeq(test.waits) {
			n, waits = 0, waitingFor([]errand{&debt{key: key}})
		}
		n = overtake(ops, n, maxBatch, waits)
		names := func(ops []*op) string {
			var list []string
			for _, o := range ops {
				list = append(list, strings.Join(o.keys(), "+")+strings.Repeat("1", o.weight/mib))
			}
			return strings.Join(list, " ")
		}
		if n = min(n, len(ops)); names(ops[:n]) != test.goes || names(ops[n:]) != test.stays {
			t.Errorf("%s: %s go, %s stay", test.queue, names(ops[:n]), names(ops[n:]))
		}
	}
}

func TestWhoTakesALockDoesNotWaitForTheLongValuesOfOthers(t *testing.T) {
	for name, far := range map[string]time.Duration{"near": 0, "far": 10 * time.Millisecond} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, 3, func(w *world) {
				const reads = 12
				long := strings.Repeat("v", maxBatchBytes)
				w.want(w.ask(quorum.Request{Kind: quorum.Write, Key: "long", Args: []string{"SET", "long", long}}), quorum.Won)
				for _, m := range w.masters {
					m.set(func(m *fakeMaster) { m.answersLate(far) })
				}
				for range 2 * minTrips {
					w.want(w.ask(quorum.Request{Kind: quorum.Read, Key: "absent", ValueOnly: true}), quorum.Won)
				}
				before := 0
				taken := false
				w.masters[0].set(func(m *fakeMaster) {
					m.respond = func(args []string) string {
						taken = taken || args[0] == "SET"
						if args[0] == "GET" && !taken {
							before++
						}
						return ""
					}
				})
				for _, m := range w.masters {
					m.freeze()
				}
				all := []*waiter{}
				for range reads {
					all = append(all, w.put(quorum.Request{Kind: quorum.Read, Key: "long", ValueOnly: true}))
				}
				all = append(all, w.put(quorum.Request{Kind: quorum.Acquire, Key: "short", Token: "t", TTL: time.Minute}))
				synctest.Wait()
				for _, m := range w.masters {
					m.unfreeze()
				}
				for _, a := range all {
					w.want(a.wait(t), quorum.Won)
				}
				synctest.Wait()
				if !taken || before > 2 {
					t.Errorf("the lock was asked for behind %d of %d long values", before, reads)
				}
			})
		})
	}
}

// It adds nothing to a batch, as it is not sent.
func TestWhatOthersHaveDecidedDoesNotKeepAMasterThatLagsFromCatchingUp(t *testing.T) {
	decided := &op{weight: maxBatchBytes, Question: decide.Question{Request: quorum.Request{Kind: quorum.Read}}}
	decided.ballot.Close(func(decide.Votes) quorum.Decision { return quorum.Won })
	open := &op{weight: maxBatchBytes, Question: decide.Question{Request: quorum.Request{Kind: quorum.Read}}}
	if n := fitting([]*op{decided, decided, open, decided, open}, maxBatch); n != 4 {
		t.Errorf("%d fit into a batch", n)
	}
}
