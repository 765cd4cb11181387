package proxy

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"redlock-proxy/quorum"
)

// notYet is no time since something.
const notYet = time.Duration(-1)

// decide has so many requests in a row take so long.
func (w *window) decide(n int, now, took time.Duration, inFlight int) {
	for range n {
		w.decided(now, took, inFlight)
	}
}

func TestWindowGrowsAsLongAsRequestsAreQuick(t *testing.T) {
	const ms = time.Millisecond
	for _, test := range []struct {
		name  string
		least time.Duration
		took  time.Duration
		part  int // of the window that is used
		grows int // -1: it becomes smaller
	}{
		{"as one", ms, ms, 1, 1},
		{"hardly longer", ms, 2 * ms, 1, 1},
		{"longer", ms, 2100 * time.Microsecond, 1, -1},
		{"far masters, whose ways differ", 40 * ms, 50 * ms, 1, 1},
		{"far masters, behind others", 40 * ms, 52 * ms, 1, -1},
		{"half of it used", ms, ms, 2, 1},
		{"little of it used", ms, ms, 3, 0},
	} {
		w := window{size: 256}
		w.decided(0, test.least, 1)
		w.decide(64, 0, test.took, 256/test.part)
		if got := min(max(w.size-256, -1), 1); got != test.grows {
			t.Errorf("%s: the window of 256 is one of %d", test.name, w.size)
		}
	}
}

// TestWindowBecomesSmallerOnceForWhatIsOnItsWay, and never too small for usual clients.
func TestWindowBecomesSmallerOnceForWhatIsOnItsWay(t *testing.T) {
	w := window{size: 256}
	w.decided(0, time.Millisecond, 1)
	w.decide(192, 0, time.Second, 256)
	if w.size != 192 {
		t.Errorf("a window of 256 is one of %d after as many slow decisions as it holds then", w.size)
	}
	w.decide(1, 0, time.Second, 256)
	if w.size != 144 {
		t.Errorf("and one of %d after the next", w.size)
	}
	w.decide(10_000, 0, time.Second, 256)
	if w.size != leastWindow {
		t.Errorf("the least window is one of %d", w.size)
	}
}

// TestWindowFindsOutAnewHowLongOneTakes: masters may be further away than they were.
func TestWindowFindsOutAnewHowLongOneTakes(t *testing.T) {
	w := window{size: 256}
	w.decided(0, time.Millisecond, 1)
	for period := range 3 {
		w.decide(5000, time.Duration(period)*windowPeriod, 50*time.Millisecond, w.size)
	}
	if w.size <= leastWindow {
		t.Errorf("a window of %d, where each request takes as long as one", w.size)
	}
}

// TestWhoSendsManyHasFewOnTheirWayWhileOthersWait, and as many as before when nobody does: who
// waits for each of his requests tells, and nobody who waits for his own.
func TestWhoSendsManyHasFewOnTheirWayWhileOthersWait(t *testing.T) {
	const ms = time.Millisecond
	for _, test := range []struct {
		name       string
		took       time.Duration // by a request, where one takes a millisecond
		manyBefore time.Duration // that he had many on their way
		inFlight   int           // with this one
		squeezes   bool
	}{
		{"as long as one", ms, notYet, 1, false},
		{"hardly longer", 2700 * time.Microsecond, notYet, 1, false},
		{"longer", 2800 * time.Microsecond, notYet, 1, true},
		{"longer, of a few", 2800 * time.Microsecond, notYet, narrowWindow / 2, true},
		{"longer, of many", 2800 * time.Microsecond, notYet, narrowWindow/2 + 1, false},
		{"longer, the last of many", 2800 * time.Microsecond, windowPeriod, 1, false},
		{"longer, after many", 2800 * time.Microsecond, windowPeriod + 1, 1, true},
	} {
		var s squeeze
		w, large := window{size: 256}, window{size: 64}
		now := time.Hour
		w.decided(now, ms, 1)
		if test.manyBefore != notYet {
			s.waited(&w, now-test.manyBefore, ms, 100)
		}
		s.waited(&w, now, test.took, test.inFlight)
		if got := s.room(&large, now) == narrowWindow; got != test.squeezes {
			t.Errorf("%s: others are squeezed %v", test.name, got)
		}
		if got := s.room(&large, now+squeezed); got != 64 {
			t.Errorf("%s: when nobody has waited for a while, there is room for %d", test.name, got)
		}
	}
}

// TestWhoSendsManyToFarMastersHasAsManyMoreOnTheirWay: each takes as long, whoever waits.
func TestWhoSendsManyToFarMastersHasAsManyMoreOnTheirWay(t *testing.T) {
	const ms = time.Millisecond
	var s squeeze
	s.until.Store(int64(time.Hour))
	for least, want := range map[time.Duration]int{ms / 10: narrowWindow, ms: 25, 4 * ms: 100, 10 * ms: 200} {
		w := window{size: 200}
		w.decided(0, least, 1)
		if got := s.room(&w, 0); got != want {
			t.Errorf("of masters %v away: %d", least, got)
		}
	}
}

