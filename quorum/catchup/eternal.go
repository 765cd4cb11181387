package catchup

import (
	"context"
	"hash/maphash"
	"slices"
)

// LayEternal frees a master that votes of keys without a ttl that nobody holds, nor did when it was
// looked at before: nil is that it was not. It returns what it has seen, for the next time, nil
// where it could not look. See Lay for the others, the set and what else is returned.
//
// Of what the others hold other values of nothing goes, unless a quorum holds one: all
// masters are looked at so, and of a count in which all of them differ none would be left.
func LayEternal(ctx context.Context, target Source, others []Source, set int, times Times, before Unheld) (laid int, found Unheld, err error) {
	h := newHaunt(set, times)
	h.eternalOnly, h.before = true, before
	defer h.leave()
	if err := h.besides(ctx, target, others); err != nil {
		return 0, nil, err
	}
	laid, err = h.lay(ctx)
	return laid, h.found, err
}

// Unheld are the keys that nobody held at one look, by hashes of this process's own. None at all,
// nil, is that there was no look.
type Unheld map[uint64]struct{}

var hashOfGhosts = maphash.MakeSeed()

func (g ghost) hash() uint64 { return maphash.Comparable(hashOfGhosts, g) }

func newUnheld(ghosts []ghost) Unheld {
	u := make(Unheld, len(ghosts))
	for _, g := range ghosts {
		u[g.hash()] = struct{}{}
	}
	return u
}

// twice are those of the ghosts that were seen in an earlier look as well, or all if there
// was none.
func (u Unheld) twice(ghosts []ghost) []ghost {
	if u == nil {
		return ghosts
	}
	return slices.DeleteFunc(ghosts, func(g ghost) bool {
		_, before := u[g.hash()]
		return !before
	})
}
