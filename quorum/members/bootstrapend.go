package members

import (
	"fmt"
	"slices"
	"strings"

	"redlock-proxy/quorum"
	"redlock-proxy/quorum/master"
)

// What a bootstrap that does not succeed takes back, and what it tells.

// stage is how far a master has come, as Bootstrap knows.
type stage uint8

const (
	notMarked stage = iota
	isMarked        // in all databases, and not let vote in each
	mayVote
	notKnown // what was written when the connection was lost, or others wrote, too
)

// soFar says it of all, for whoever is told an error.
func soFar(members []*member) string {
	by := make(map[stage][]string)
	for _, m := range members {
		by[m.stage] = append(by[m.stage], m.name)
	}
	var parts []string
	for _, is := range []struct {
		stage stage
		text  string
	}{
		{mayVote, "these may vote"},
		{isMarked, "these are marked, and may not vote yet"},
		{notKnown, "of these it is not known what was written"},
		{notMarked, "these are not marked"},
	} {
		if names := by[is.stage]; names != nil {
			parts = append(parts, is.text+": "+strings.Join(names, " "))
		}
	}
	if len(by[notMarked]) == len(members) {
		return "no master is marked by this order"
	}
	return strings.Join(parts, "; ") + ". The same order goes on from there"
}

// withdrawAll takes back the first markers that this order has written, as one of the masters
// turns out to be none of its set. They would keep the others from every other set:
//
//	1: one operator makes 1 2 5 a set, and another 3 4 5, and both have marked all but 5
//	2: the other marks 5; the first has lost, and 1 and 2 are of a set that cannot be made
func withdrawAll(members []*member, list []found, why error) error {
	var kept []string
	for i, m := range members {
		if err := m.withdraw(list[i]); err != nil {
			kept = append(kept, m.name)
			continue
		}
		m.stage = notMarked
	}
	if kept != nil {
		why = fmt.Errorf("%w\nwhat this order had marked could not all be taken back: delete the key %s in each database of these: %s", why, quorum.MarkerKey, strings.Join(kept, " "))
	}
	return why
}

// withdraw takes back those of a master, of what was found there.
func (m *member) withdraw(f found) error {
	for db, mark := range f.marks {
		if !mark.First || !slices.Contains(m.steps, mark.Loss) {
			continue
		}
		if _, err := m.run(db, master.WithdrawFirstScript, string(mark.Nonce), mark.Loss); err != nil {
			return err
		}
	}
	return nil
}
