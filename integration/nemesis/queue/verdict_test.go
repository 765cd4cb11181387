package queue

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"redlock-proxy/integration/nemesis/lease"
)

// second is a moment of the histories below.
func second(n float64) lease.Instant { return lease.Instant(n * float64(time.Second)) }

// op takes from one half of a second before the moment to it.
func op(kind Kind, queue, element string, outcome lease.Outcome, at float64) Op {
	return Op{Queues: []string{queue}, Kind: kind, Element: element, Outcome: outcome, Call: second(at - 0.5), Return: second(at)}
}

func push(e string, at float64) Op { return op(Push, "q", e, lease.Yes, at) }
func pop(e string, at float64) Op  { return op(Pop, "q", e, lease.Yes, at) }

var (
	drained = op(Drain, "q", "", lease.Yes, 100)
	stuck   = op(Drain, "q", "", lease.Unknown, 100)
)

func TestWrongHistoriesAreFound(t *testing.T) {
	for _, c := range []struct {
		why                   string
		history               []Op
		stands                string
		twice, lost, invented int
	}{
		{why: "all is well", history: []Op{push("a", 1), push("b", 2), pop("a", 3), pop("b", 4), drained}},
		{why: "delivered twice", history: []Op{push("a", 1), pop("a", 3), pop("a", 4), drained}, twice: 1},
		{why: "an unknown push, delivered", history: []Op{op(Push, "q", "a", lease.Unknown, 1), pop("a", 3), drained}},
		{why: "an unknown push, delivered twice", history: []Op{op(Push, "q", "a", lease.Unknown, 1), pop("a", 3), pop("a", 4), drained}, twice: 1},
		{why: "an unknown push, never delivered", history: []Op{op(Push, "q", "a", lease.Unknown, 1), drained}},
		{why: "moved once", history: []Op{push("a", 1), op(Move, "q", "a", lease.Yes, 2), pop("a", 3), drained}},
		{why: "moved twice", history: []Op{push("a", 1), op(Move, "q", "a", lease.Yes, 2), op(Move, "q", "a", lease.Yes, 3), pop("a", 4), drained}, twice: 1},
		{why: "an unknown move takes nothing", history: []Op{push("a", 1), op(Move, "q", "", lease.Unknown, 2), drained}, lost: 1},
		{why: "lost", history: []Op{push("a", 1), push("b", 2), pop("b", 4), drained}, lost: 1},
		{why: "invented", history: []Op{pop("a", 1), drained}, invented: 1},
		{why: "gone with an answer", history: []Op{push("a", 1), op(Pop, "q", "", lease.Unknown, 2), drained}},
		{why: "two gone with one answer", history: []Op{push("a", 1), push("b", 1), op(Pop, "q", "", lease.Unknown, 2), drained}, lost: 1},
		{why: "a pop of another queue", history: []Op{push("a", 1), op(Pop, "p", "", lease.Unknown, 2), drained}, lost: 1},
		{why: "a pop long before", history: []Op{op(Pop, "q", "", lease.Unknown, 2), push("a", 20), drained}, lost: 1},
		{why: "a pop that was carried out late", history: []Op{op(Pop, "q", "", lease.Unknown, 2), push("a", 5), drained}},
		{why: "a pop long after it was gone", history: []Op{push("a", 1), push("b", 2), pop("b", 3), op(Pop, "q", "", lease.Unknown, 20), drained}, lost: 1},
		{why: "each of two has a pop, in one way only", history: []Op{
			push("a", 1), op(Pop, "q", "", lease.Unknown, 2), push("b", 11), op(Pop, "q", "", lease.Unknown, 12), drained}},
		{why: "it stands in a queue that is stuck", history: []Op{push("a", 1), stuck}, stands: "a"},
		{why: "it stands nowhere", history: []Op{push("a", 1), stuck}, stands: "b", lost: 1},
		{why: "it stands on a master, and the queue is empty", history: []Op{push("a", 1), drained}, stands: "a", lost: 1},
	} {
		v := Judge(c.history, map[string]bool{c.stands: c.stands != ""})
		if len(v.Twice) != c.twice || len(v.Lost) != c.lost || len(v.Invented) != c.invented {
			t.Errorf("%s: %+v", c.why, v)
		}
	}
}

// A pop that could excuse either of two is left to the one that has no other.
func TestExcusesAreSharedOut(t *testing.T) {
	both := op(Pop, "q", "", lease.Unknown, 2)
	both.Queues = []string{"q", "p"}
	history := []Op{push("a", 1), op(Push, "p", "b", lease.Yes, 1), both, op(Pop, "q", "", lease.Unknown, 2), drained, op(Drain, "p", "", lease.Yes, 100)}
	for range 2 {
		if v := Judge(history, nil); len(v.Lost) > 0 || v.Excused != 2 {
			t.Errorf("%+v", v)
		}
		slices.Reverse(history)
	}
}

func TestQueueIsStuckUnlessItWasSeenToBeEmpty(t *testing.T) {
	for _, c := range []struct {
		drains []Op
		stuck  bool
	}{{nil, true}, {[]Op{drained}, false}, {[]Op{stuck}, true}, {[]Op{drained, stuck}, true}, {[]Op{stuck, drained}, true}} {
		if v := Judge(append([]Op{push("a", 1), pop("a", 2)}, c.drains...), nil); len(v.Stuck) > 0 != c.stuck {
			t.Errorf("%v: %v", c.drains, v.Stuck)
		}
	}
}

func TestHistoryIsWrittenInWords(t *testing.T) {
	text, err := json.Marshal(push("a", 1))
	if err != nil || !strings.Contains(string(text), `"Kind":"push"`) {
		t.Fatalf("%s, %v", text, err)
	}
	var back Op
	if err := json.Unmarshal(text, &back); err != nil || back.Kind != Push || back.Element != "a" {
		t.Errorf("%v, %v", back, err)
	}
	if err := json.Unmarshal([]byte(`{"Kind":"peep"}`), &back); err == nil {
		t.Error("an unknown kind is read")
	}
}
