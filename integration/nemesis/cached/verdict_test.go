package cached

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"redlock-proxy/integration/nemesis/lease"
)

func second(n float64) lease.Instant { return lease.Instant(n * float64(time.Second)) }

// op takes from a tenth of a second before the moment to it.
func op(kind Kind, number, proxy int, at float64) Op {
	return Op{Key: "k", Kind: kind, Number: number, Proxy: proxy, Outcome: lease.Yes, Call: second(at - 0.1), Return: second(at)}
}

func unknown(o Op) Op { o.Outcome = lease.Unknown; return o }
func ending(o Op) Op  { o.Ends = true; return o }
func quiet(number, is int) Op {
	o := op(Quiet, number, 0, 100)
	o.Is = is
	return o
}

func TestWrongHistoriesAreFound(t *testing.T) {
	one, two := op(Write, 1, 0, 1), op(Write, 2, 0, 2)
	for _, c := range []struct {
		why                string
		history            []Op
		stale, old, behind int
	}{
		{why: "kept as long as it is right", history: []Op{one, op(Read, 1, 0, 1.5), op(Look, 1, 0, 1.8), two}},
		{why: "kept after its writer's answer", history: []Op{one, two, op(Look, 1, 0, 2.2)}, stale: 1},
		{why: "looked while it was written", history: []Op{one, two, op(Look, 1, 0, 2.05)}},
		{why: "at another proxy, soon after", history: []Op{one, two, op(Look, 1, 1, 2.2)}},
		{why: "at another proxy, long after", history: []Op{one, two, op(Look, 1, 1, 4)}, stale: 1},
		{why: "long after the first of two writes", history: []Op{one, two, op(Write, 3, 0, 3.9), op(Look, 1, 1, 4)}, stale: 1},
		{why: "nobody knows whether it was written", history: []Op{one, unknown(two), op(Look, 1, 0, 4)}},
		{why: "what nobody knows to be written", history: []Op{one, unknown(two), op(Look, 2, 0, 4)}},
		{why: "kept as absent", history: []Op{one, op(Look, Absent, 0, 2)}, stale: 1},
		{why: "kept as absent before", history: []Op{op(Look, Absent, 0, 0.5), one}},
		{why: "gone", history: []Op{one, ending(two), op(Look, Absent, 0, 4), op(Read, Absent, 0, 4)}},
		{why: "kept though gone", history: []Op{one, ending(two), op(Look, 1, 0, 4)}, stale: 1},
		{why: "gone, as far as anybody knows", history: []Op{one, unknown(ending(two)), op(Look, Absent, 0, 4)}},
		{why: "an old value is read", history: []Op{one, two, op(Read, 1, 1, 2.2)}, old: 1},
		{why: "read while it is written", history: []Op{one, two, op(Read, 1, 1, 2.05)}},
		{why: "a read that fails", history: []Op{one, two, unknown(op(Read, 1, 1, 2.2))}},
		{why: "a key that nobody writes", history: []Op{op(Look, 1, 0, 2)}},
		{why: "right in the end", history: []Op{one, quiet(1, 1)}},
		{why: "wrong in the end", history: []Op{one, quiet(1, 2)}, behind: 1},
		{why: "absent in the end", history: []Op{one, quiet(1, Absent)}, behind: 1},
		{why: "nobody can tell in the end", history: []Op{one, unknown(quiet(1, Absent))}},
	} {
		v := Judge(c.history, func(look Op, of lease.Instant) bool { return look.Call.Since(of) > time.Second })
		if len(v.Stale) != c.stale || len(v.Old) != c.old || len(v.Behind) != c.behind {
			t.Errorf("%s: %+v", c.why, v)
		}
	}
}

func TestHistoryIsWrittenInWords(t *testing.T) {
	text, err := json.Marshal(op(Look, 1, 0, 1))
	if err != nil || !strings.Contains(string(text), `"Kind":"look"`) {
		t.Fatalf("%s, %v", text, err)
	}
	var back Op
	if err := json.Unmarshal(text, &back); err != nil || back.Kind != Look {
		t.Errorf("%v, %v", back, err)
	}
	if err := json.Unmarshal([]byte(`{"Kind":"glance"}`), &back); err == nil {
		t.Error("an unknown kind is read")
	}
}
