package decide

import (
	"crypto/sha1"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"redlock-proxy/quorum"
)

// traveller is a key on one master: what it is, and by which steps it came to be that.
type traveller struct {
	value string
	trail string
	steps []string
}

// acts has a step of that name change the key: put its name at the end, or take off the first, if there is one.
func (m *traveller) acts(step string, pops bool) (did bool) {
	was := *m
	if pops && m.value == "" {
		return false
	}
	m.steps = append(slices.Clone(m.steps), step)
	if _, rest, _ := strings.Cut(m.value, " "); pops {
		m.value = rest
	} else {
		m.value += step + " "
	}
	record := UndoRecord{Before: was.dump(), After: m.dump(), Trail: was.trail}
	m.trail = record.TrailAfter(step)
	return true
}

// dump ends with a checksum, as a master's does.
func (m *traveller) dump() string {
	if m.value == "" {
		return ""
	}
	sum := sha1.Sum([]byte(m.value))
	return m.value + string(sum[:8])
}

// told is what those masters tell of the key to a step that latches it.
func told(all []traveller, silent []int) (*Question, Votes) {
	q := &Question{Request: quorum.Request{Kind: quorum.Run, Script: quorum.NewStep("return 0"), Key: "k", Keys: []string{"k"}}, Said: make([]Said, len(all))}
	var v Votes
	for i, m := range all {
		if slices.Contains(silent, i) {
			v = v.Voted(i, quorum.Withheld, false)
			continue
		}
		v = v.Voted(i, quorum.Refused, false)
		q.Said[i].Journal = &Journal{Latched: true, Undo: []UndoRecord{{Key: "k", Before: m.dump(), After: m.dump(), Trail: m.trail}}}
	}
	return q, v
}

// looks has masters hold what a step that does nothing finds: what as many hold as are a quorum, or have reached. Some do not
// answer, or not hear of it.
func looks(all []traveller, r *rand.Rand) {
	q, v := told(all, r.Perm(len(all))[:r.IntN(len(all)-quorum.QuorumOf(len(all))+1)])
	record := q.Reached(v, "k")
	if held := q.FoundAlike(v, "k"); held != nil {
		held = slices.DeleteFunc(held, func(record *UndoRecord) bool { return record == nil })
		record = held[r.IntN(len(held))]
	}
	if record == nil {
		return
	}
	from := all[slices.IndexFunc(all, func(m traveller) bool { return m.dump() == record.Before && m.trail == record.Trail })]
	for i := range all {
		if r.IntN(4) > 0 && q.Said[i].Journal != nil && all[i].dump() != record.Before {
			all[i] = from
		}
	}
}

// Whatever masters have missed, and whatever is left on some of what was lost: what was won is in what a quorum is said to have
// reached, though as many as are no quorum are away, or have forgotten it.
func TestWhatWasWonIsInWhatAQuorumHasReached(t *testing.T) {
	for n := 3; n <= 6; n++ {
		most, line := quorum.QuorumOf(n), 0
		for seed := range uint64(8_000) {
			r := rand.New(rand.NewPCG(seed, uint64(n)))
			all := make([]traveller, n)
			won := ""
			for s := range 12 {
				step := fmt.Sprintf("%016x:%d", seed, s)
				pops, was, made := r.IntN(2) == 0, slices.Clone(all), map[string][]int{}
				for i := range all {
					if r.IntN(5) > 0 && all[i].acts(step, pops) {
						made[all[i].value] = append(made[all[i].value], i)
					}
				}
				var winners []int
				for _, same := range made {
					if len(same) >= most {
						winners = same
					}
				}
				for i := range all {
					switch {
					case slices.Contains(winners, i), all[i].trail == was[i].trail: // and so it stays
					case len(winners) == 0 || r.IntN(2) == 0: // what is lost is taken back
						if r.IntN(4) > 0 {
							all[i] = was[i]
						}
					default: // what is known to be behind is brought up
						all[i] = all[winners[0]]
					}
				}
				if len(winners) > 0 {
					won = step
				}
				if r.IntN(3) == 0 {
					looks(all, r)
				}
			}
			silent := r.Perm(n)[:r.IntN(n-most+1)]
			q, v := told(all, silent)
			record := q.Reached(v, "k")
			if record == nil || q.FoundAlike(v, "k") != nil {
				continue
			}
			line++
			has := slices.IndexFunc(all, func(m traveller) bool { return m.dump() == record.Before && m.trail == record.Trail })
			if won != "" && !slices.Contains(all[has].steps, won) {
				t.Fatalf("%d masters, seed %d: %v away; %+v\nreached is %q, without %s", n, seed, silent, all, record.Before, won)
			}
		}
		if line < 200 {
			t.Errorf("of %d masters, so few histories stand in a line: %d", n, line)
		}
	}
}

// Masters stand in a line by what they have made of the key, not by what they hold: a list that is what it was is not older.
func TestReachedIsWhereTheLastStepHasLed(t *testing.T) {
	var behind, ahead traveller
	behind.acts("a:1", false)
	ahead = behind
	ahead.acts("b:1", true)
	ahead.acts("b:2", false)
	again := ahead
	again.acts("b:3", true)
	again.value = ahead.value[:0] + behind.value // as b:3 has left it
	long := behind
	for i := range trailBytes/markBytes + 1 {
		long.acts(fmt.Sprint("c:", i), false)
	}
	aside := behind
	aside.acts("d:1", false)
	without := ahead
	without.trail = ""
	for name, c := range map[string]struct {
		all    []traveller
		silent []int
		want   traveller
		none   bool
	}{
		"who is ahead":                     {[]traveller{behind, ahead, {}}, []int{2}, ahead, false},
		"whoever is asked first":           {[]traveller{{}, ahead, behind}, []int{0}, ahead, false},
		"what so many have who can be all": {[]traveller{behind, ahead, again}, nil, ahead, false},
		"of two, what both have":           {[]traveller{behind, ahead}, nil, behind, false},
		"of four, what both have":          {[]traveller{behind, ahead, ahead, {}}, []int{3}, ahead, false},
		"one alone":                        {[]traveller{behind, ahead, {}}, []int{0, 2}, traveller{}, true},
		"too far behind":                   {[]traveller{behind, long, {}}, []int{2}, traveller{}, true},
		"who has gone another way":         {[]traveller{aside, ahead, {}}, []int{2}, traveller{}, true},
		"who does not tell of it":          {[]traveller{behind, without, {}}, []int{2}, traveller{}, true},
		"one of whom it was changed":       {[]traveller{{value: "x ", trail: ahead.trail}, ahead, {}}, []int{2}, traveller{}, true},
	} {
		q, v := told(c.all, c.silent)
		switch record := q.Reached(v, "k"); {
		case c.none != (record == nil):
			t.Errorf("%s: %+v, want none: %v", name, record, c.none)
		case record != nil && record.Before != c.want.dump():
			t.Errorf("%s: %q, want %q", name, record.Before, c.want.value)
		}
	}
	q, v := told([]traveller{behind, ahead, {}}, []int{2})
	q.Said[1].Journal.Latched = false
	if r := q.Reached(v, "k"); r != nil {
		t.Errorf("who is not latched has told %+v", r)
	}
}