// TestWhatTakesLongByItselfTellsNothingOfOthers: nobody is held up for it.
func TestWhatTakesLongByItselfTellsNothingOfOthers(t *testing.T) {
	voted := []quorum.Result{{Votes: quorum.Votes(quorum.Granted)}}
	asksFor := func(k quorum.Kind) []ask { return []ask{{request: &quorum.Request{Kind: k}}} }
	for name, c := range map[string]struct {
		s     *slot
		tells bool
	}{
		"an acquire":            {&slot{weight: 1, asks: asksFor(quorum.Acquire), results: voted}, true},
		"a read":                {&slot{weight: 1, asks: asksFor(quorum.Read), results: voted}, true},
		"several":               {&slot{weight: 5, asks: asksFor(quorum.Read), results: voted}, false},
		"what goes on":          {&slot{weight: 1, holds: holds{ordered: true}, asks: asksFor(quorum.Read), results: voted}, false},
		"a long value":          {&slot{weight: 1, size: mostTelling + 1, asks: asksFor(quorum.Write), results: voted}, false},
		"a script":              {&slot{weight: 1, asks: asksFor(quorum.Run), results: voted}, false},
		"what is about all":     {&slot{weight: 1, asks: asksFor(quorum.Survey), results: voted}, false},
		"who waited for others": {&slot{weight: 1, asks: asksFor(quorum.Acquire), results: []quorum.Result{{}}}, false},
	} {
		if got := c.s.tells(time.Second) > 0; got != c.tells {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// TestWhoAsksForManyKeysAtOnceIsOneWhoWaits: he has nothing else on its way.
func TestWhoAsksForManyKeysAtOnceIsOneWhoWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, Config{})
		r.engine.auto = answering(quorum.Result{Decision: quorum.Won, Votes: quorum.Votes(quorum.Granted)})
		c := r.dial()
		c.send("MGET a b c d e f g h i j\r\n")
		synctest.Wait()
		if conn := r.server.conn(1); conn.window.many != 0 {
			t.Error("he is taken for one who sends many")
		}
		r.end()
	})
}

// TestWindowIsWhatComesToAMillisecond, or somewhat more, over masters that carry out so
// many requests in one, wherever it begins, and stays so.
func TestWindowIsWhatComesToAMillisecond(t *testing.T) {
	for _, perMillisecond := range []int{50, 100, 400} {
		for _, begins := range []int{leastWindow, firstWindow, DefaultMaxInFlight} {
			w := window{size: begins}
			now := time.Duration(0)
			for range 200_000 {
				// Half of what is on its way goes together, as in batches.
				took := 200*time.Microsecond + time.Duration(w.size)*time.Millisecond/time.Duration(perMillisecond)
				w.decided(now, took/2, w.size)
				w.decided(now, took, w.size)
				now += 2 * time.Millisecond / time.Duration(perMillisecond)
			}
			if w.size < perMillisecond/2 || w.size > 3*perMillisecond {
				t.Errorf("from %d on, with %d a millisecond: %d", begins, perMillisecond, w.size)
			}
		}
	}
}

// TestClientThatSendsWithoutPauseHasFewOnTheirWay, and more when those are decided: not
// one by one, but when half of them are.
func TestClientThatSendsWithoutPauseHasFewOnTheirWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, Config{})
		c, other := r.dial(), r.dial()
		var commands strings.Builder
		for i := range 2 * firstWindow {
			fmt.Fprintf(&commands, "write k%d\r\n", i)
		}
		c.send(commands.String())
		synctest.Wait()
		if got := len(strings.Fields(r.engine.keys())); got != firstWindow {
			t.Fatalf("%d requests are put, want %d", got, firstWindow)
		}
		other.send("write other\r\n")
		synctest.Wait()
		r.engine.answer(t, "other", won)
		other.expect("$5\r\nother\r\n")
		for i := range firstWindow {
			if got := len(strings.Fields(r.engine.keys())) - 1; got > firstWindow && i < firstWindow/2 {
				t.Fatalf("%d requests are put when %d are decided", got, i)
			}
			key := fmt.Sprintf("k%d", i)
			r.engine.answer(t, key, won)
			c.expect(fmt.Sprintf("$%d\r\n%s\r\n", len(key), key))
			synctest.Wait()
		}
		if got := len(strings.Fields(r.engine.keys())) - 1; got < firstWindow+firstWindow/2 {
			t.Errorf("%d requests are put when %d are decided", got, firstWindow)
		}
		for i := firstWindow; i < 2*firstWindow; i++ {
			synctest.Wait()
			key := fmt.Sprintf("k%d", i)
			r.engine.answer(t, key, won)
			c.expect(fmt.Sprintf("$%d\r\n%s\r\n", len(key), key))
		}
		r.end()
	})
}

// TestCommandThatIsLargerThanTheWindowGoesAlone, when nothing is on its way.
func TestCommandThatIsLargerThanTheWindowGoesAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, Config{})
		c := r.dial()
		many := "many"
		for i := range 2 * firstWindow {
			many += fmt.Sprintf(" k%d", i)
		}
		c.send("write a\r\n" + many + "\r\n")
		synctest.Wait()
		if got := r.engine.keys(); got != "write:a" {
			t.Fatalf("put: %s", got)
		}
		r.engine.answer(t, "a", won)
		c.expect("$1\r\na\r\n")
		for i := range 2 * firstWindow {
			synctest.Wait()
			r.engine.answer(t, fmt.Sprintf("k%d", i), won)
		}
		c.expect(fmt.Sprintf(":%d\r\n", 2*firstWindow))
		r.end()
	})
}
