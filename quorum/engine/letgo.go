package engine

import (
	"slices"
	"strconv"
	"time"

	"redlock-proxy/quorum"
	"redlock-proxy/quorum/decide"
	"redlock-proxy/quorum/journal"
)

// lettingGo are endings that only let go of what they have latched, as those of nearly all steps do: a master is told of all that
// stand side by side in a batch by one call, which takes it little longer than one of them.
type lettingGo []*ending

// maxLettingGo is how many of them a call is of: a master does nothing else meanwhile.
const maxLettingGo = 64

// together is the first of some errands, and how many of them it is of.
func together(errands []errand) (first errand, of int) {
	of = slices.IndexFunc(errands, func(e errand) bool {
		n, ends := e.(*ending)
		return !ends || n.ends != letGo
	})
	if of < 0 {
		of = len(errands)
	}
	if of = min(of, maxLettingGo); of == 0 {
		return errands[0], 1
	}
	all := make(lettingGo, of)
	for i := range all {
		all[i] = errands[i].(*ending)
	}
	return all, of
}

func (all lettingGo) argv(b []string, _ time.Time) []string {
	keys := make([]string, 1, 1+2*len(all))
	keys[0] = quorum.StepsKey
	for _, n := range all {
		keys = n.withWon(append(keys, journal.Latch(n.key)))
	}
	b = letGoScript.Call(b, keys...)
	for _, n := range all {
		b = n.withTrails(append(b, n.op.holder, strconv.Itoa(len(n.won))))
	}
	return b
}

func (all lettingGo) carriedOut(s *sender, a decide.Answer) {
	for i, n := range all {
		said := a // where it is an error
		if len(a.Elems) == len(all) {
			said = a.Elems[i]
		}
		n.carriedOut(s, said)
	}
}

func (all lettingGo) about() (keys []string) {
	for _, n := range all {
		keys = append(keys, n.key)
	}
	return keys
}

func (all lettingGo) room() (sum int) {
	for _, n := range all {
		sum += n.room()
	}
	return sum
}

func (lettingGo) remains() []string { return nil }
func (lettingGo) owes() *debt       { return nil }
