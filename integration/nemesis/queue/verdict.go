package queue

import (
	"fmt"
	"slices"

	"redlock-proxy/integration/nemesis/lease"
)

// Verdict is what is to be said of a history. An element that was not acknowledged, or
// that a pop of unknown outcome may have taken, may be gone.
type Verdict struct {
	Twice    []string // delivered, or moved, to two
	Lost     []string // acknowledged, and delivered to nobody
	Invented []string // delivered, and pushed by nobody
	Stuck    []string // queues that were not seen to be empty at the end
	// How many were acknowledged, delivered, and may have gone with an answer.
	Pushed, Popped, Excused int
}

// element is what is known of one.
type element struct {
	push  Op
	pops  []Op
	moves []Op
}

// Judge goes through what all clients saw until the queues were drained. Of a queue that
// could not be, what stands on a master is not lost.
func Judge(history []Op, stands map[string]bool) Verdict {
	elements, v := gather(history)
	for _, name := range sorted(elements) {
		e := elements[name]
		switch {
		case len(e.pops) > 1:
			v.Twice = append(v.Twice, fmt.Sprintf("%s was delivered twice: %v; %v", name, e.pops[0], e.pops[1]))
		case len(e.moves) > 1:
			v.Twice = append(v.Twice, fmt.Sprintf("%s was moved twice: %v; %v", name, e.moves[0], e.moves[1]))
		}
		if len(e.pops) > 0 && e.push.Kind != Push {
			v.Invented = append(v.Invented, fmt.Sprintf("%s was pushed by nobody: %v", name, e.pops[0]))
		}
	}
	missing := v.missing(elements, stands)
	v.Excused = excuse(missing, unknownPops(history))
	for _, m := range missing {
		if !m.excused {
			v.Lost = append(v.Lost, fmt.Sprintf("%s was delivered to nobody: %v", m.push.Element, m.push))
		}
	}
	return v
}

func gather(history []Op) (map[string]*element, Verdict) {
	var v Verdict
	elements := make(map[string]*element)
	empty := make(map[string]bool)
	for _, op := range history {
		if op.Kind == Drain {
			for _, q := range op.Queues {
				before, seen := empty[q]
				empty[q] = op.Outcome == lease.Yes && (before || !seen)
			}
			continue
		}
		if op.Element == "" {
			continue
		}
		e := elements[op.Element]
		if e == nil {
			e = &element{}
			elements[op.Element] = e
		}
		switch {
		case op.Kind == Push:
			e.push = op
			if op.Outcome == lease.Yes {
				v.Pushed++
			}
		case op.Kind == Move && op.Outcome == lease.Yes:
			e.moves = append(e.moves, op)
		case op.Kind == Pop && op.Outcome == lease.Yes:
			e.pops = append(e.pops, op)
			v.Popped++
		}
	}
	for _, e := range elements {
		if e.push.Kind == Push && !empty[e.push.Queues[0]] && !slices.Contains(v.Stuck, e.push.Queues[0]) {
			v.Stuck = append(v.Stuck, e.push.Queues[0])
		}
	}
	slices.Sort(v.Stuck)
	return elements, v
}

// missing are the elements that were acknowledged and came to nobody, each with the
// moment at which it was gone at the latest.
func (v *Verdict) missing(elements map[string]*element, stands map[string]bool) []*missed {
	var all []*missed
	for _, name := range sorted(elements) {
		e := elements[name]
		if e.push.Outcome != lease.Yes || len(e.pops) > 0 {
			continue
		}
		queue := e.push.Queues[0]
		if stands[name] && slices.Contains(v.Stuck, queue) {
			continue
		}
		m := &missed{push: e.push, gone: lease.Instant(1<<63 - 1)}
		for _, other := range elements {
			if len(other.pops) > 0 && other.push.Kind == Push && other.push.Queues[0] == queue && other.push.Call > e.push.Return {
				m.gone = min(m.gone, other.pops[0].Return.After(lease.MayBeLate))
			}
		}
		all = append(all, m)
	}
	return all
}

func sorted(elements map[string]*element) []string {
	var names []string
	for name := range elements {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}
