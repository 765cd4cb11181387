package lease

import (
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
)

// ms makes the instants of the histories below easy to read.
func ms(n int) Instant { return Instant(time.Duration(n) * time.Millisecond) }

// op is a question about the key k whose ttl is 100 ms.
func op(token string, kind Kind, outcome Outcome, call, ret int) Op {
	return Op{Client: int(token[0]), Key: "k", Token: token, Kind: kind, Outcome: outcome,
		TTL: 100 * time.Millisecond, Call: ms(call), Return: ms(ret)}
}

// shorter is an op whose ttl is 10 ms.
func shorter(o Op) Op {
	o.TTL = 10 * time.Millisecond
	return o
}

// The histories that a lock may give.
var allowed = map[string][]Op{
	"one after the other's release": {
		op("a", Acquire, Yes, 0, 10), op("a", Release, Yes, 20, 30), op("b", Acquire, Yes, 30, 40),
	},
	"granted while the release is on its way": {
		op("a", Acquire, Yes, 0, 10), op("a", Release, Yes, 20, 50), op("b", Acquire, Yes, 21, 30),
	},
	"granted while the release is on its way, by acquires that began before": {
		op("a", Acquire, Yes, 0, 10), op("b", Acquire, Yes, 5, 30), op("a", Release, Yes, 29, 50),
	},
	"one after the other's end": {
		op("a", Acquire, Yes, 0, 10), op("b", Acquire, Yes, 90, 100),
	},
	"the lock outlives its validity": {
		op("a", Acquire, Yes, 0, 10), op("a", Extend, Yes, 150, 160), op("b", Acquire, No, 161, 170),
		op("b", Acquire, Yes, 171, 255),
	},
	"a refusal of a free lock": {
		op("a", Acquire, No, 0, 10), op("b", Acquire, No, 20, 30),
	},
	"an unknown acquire that nobody relies on": {
		op("a", Acquire, Unknown, 0, 10), op("b", Acquire, Yes, 5, 20), op("a", Release, Yes, 30, 40),
	},
	"an unknown release that happened": {
		op("a", Acquire, Yes, 0, 10), op("a", Release, Unknown, 20, 80), op("b", Acquire, Yes, 25, 30),
	},
	"an unknown release that did not happen": {
		op("a", Acquire, Yes, 0, 10), op("a", Release, Unknown, 20, 30), op("b", Acquire, No, 35, 40),
		op("b", Acquire, Yes, 95, 110),
	},
	"an unknown extension that did not happen": {
		op("a", Acquire, Yes, 0, 10), op("a", Extend, Unknown, 50, 60), op("b", Acquire, Yes, 95, 101),
	},
	"an unknown extension to a shorter life": {
		op("a", Acquire, Yes, 0, 10), shorter(op("a", Extend, Unknown, 20, 30)), op("b", Acquire, Yes, 40, 45),
	},
	"an extension that is forgotten is a loss and no second holder": {
		op("a", Acquire, Yes, 0, 10), op("a", Extend, No, 50, 60), op("b", Acquire, Yes, 61, 70),
	},
	"two acquires at once, of which one was refused": {
		op("a", Acquire, Yes, 0, 20), op("b", Acquire, No, 0, 20),
	},
	"two acquires at once, of which one released at once": {
		op("a", Acquire, Yes, 0, 20), op("a", Release, Yes, 21, 22), op("b", Acquire, Yes, 0, 25),
	},
	"two keys": {
		op("a", Acquire, Yes, 0, 20),
		{Client: 2, Key: "other", Token: "b", Kind: Acquire, Outcome: Yes, TTL: time.Second, Call: ms(5), Return: ms(6)},
	},
}

// The histories that no lock may give, and how many doubles there are to see
// without Porcupine.
var forbidden = map[string]struct {
	history []Op
	doubles int
}{
	"a second holder inside the first's validity": {[]Op{
		op("a", Acquire, Yes, 0, 10), op("b", Acquire, Yes, 20, 30),
	}, 1},
	"two acquires at once, both granted": {[]Op{
		op("a", Acquire, Yes, 0, 10), op("b", Acquire, Yes, 0, 10),
	}, 1},
	"a millisecond too early": {[]Op{
		op("a", Acquire, Yes, 0, 10), op("b", Acquire, Yes, 90, 99),
	}, 1},
	"inside an extension": {[]Op{
		op("a", Acquire, Yes, 0, 10), op("a", Extend, Yes, 80, 90), op("b", Acquire, Yes, 110, 120),
	}, 1},
	"inside an extension, after one that is unknown": {[]Op{
		op("a", Acquire, Yes, 0, 10), op("a", Extend, Unknown, 20, 30), op("a", Extend, Yes, 80, 90), op("b", Acquire, Yes, 110, 120),
	}, 1},
	"before a no is heard": {[]Op{
		op("a", Acquire, Yes, 0, 10), op("b", Acquire, Yes, 20, 30), op("a", Extend, No, 40, 50),
	}, 1},
	"before a release is sent": {[]Op{
		op("a", Acquire, Yes, 0, 10), op("b", Acquire, Yes, 20, 30), op("a", Release, Unknown, 40, 50),
	}, 1},
	"three holders": {[]Op{
		op("a", Acquire, Yes, 0, 10), op("b", Acquire, Yes, 20, 30), op("c", Acquire, Yes, 40, 50),
	}, 2},
	"an extension of a lock that another had since": {[]Op{
		op("a", Acquire, Yes, 0, 10), op("b", Acquire, Yes, 110, 120), op("b", Release, Yes, 130, 140), op("a", Extend, Yes, 150, 160),
	}, 0},
	"a token that is read although another had the lock since": {[]Op{
		op("a", Acquire, Yes, 0, 10), op("b", Acquire, Yes, 110, 120), op("a", Read, Yes, 150, 160),
	}, 0},
	"a second holder although an acquire is unknown": {[]Op{
		op("c", Acquire, Unknown, 0, 200), op("a", Acquire, Yes, 0, 10), op("b", Acquire, Yes, 20, 30),
	}, 1},
}

