package commands

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"redlock-proxy/quorum"
)

var seedFlag = flag.Uint64("seed", 0, "seed of the random tests; 0 takes a new one for each run")

// seeded is a source of randomness whose seed is printed if the test fails.
func seeded(t *testing.T) *rand.Rand {
	seed := *seedFlag
	if seed == 0 {
		seed = rand.Uint64()
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("repeat with: go test ./commands -run '^%s$' -seed %d", t.Name(), seed)
		}
	})
	return rand.New(rand.NewPCG(seed, 0))
}

func TestScanListsEachKeyOfAQuorumOnce(t *testing.T) {
	r := seeded(t)
	for _, n := range []int{1, 2, 3, 4, 5, 7, 15} {
		for _, count := range []int{1, 3, 10, 1000} {
			s := newShelves(n)
			want := make(map[string]int)
			for i := range 100 {
				key := fmt.Sprint("k", i)
				holders := r.Perm(n)[:r.IntN(n+1)]
				for _, m := range holders {
					s.masters[m].keys[key] = true
				}
				if len(holders) > n/2 {
					want[key] = 1
				}
			}
			got := s.scanAll(t, []*Dialect{NewDialect(Options{})}, count, func() { t.Fatal("no quorum") })
			for i := range 100 {
				key := fmt.Sprint("k", i)
				if got[key] != want[key] {
					t.Errorf("%d masters, COUNT %d: %s is listed %d times, want %d", n, count, key, got[key], want[key])
				}
			}
		}
	}
}

// One key of which nobody knows whether a quorum holds it keeps nobody from all others,
// and is listed: it may be a lock.
func TestScanListsWhatAQuorumMayHold(t *testing.T) {
	s := newShelves(3)
	s.masters[0].keys["k"], s.masters[1].keys["k"] = true, true
	s.masters[0].keys["perhaps"] = true
	s.masters[2].up = false
	d := NewDialect(Options{Users: everybodyOperates})
	got := s.scanAll(t, []*Dialect{d}, 10, func() { t.Fatal("no quorum") })
	if got["k"] != 1 || got["perhaps"] != 1 {
		t.Errorf("listed %v", got)
	}
	if reply := s.carryOut(d.Session(1).Do([]string{"KEYS", "*"})); len(reply.Elems) != 2 {
		t.Errorf("KEYS: %+v", reply)
	}
	if reply := s.carryOut(d.Session(1).Do([]string{"SCAN", "0", "TYPE", "hash"})); len(reply.Elems) != 2 || len(reply.Elems[1].Elems) != 0 {
		t.Errorf("SCAN TYPE hash: %+v", reply)
	}
	s.masters[2].up = true
	if got := s.scanAll(t, []*Dialect{d}, 10, func() { t.Fatal("no quorum") }); got["perhaps"] != 0 {
		t.Errorf("listed %v", got)
	}
}

// noteMost notes of each key how many masters may hold it at this moment, if that was never more.
func (s *shelves) noteMost(ever map[string]int) {
	for key := range ever {
		may := 0
		for _, m := range s.masters {
			if m.keys[key] || !m.up {
				may++
			}
		}
		ever[key] = max(ever[key], may)
	}
}

// Masters go away, come back, are started anew with or without what they held, and
// are given keys again. What one and the same quorum holds all the time is listed,
// what no quorum may hold at any time is not.
func TestScanStaysTrueWhileMastersComeAndGo(t *testing.T) {
	r := seeded(t)
	for round := range 400 {
		n := []int{1, 2, 3, 3, 4, 5, 7}[r.IntN(7)]
		s := newShelves(n)
		const keys = 40
		all := make(map[string][]bool) // masters that have held it without a break
		ever := make(map[string]int)   // most masters that have held it at once, or were away
		for i := range keys {
			key := fmt.Sprint("k", i)
			all[key], ever[key] = make([]bool, n), 0
			for _, m := range r.Perm(n)[:r.IntN(n+1)] {
				s.masters[m].keys[key], all[key][m] = true, true
				ever[key]++
			}
		}
		s.between = func() {
			m := r.IntN(n)
			master := s.masters[m]
			switch r.IntN(12) {
			case 0, 1:
				master.up = !master.up
			case 2:
				master.restart()
			case 3:
				master.restart()
				clear(master.keys)
				for key := range all {
					all[key][m] = false
				}
			case 4:
				key := fmt.Sprint("k", r.IntN(keys))
				master.keys[key] = true
			}
			s.noteMost(ever)
		}
		proxies := []*Dialect{NewDialect(Options{}), NewDialect(Options{})}[:1+r.IntN(2)]
		got := s.scanAll(t, proxies, 1+r.IntN(12), func() {
			for _, m := range s.masters {
				m.up = true
			}
		})
		for key, holds := range all {
			holding := 0
			for _, yes := range holds {
				if yes {
					holding++
				}
			}
			switch {
			case holding > n/2 && got[key] == 0:
				t.Errorf("round %d, %d masters: %s was there all the time and is not listed", round, n, key)
			case ever[key] <= n/2 && got[key] > 0:
				t.Errorf("round %d, %d masters: %s is listed, and %d may have held it at most", round, n, key, ever[key])
			}
		}
	}
}

