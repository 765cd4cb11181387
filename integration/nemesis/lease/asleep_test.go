package lease

import (
	"slices"
	"testing"
	"time"
)

func at(seconds float64) Instant { return Instant(seconds * float64(time.Second)) }

// of is an op of a token about one key, between two moments.
func of(kind Kind, token string, outcome Outcome, call, back float64) Op {
	op := Op{Key: "k", Token: token, Kind: kind, Outcome: outcome, Call: at(call), Return: at(back)}
	if kind == Acquire {
		op.TTL = time.Second
	}
	return op
}

func TestWhoSleepsBesideAFreeLockIsFound(t *testing.T) {
	had, freed := of(Acquire, "a", Yes, 0, 0.1), of(Release, "a", Yes, 0.5, 0.6)
	for _, c := range []struct {
		why     string
		history []Op
		excuses []Span
		asleep  int
	}{
		{"had as soon as it is free", []Op{had, freed, of(Acquire, "b", Yes, 0.2, 0.7)}, nil, 0},
		{"had long after", []Op{had, freed, of(Acquire, "b", Yes, 0.2, 2.7)}, nil, 1},
		{"refused, and free all the time", []Op{had, freed, of(Acquire, "b", No, 0.2, 2.7)}, nil, 1},
		{"two sleep", []Op{had, freed, of(Acquire, "b", No, 0.2, 2.7), of(Acquire, "c", Yes, 0.2, 2.8)}, nil, 2},
		{"it dies with its ttl", []Op{had, of(Acquire, "b", Yes, 0.2, 2)}, nil, 0},
		{"and the next long after", []Op{had, of(Acquire, "b", Yes, 0.2, 3)}, nil, 1},
		{"a release that nobody answers", []Op{had, of(Release, "a", Unknown, 0.5, 0.6), of(Acquire, "b", Yes, 0.2, 2)}, nil, 0},
		{"others have it meanwhile", []Op{had, freed, of(Acquire, "c", Yes, 0.2, 0.7), of(Acquire, "b", Yes, 0.2, 2.5)}, nil, 0},
		{"others may have it", []Op{had, freed, of(Acquire, "c", Unknown, 0.2, 0.7), of(Acquire, "b", Yes, 0.2, 5)}, nil, 0},
		{"another key", []Op{had, freed, {Key: "l", Token: "b", Kind: Acquire, Outcome: Yes, TTL: time.Second, Call: at(0.2), Return: at(1)}}, nil, 0},
		{"explained", []Op{had, freed, of(Acquire, "b", Yes, 0.2, 2.7)}, []Span{{at(1), at(2)}}, 0},
		{"explained, but not so long", []Op{had, freed, of(Acquire, "b", Yes, 0.2, 4.7)}, []Span{{at(1), at(2)}}, 1},
	} {
		got, _ := Asleep(c.history, 1500*time.Millisecond, func(Op) []Span { return c.excuses })
		if len(got) != c.asleep {
			t.Errorf("%s: %v", c.why, got)
		}
	}
	excused := func(Op) []Span { return []Span{{at(1), at(2)}} }
	if _, watched := Asleep([]Op{had, freed, of(Acquire, "b", No, 0.5, 4)}, time.Second, excused); watched != 2600*time.Millisecond {
		t.Errorf("watched for %v", watched)
	}
}

func TestSpansAreCutOut(t *testing.T) {
	whole := Span{at(1), at(9)}
	for _, c := range []struct{ cut, want []Span }{
		{nil, []Span{whole}},
		{[]Span{{at(3), at(4)}}, []Span{{at(1), at(3)}, {at(4), at(9)}}},
		{[]Span{{at(5), at(6)}, {at(2), at(4)}, {at(3), at(3.5)}}, []Span{{at(1), at(2)}, {at(4), at(5)}, {at(6), at(9)}}},
		{[]Span{{at(0), at(1)}, {at(9), at(10)}}, []Span{whole}},
		{[]Span{{at(0), at(2)}, {at(8), at(10)}}, []Span{{at(2), at(8)}}},
		{[]Span{{at(0), at(10)}}, nil},
		{[]Span{{at(20), at(30)}, {at(-5), at(-1)}}, []Span{whole}},
	} {
		if got := whole.Without(c.cut); !slices.Equal(got, c.want) {
			t.Errorf("without %v: %v, want %v", c.cut, got, c.want)
		}
	}
}
