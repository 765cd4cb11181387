package queue

import (
	"slices"

	"redlock-proxy/integration/nemesis/lease"
)

// missed is an element that was acknowledged and came to nobody.
type missed struct {
	push    Op
	gone    lease.Instant // at the latest
	excused bool
}

// taken tells whether a pop whose answer is not known may have taken it.
func (m *missed) taken(pop Op) bool {
	return slices.Contains(pop.Queues, m.push.Queues[0]) && pop.Return.After(lease.MayBeLate) >= m.push.Call && pop.Call <= m.gone
}

func unknownPops(history []Op) []Op {
	return slices.DeleteFunc(slices.Clone(history), func(op Op) bool {
		return op.Kind != Pop || op.Outcome != lease.Unknown
	})
}

// excuse finds for as many of those that are missed as can be a pop of its own that may
// have taken it, and tells how many they are: a matching, by augmenting paths.
func excuse(missing []*missed, pops []Op) int {
	took := make([]*missed, len(pops))
	n := 0
	for _, m := range missing {
		if assign(m, pops, took, make([]bool, len(pops))) {
			n++
		}
	}
	for _, m := range took {
		if m != nil {
			m.excused = true
		}
	}
	return n
}

func assign(m *missed, pops []Op, took []*missed, tried []bool) bool {
	for i, pop := range pops {
		if tried[i] || !m.taken(pop) {
			continue
		}
		tried[i] = true
		if took[i] == nil || assign(took[i], pops, took, tried) {
			took[i] = m
			return true
		}
	}
	return false
}
