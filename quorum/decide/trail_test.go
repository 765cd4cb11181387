package decide

import (
	"crypto/sha1"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"redlock-proxy/quorum"
)

// traveller is a key on one master: what it is, and by which steps it came to be that.
type traveller struct{ value, trail string }

// acts has a step of that name change the key: put a letter at the end, or take off the first, "", if there is one. It is marked as
// masters mark it, which hardly look at what there is.
func (m *traveller) acts(step, letter string) (did bool) {
	reply := ""
	switch {
	case letter != "":
		m.value += letter
	case m.value == "":
		return false
	default:
		reply, m.value = m.value[:1], m.value[1:]
	}
	record := UndoRecord{Trail: m.trail}
	sum := sha1.Sum(fmt.Append(nil, record.last(), step, len(m.value), reply))
	record.Mark = hex.EncodeToString(sum[:4])
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
	last traveller // what the last that was won has left
	late []lateStep
}

// lateStep is one that comes to a master after its decision.
type lateStep struct {
	name, letter string
	master       int
	won          traveller // what it has left where it was won, if it was
}

func (h *history) most() int { return quorum.QuorumOf(len(h.all)) }

// step asks the masters for one, of which some are not reached, or later.
func (h *history) step(name string) {
	letter := []string{"", "x", "y"}[h.IntN(3)]
	was, made, late := slices.Clone(h.all), map[string][]int{}, []int(nil)
	for i := range h.all {
		if h.IntN(4) == 0 {
			late = append(late, i)
		} else if h.all[i].acts(name, letter) {
			made[h.all[i].value] = append(made[h.all[i].value], i)
		}
	}
	var winners []int
	for _, same := range made {
		if len(same) >= h.most() {
			winners = same
		}
	}
	var won traveller
	for _, i := range winners { // of who has come to it by most steps
		if len(h.all[i].trail) > len(won.trail) {
			won = h.all[i]
		}
	}
	if len(winners) > 0 {
		won.won()
		h.last = won
	}
	for i := range h.all {
		did := h.all[i].trail != was[i].trail
		switch {
		case slices.Contains(winners, i):
			if h.IntN(4) > 0 {
				h.all[i] = won
			}
		case len(winners) > 0 && did && h.IntN(2) == 0: // what is known to be behind is brought up
			h.all[i] = won
		case did && h.IntN(4) > 0: // what is lost is taken back
			h.all[i] = was[i]
		case slices.Contains(late, i) && h.IntN(2) == 0:
			h.late = append(h.late, lateStep{name, letter, i, won})
		}
	}
}

// comes has some of what is late be carried out, and heard of, or not.
func (h *history) comes() {
	for _, l := range h.late {
		m := &h.all[l.master]
		was := *m
		if h.IntN(2) == 0 || !m.acts(l.name, l.letter) {
			continue
		}
		switch {
		case h.IntN(3) == 0:
		case (&UndoRecord{Trail: m.trail}).last() == (&UndoRecord{Trail: l.won.trail}).last():
			*m = l.won
		case l.won.trail == "":
			*m = was
		}
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
		record = slices.MaxFunc(held, func(r, s *UndoRecord) int { return len(r.Trail) - len(s.Trail) })
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
			if record.Before != h.last.value {
				t.Fatalf("%d masters, seed %d: %v away; %+v\nreached is %q, and %+v was won", n, seed, silent, h.all, record.Before, h.last)
			}
		}
		if line < 200 {
			t.Errorf("of %d masters, so few histories stand in a line: %d", n, line)
		}
	}
}

// Masters stand in a line by what they have made of the key, not by what they hold: a list that is what it was is not older.
func TestReachedIsWhereTheLastStepHasLed(t *testing.T) {
	goes := func(from traveller, steps ...string) traveller {
		for i, letter := range steps {
			from.acts(fmt.Sprint(steps, i), letter)
			from.won()
		}
		return from
	}
	behind := goes(traveller{}, "a")
	ahead := goes(behind, "b", "")
	again := goes(ahead, "", "a")
	open := ahead
	open.trail = open.trail[:len(open.trail)-1] + string(isOpen)
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
		"what is what it was":              {[]traveller{behind, again, {}}, []int{2}, again, false},
		"what so many have who can be all": {[]traveller{behind, ahead, again}, nil, ahead, false},
		"of two, what both have":           {[]traveller{behind, ahead}, nil, behind, false},
		"of four, what both have":          {[]traveller{behind, ahead, ahead, {}}, []int{3}, ahead, false},
		"one alone":                        {[]traveller{behind, ahead, {}}, []int{0, 2}, traveller{}, true},
		"too far behind":                   {[]traveller{behind, goes(ahead, "1", "2", "3", "4", "5", "6", "7"), {}}, []int{2}, traveller{}, true},
		"who has gone another way":         {[]traveller{goes(behind, "c"), ahead, {}}, []int{2}, traveller{}, true},
		"who does not tell of it":          {[]traveller{behind, without, {}}, []int{2}, traveller{}, true},
		"one of whom it was changed":       {[]traveller{{value: "x", trail: ahead.trail}, ahead, {}}, []int{2}, traveller{}, true},
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