func TestAllowedHistoriesPass(t *testing.T) {
	for name, history := range allowed {
		if v := Check(history, time.Minute); v.Result != porcupine.Ok {
			t.Errorf("%s: %v", name, v.Result)
		}
		if d := Doubles(history); len(d) > 0 {
			t.Errorf("%s: %v", name, d)
		}
	}
}

func TestForbiddenHistoriesFail(t *testing.T) {
	for name, c := range forbidden {
		if v := Check(c.history, time.Minute); v.Result != porcupine.Illegal {
			t.Errorf("%s: %v", name, v.Result)
		}
		if d := Doubles(c.history); len(d) != c.doubles {
			t.Errorf("%s: %d doubles, want %d: %v", name, len(d), c.doubles, d)
		}
	}
}

func TestLostLocksAreCounted(t *testing.T) {
	for name, c := range map[string]struct {
		history []Op
		lost    int
	}{
		"told no in time":           {[]Op{op("a", Acquire, Yes, 0, 10), op("a", Extend, No, 50, 60)}, 1},
		"told no by a read":         {[]Op{op("a", Acquire, Yes, 0, 10), op("a", Read, No, 50, 60)}, 1},
		"told no by the release":    {[]Op{op("a", Acquire, Yes, 0, 10), op("a", Release, No, 50, 60)}, 1},
		"told no after the end":     {[]Op{op("a", Acquire, Yes, 0, 10), op("a", Extend, No, 90, 110)}, 0},
		"told no in the extension":  {[]Op{op("a", Acquire, Yes, 0, 10), op("a", Extend, Yes, 80, 90), op("a", Read, No, 110, 120)}, 1},
		"told nothing":              {[]Op{op("a", Acquire, Yes, 0, 10), op("a", Extend, Unknown, 50, 60)}, 0},
		"told no twice":             {[]Op{op("a", Acquire, Yes, 0, 10), op("a", Read, No, 50, 60), op("a", Release, No, 61, 62)}, 1},
		"never had":                 {[]Op{op("a", Acquire, Unknown, 0, 10), op("a", Release, No, 50, 60)}, 0},
		"released, and then it was": {[]Op{op("a", Acquire, Yes, 0, 10), op("a", Release, Unknown, 20, 30), op("a", Release, No, 40, 50)}, 0},
	} {
		if lost := Lost(c.history); len(lost) != c.lost {
			t.Errorf("%s: lost %v, want %d", name, lost, c.lost)
		}
	}
}

func TestLostUpdatesAreFound(t *testing.T) {
	update := func(token string, found, wrote uint64, begin, end, until int) Update {
		return Update{Key: "k", Token: token, Found: found, Wrote: wrote, Begin: ms(begin), End: ms(end), Until: ms(until)}
	}
	for name, c := range map[string]struct {
		updates       []Update
		clashes, late int
	}{
		"in turns":         {[]Update{update("a", 0, 1, 0, 10, 100), update("b", 1, 2, 20, 30, 100)}, 0, 0},
		"at once":          {[]Update{update("a", 0, 1, 0, 10, 100), update("b", 0, 2, 5, 20, 100)}, 1, 0},
		"one of them late": {[]Update{update("a", 0, 1, 0, 110, 100), update("b", 0, 2, 105, 120, 200)}, 0, 1},
		"over a late one":  {[]Update{update("a", 0, 1, 0, 110, 100), update("b", 0, 2, 105, 108, 200), update("c", 1, 3, 112, 113, 210)}, 0, 1},
	} {
		if got := Clashes(c.updates); len(got) != c.clashes {
			t.Errorf("%s: %v, want %d", name, got, c.clashes)
		}
		if got := Late(c.updates); got != c.late {
			t.Errorf("%s: %d late, want %d", name, got, c.late)
		}
	}
}

func TestServiceIsMeasuredToBothEnds(t *testing.T) {
	probes := []Op{
		op("a", Acquire, Yes, 10, 20), op("b", Acquire, Yes, 30, 35), op("c", Acquire, Unknown, 40, 300),
		op("d", Acquire, Yes, 310, 340), op("early", Acquire, Yes, -20, -10), op("late", Acquire, Yes, 980, 1010),
	}
	for _, c := range []struct {
		to      int
		longest time.Duration
		had     int
	}{
		{400, 305 * time.Millisecond, 3},
		{1000, 660 * time.Millisecond, 3},
		{30, 20 * time.Millisecond, 1},
	} {
		s := Served(probes, 0, ms(c.to))
		if s.Longest != c.longest || s.Had != c.had {
			t.Errorf("to %d ms: %+v, want %v and %d", c.to, s, c.longest, c.had)
		}
	}
	if s := Served(nil, 0, ms(500)); s.Longest != 500*time.Millisecond {
		t.Errorf("without any grant: %+v", s)
	}
}
