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
	was, acted, late := slices.Clone(h.all), []int(nil), []int(nil)
	for i := range h.all {
		if h.IntN(4) == 0 {
			late = append(late, i)
		} else if h.all[i].acts(name, letter) {
			acted = append(acted, i)
		}
	}
	winners := h.alike(acted)
	var won traveller
	if len(winners) > 0 {
		var made []*UndoRecord
		for _, i := range winners {
			made = append(made, &UndoRecord{Before: h.all[i].value, Trail: h.all[i].trail})
		}
		donor := Donor(made)
		won = traveller{donor.Before, donor.Trail}
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

// alike are those of some masters who hold the same, and none of them apart from one, if they are a quorum.
func (h *history) alike(some []int) []int {
	for _, i := range some {
		var alike []int
		for _, j := range some {
			r, s := UndoRecord{Trail: h.all[i].trail}, UndoRecord{Trail: h.all[j].trail}
			if h.all[i].value == h.all[j].value && !r.apart(&s) {
				alike = append(alike, j)
			}
		}
		if len(alike) >= h.most() {
			return alike
		}
	}
	return nil
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
		record = Donor(held)
	}
	if record == nil {
		return
	}
	from := h.all[slices.IndexFunc(h.all, func(m traveller) bool { return m.value == record.Before && m.trail == record.Trail })]
	for i := range h.all {
		if h.IntN(4) > 0 && q.Said[i].Journal != nil { // who holds the same is given the trail
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

// Of those who hold the same the trail counts of who has been where the others are.
func TestDonorHasBeenWhereTheOthersAre(t *testing.T) {
	goes := func(trail string, steps ...string) string {
		for _, step := range steps {
			r := UndoRecord{Trail: trail, Mark: fmt.Sprintf("%8s", step)}
			trail = r.TrailWon()
		}
		return trail
	}
	all := goes("", "1", "2", "3", "4", "5", "6", "7", "8")
	behind, on := goes(all, "9a"), goes(all, "9", "10")
	open := on[:len(on)-1] + string(isOpen)
	for name, c := range map[string]struct{ trails, want []string }{
		"one has missed a step":  {[]string{behind, on[:len(on)-markBytes], on}, []string{on}},
		"one does not tell":      {[]string{"", all}, []string{all}},
		"none does":              {[]string{"", ""}, []string{""}},
		"one knows that it won":  {[]string{open, on}, []string{on}},
		"one does not hold it":   {[]string{"-", all}, []string{all}},
		"none of them was there": {[]string{behind, on}, []string{behind, on}},
	} {
		var alike []*UndoRecord
		for _, trail := range c.trails {
			r := &UndoRecord{Trail: trail}
			if trail == "-" {
				r = nil
			}
			alike = append(alike, r)
		}
		if got := Donor(alike); !slices.Contains(c.want, got.Trail) {
			t.Errorf("%s: %q", name, got.Trail)
		}
	}
	if Donor([]*UndoRecord{nil}) != nil || Donor(nil) != nil {
		t.Error("nobody is one")
	}
}

// Who has missed what is known to be won is apart from who has not, whatever they hold, and nobody else is.
func TestWhoIsApart(t *testing.T) {
	at := func(steps ...string) *UndoRecord {
		r := new(UndoRecord)
		for _, step := range steps {
			r.Mark = fmt.Sprintf("%-8s", step[1:])
			r.Trail = r.trailAfter(step[0])
		}
		return r
	}
	for name, c := range map[string]struct {
		one, other *UndoRecord
		apart      bool
	}{
		"the same":               {at("+1", "+2"), at("+1", "+2"), false},
		"one step behind":        {at("+1"), at("+1", "+2"), true},
		"two behind, one is won": {at("+1"), at("+1", "+2", "-3"), true},
		"behind what is open":    {at("+1"), at("+1", "-2"), false},
		"another way":            {at("+1", "+3"), at("+1", "+2"), false},
		"nothing is known":       {at(), at("+1", "+2"), false},
	} {
		if c.one.apart(c.other) != c.apart || c.other.apart(c.one) != c.apart {
			t.Errorf("%s: want %v", name, c.apart)
		}
	}
}
