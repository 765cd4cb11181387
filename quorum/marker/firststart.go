package marker

import (
	"slices"
	"strings"
)

// The first start of a set, and what follows the loss of everything. Whether masters
// that bear no marker are new or have lost all they held need not be told apart: who
// waits for max-ttl is right in both cases. What is decided is here, and pure; what is
// done is the engine's.
//
// Where all masters can be reached, are as many servers, and none bears a marker or
// holds a key in any database, they get provisional markers, called first, in the order
// of their names. Of two proxies that begin at once one marks the first master, and the
// other goes on with what it finds there.
//
// A first master is admitted when its quarantine is over and another one votes already,
// or all masters bear its installation at one time and have done so for long enough. Why
// the latter:
//
//	1: of five blank masters a proxy of 1 2 3 can reach 1 and 2, and marks them
//	2: a proxy of 3 4 5 marks those
//	3: max-ttl passes, and A wins k on 1 2; B wins k on 4 5
//
// It is long enough when the last of them was marked max-ttl ago and every proxy has
// looked at its masters before that:
//
//	1: a proxy of 1 2 3 serves; 3 loses its memory; a proxy of 3 4 5 marks those
//	2: A wins k on 1 2, before its proxy looks at 3 and grants nothing any more
//	3: max-ttl after their marks 4 and 5 vote, and B wins k on them
//
// One that is marked because its marker is gone, while nobody is known to vote, is a
// first one, too, and waits for its turn. Without turns proxies of different sets that
// meet in a loss of everything keep each other from all of it.

// Sight is what a lane knows of its master's marker. It is zero while there is no link.
type Sight struct {
	Reached      bool   // it is there, and is no other master's twin
	Nonce        Nonce  // of its marker; "" if it bears none
	Installation string // that this names
	First        bool   // it is provisional, and there was no vote when it was written
	Votes        bool   // it votes, in the process that was admitted
}

// Bears tells that a master has a marker of the installation.
func (s Sight) Bears(installation string) bool {
	return s.Reached && s.Nonce != "" && s.Installation == installation
}

// InOrder are the places of the masters in the order of their names.
func InOrder(names []string) []int {
	order := make([]int, len(names))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return strings.Compare(names[a], names[b]) })
	return order
}

// MayMark tells whether a master that bears no marker is to be marked as a first one
// now. installation is "" before any is known. waits names those masters that have to
// come first.
func MayMark(sights []Sight, names []string, i int, installation string) (may bool, waits []string) {
	before := true
	for _, j := range InOrder(names) {
		if j == i {
			before = false
		}
		s := sights[j]
		switch {
		case j == i:
		case installation == "" && !s.Reached, installation != "" && before && !s.Bears(installation):
			waits = append(waits, names[j])
		case installation == "" && before:
			waits = append(waits, names[j]) // that one begins
		}
	}
	return sights[i].Reached && len(waits) == 0, waits
}

// Stands tells which of several installations with the same terms the masters are of:
// that of which most masters vote, of equally many the one on the first by name; else
// one whose markers are not first; else the one on the first master by name. It is "" if
// that cannot be told.
func Stands(sights []Sight, names []string) (installation string, votes bool) {
	all, most, admitted, any := true, "", "", ""
	voting := make(map[string]int)
	for _, i := range InOrder(names) {
		if s := sights[i]; s.Votes {
			voting[s.Installation]++
		}
	}
	for _, i := range InOrder(names) {
		s := sights[i]
		switch {
		case !s.Reached:
			all = false
		case s.Nonce == "":
		case s.Votes:
			if most == "" || voting[s.Installation] > voting[most] {
				most = s.Installation
			}
		case !s.First && admitted == "":
			admitted = s.Installation
		case any == "":
			any = s.Installation
		}
	}
	switch {
	case len(voting) == 1, len(voting) > 1 && all:
		return most, true
	case !all, len(voting) > 1:
		return "", false
	case admitted != "":
		return admitted, false
	}
	return any, false
}

// Completes tells that a first master may be admitted when its quarantine is over:
// another one votes, or all bear the installation; then both looks at them are alike.
func Completes(one, two []Sight, i int, installation string) bool {
	for j, s := range two {
		if j != i && s.Votes && s.Bears(installation) {
			return true
		}
	}
	for j, s := range two {
		if !s.Bears(installation) || one[j] != s {
			return false
		}
	}
	return true
}