// A client that asks again because it got no answer is told again.
func TestScanTellsAgainWhatWasAskedAgain(t *testing.T) {
	s := newShelves(3)
	for i := range 30 {
		for _, m := range s.masters {
			m.keys[fmt.Sprint("k", i)] = true
		}
	}
	d := NewDialect(Options{})
	scan := func(cursor string) (next string, keys []Reply) {
		reply := s.carryOut(d.Session(1).Do([]string{"SCAN", cursor}))
		return reply.Elems[0].Str, reply.Elems[1].Elems
	}
	cursor, _ := scan("0")
	_, once := scan(cursor)
	next, again := scan(cursor)
	if len(once) != 10 || len(again) != 10 {
		t.Errorf("%d keys, and %d when asked again", len(once), len(again))
	}
	// What failed was not listed, and what was listed before is still known.
	for _, m := range s.masters {
		m.up = false
	}
	reply := s.carryOut(d.Session(1).Do([]string{"SCAN", next}))
	if reply.Str != "NOQUORUM 0 of 3 masters gave an answer, 2 are needed" {
		t.Errorf("%+v", reply)
	}
	for _, m := range s.masters {
		m.up = true
	}
	total := len(again)
	for next != "0" {
		var keys []Reply
		next, keys = scan(next)
		total += len(keys)
	}
	// The scan that was asked again did not know of the first page.
	if total != 30 {
		t.Errorf("%d keys in all", total)
	}
}

// The masters name all keys where a pattern would cost them much, and those that match are
// listed. With much to match, nobody waits for it.
func TestProxyMatchesWhatMastersAreNotAskedTo(t *testing.T) {
	s := newShelves(3)
	long := strings.Repeat("a", 1000) + "b"
	for _, m := range s.masters {
		for _, name := range []string{"lock:a", "lock:b", "other:b", long} {
			m.keys[name] = true
		}
	}
	d := NewDialect(Options{})
	for pattern, want := range map[string][]string{
		"*:b": {"lock:b", "other:b"}, "l*:*a": {"lock:a"}, "*a*a*a*a*b": {long}, "x*y": nil,
	} {
		reply := s.carryOut(d.Session(1).Do([]string{"SCAN", "0", "COUNT", "100", "MATCH", pattern}))
		var got []string
		for _, key := range reply.Elems[1].Elems {
			got = append(got, key.Str)
		}
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("%q lists %.100q, want %.100q", pattern, got, want)
		}
	}
	for pattern, want := range map[string]bool{"*b": false, "a*": false, "*" + strings.Repeat("a", 100): true} {
		a := d.Session(1).Do([]string{"SCAN", "0", "COUNT", "100", "MATCH", pattern})
		if slow, ok := a.Render.(SlowRender); !ok || slow.Slow([]quorum.Result{s.put(a.Requests[0])}) != want {
			t.Errorf("%.20q: slow is not %t", pattern, want)
		}
	}
}

// Whoever has not seen a page comes with its cursor again.
func TestPageThatIsForgoneIsAskedForAgain(t *testing.T) {
	s := newShelves(3)
	for _, m := range s.masters {
		for i := range 10 {
			m.keys[fmt.Sprint("k", i)] = true
		}
	}
	d := NewDialect(Options{})
	cursor := s.carryOut(d.Session(1).Do([]string{"SCAN", "0", "COUNT", "2"})).Elems[0].Str
	listed := d.scans.memory()
	if a := d.Session(2).Do([]string{"SCAN", cursor, "MATCH", "*1"}); d.scans.memory() != 0 || listed == 0 {
		t.Errorf("%d bytes were remembered, and %d are while the scan goes on", listed, d.scans.memory())
	} else {
		a.Render.(SlowRender).Forgo()
	}
	if again := d.scans.memory(); again != listed {
		t.Errorf("%d bytes are remembered, want %d again", again, listed)
	}
}

func TestRandomKeyIsOneOfAQuorum(t *testing.T) {
	for _, c := range []struct {
		named [3]string // by each master, "" is nil
		held  string    // by the first two
		want  Reply
	}{
		{[3]string{"a", "b", "a"}, "a", Bulk("a")},
		{[3]string{"b", "a", "c"}, "a", Bulk("a")},
		{[3]string{"b", "b", "b"}, "a", Bulk("a")},
		{[3]string{"redlock-proxy:{x}", "redlock-proxy:{x}", "redlock-proxy:{x}"}, "a", Bulk("a")},
		{[3]string{"b", "", "redlock-proxy:{x}"}, "", Null},
		{[3]string{"", "", ""}, "", Null},
	} {
		s := newShelves(3)
		result := quorum.Result{Decision: quorum.Won, Masters: 3, Needed: 2}
		for i, name := range c.named {
			a := quorum.SurveyAnswer{Given: true, Reply: bulkOf(name)}
			if name == "" {
				a.Reply = quorum.ScriptReply{Reply: quorum.Reply{Kind: quorum.NilReply}}
			} else {
				s.masters[i].keys[name] = s.masters[i].keys[name] || name != c.held
			}
			result.Answers = append(result.Answers, a)
		}
		for name := range s.masters[1].keys {
			if name != c.held {
				delete(s.masters[1].keys, name) // so that no quorum holds it
				delete(s.masters[2].keys, name)
			}
		}
		if c.held != "" {
			s.masters[0].keys[c.held], s.masters[1].keys[c.held] = true, true
		}
		a := NewDialect(Options{}).Session(1).Do([]string{"RANDOMKEY"})
		reply, next := a.Render.Render([]quorum.Result{result})
		if reply.Kind == 0 {
			reply = s.carryOut(next)
		}
		if reply.Kind != c.want.Kind || reply.Str != c.want.Str {
			t.Errorf("%q, held %q: %+v", c.named, c.held, reply)
		}
	}
}
