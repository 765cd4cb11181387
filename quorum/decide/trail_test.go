package decide

import (
	"crypto/sha1"
	"encoding/hex"
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
	if pops && m.value == "" {
		return false
	}
	m.steps = append(slices.Clone(m.steps), step)
	if _, rest, _ := strings.Cut(m.value, " "); pops {
		m.value = rest
	} else {
		m.value += step + " "
	}
	sum := sha1.Sum(fmt.Append(nil, step, strings.Count(m.value, " ")))
	record := UndoRecord{Trail: m.trail, Mark: hex.EncodeToString(sum[:4])}
	m.trail = record.trailAfter(isOpen)
	return true
}

// won has the last step be known to be won.
func (m *traveller) won() { m.trail = m.trail[:len(m.trail)-1] + string(isWon) }

// told is what those masters tell of the key to a step that latches it.
func told(all []traveller, silent []int) (*Question, Votes) {
	q := &Question{Request: quorum.Request{Kind: quorum.Run, Script: quorum.NewScript("return 0"), Key: "k", Keys: []string{"k"}}, Said: make([]Said, len(all))}
	var v Votes
	for i, m := range all {
		if slices.Contains(silent, i) {
			v = v.Voted(i, quorum.Withheld, false)
			continue
		}
		v = v.Voted(i, quorum.Refused, false)
		q.Said[i].Journal = &Journal{Latched: true, Undo: []UndoRecord{{Key: "k", Before: m.value, After: m.value, Trail: m.trail}}}
	}
	return q, v
}

// history is what clients were told of the steps on a key of some masters.
type history struct {
	*rand.Rand
	all  []traveller
	won  traveller // what the last that was won has left
	late []lateStep
}

// lateStep is one that comes to a master after its decision, and of which that hears no more.
type lateStep struct {
	name   string
	pops   bool
	master int
}

func (h *history) most() int { return quorum.QuorumOf(len(h.all)) }

// step asks the masters for one, of which some are not reached, or later.
func (h *history) step(name string) {
	pops, was, made, reached := h.IntN(2) == 0, slices.Clone(h.all), map[string][]int{}, 0
	for i := range h.all {
		if h.IntN(5) == 0 {
			continue
		}
		if reached++; h.all[i].acts(name, pops) {
			made[h.all[i].value] = append(made[h.all[i].value], i)
		}
	}
	var winners []int
	for _, same := range made {
		if len(same) >= h.most() {
			winners = same
		}
	}
	never := len(winners) == 0 && reached >= h.most()
	for i := range h.all {
		did := h.all[i].trail != was[i].trail
		switch {
		case slices.Contains(winners, i):
			if h.IntN(4) > 0 {
				h.all[i].won()
			}
		case len(winners) > 0 && did && h.IntN(2) == 0: // what is known to be behind is brought up
			h.all[i] = h.all[winners[0]]
			h.all[i].won()
		case did && h.IntN(4) > 0: // what is lost is taken back
			h.all[i] = was[i]
		case did:
			never = false
		case never && h.IntN(3) == 0 && len(h.late) == 0:
			h.late = append(h.late, lateStep{name, pops, i})
		}
	}
	if len(winners) > 0 {
		h.won = h.all[winners[0]]
	}
}

// comes has what is late be carried out.
func (h *history) comes() {
	for _, l := range h.late {
		h.all[l.master].acts(l.name, l.pops)
	}
	h.late = nil
}

// looks has masters hold what a step that does nothing finds: what as many hold as are a quorum, or have reached. Some do not
// answer, or not hear of it.
func (h *history) looks() {
	q, v := told(h.all, h.Perm(len(h.all))[:h.IntN(len(h.all)-h.most()+1)])
	record := q.Reached(v, "k")
	if held := q.FoundAlike(v, "k"); held != nil {
		held = slices.DeleteFunc(held, func(record *UndoRecord) bool { return record == nil })
		record = held[h.IntN(len(held))]
	}
	if record == nil {
		return
	}
	from := h.all[slices.IndexFunc(h.all, func(m traveller) bool { return m.value == record.Before && m.trail == record.Trail })]
	for i := range h.all {
		if h.IntN(4) > 0 && q.Said[i].Journal != nil && h.all[i].value != record.Before {
			h.all[i] = from
		}
	}
}

// Whatever masters have missed, and whatever is left on some of what was lost, or comes there when that was told: what a quorum is
// said to have reached is what was won, though as many as are no quorum are away, or have forgotten it.
func TestWhatAQuorumHasReachedIsWhatWasWon(t *testing.T) {
	for n := 3; n <= 6; n++ {
		line := 0
		for seed := range uint64(8_000) {
			h := &history{Rand: rand.New(rand.NewPCG(seed, uint64(n))), all: make([]traveller, n)}
			for s := range 12 {
				h.step(fmt.Sprintf("%016x:%d", seed, s))
				if h.IntN(4) == 0 {
					h.comes()
				}
				if h.IntN(3) == 0 {
					h.looks()
				}
			}
			silent := h.Perm(n)[:h.IntN(n-h.most()+1)]
			q, v := told(h.all, silent)
			record := q.Reached(v, "k")
			if record == nil || q.FoundAlike(v, "k") != nil {
				continue
			}
			line++
			if record.Before != h.won.value {
				t.Fatalf("%d masters, seed %d: %v away; %+v\nreached is %q, and %+v was won", n, seed, silent, h.all, record.Before, h.won)
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
	behind.won()
	ahead = behind
	ahead.acts("b:1", true)
	ahead.acts("b:2", false)
	open := ahead
	ahead.won()
	again := ahead
	again.acts("b:3", true)
	again.won()
	long := behind
	for i := range trailBytes/markBytes + 1 {
		long.acts(fmt.Sprint("c:", i), false)
		long.won()
	}
	aside := behind
	aside.acts("d:1", false)
	aside.won()
	without := ahead
	without.trail = ""
	for name, c := range map[string]struct {
		all    []traveller
		silent []int
		want   traveller
		none   bool
	}{
		"who is ahead":                     {[]traveller{behind, ahead, {}}, []int{2}, ahead, false},
		"what is not known to be won":      {[]traveller{behind, open, {}}, []int{2}, traveller{}, true},
		"what another knows to be won":     {[]traveller{open, ahead, behind, {}}, []int{3}, ahead, false},
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
		case record != nil && record.Before != c.want.value:
			t.Errorf("%s: %q, want %q", name, record.Before, c.want.value)
		}
	}
	q, v := told([]traveller{behind, ahead, {}}, []int{2})
	q.Said[1].Journal.Latched = false
	if r := q.Reached(v, "k"); r != nil {
		t.Errorf("who is not latched has told %+v", r)
	}
}
