package catchup

import (
	"context"
	"errors"
	"slices"
	"strconv"

	"redlock-proxy/quorum"
	"redlock-proxy/quorum/clock"
)

// That a key is the same as it was is told neither by its value nor by when it ends: clients do
// lock with a constant, and what has no ttl always ends alike.
//
//	1: 1 holds k, which nobody does; it is looked at, and so are 2 and 3
//	2: a client says DEL k
//	3: 2 and 3 are looked at again: they hold nothing
//	4: A acquires k of 1, 2 and 3, by the same value as it had
//	5: 1 holds what was seen, and it is deleted: on each master that is looked at just then
//
// So who looks keeps a vigil: a connection that watches the keys, by WATCH, from before the first
// look on. What deletes them stands in MULTI and EXEC, and the master does not carry that out if
// any of them was written to since, were it by the same. What deletes them then has found
// them as they were all along:
//
//	1: P's acquire of k is granted by 1, and is on its way to 2 and 3
//	2: k is watched on 1, and 2 and 3 are looked at
//	3: 2 and 3 grant it
//
// P's was granted before the watch, so that it is decided by the second look, and if it is won
// it is seen on 2 or 3 then, or has ended. What 1 grants later is a write behind the watch,
// however late EXEC comes to it. Keys that are watched from the second look on alone would be
// too few: between the two, 1 may have been freed of k, and have granted it to P.
//
// Of a vigil that was in vain it is not told which key was written to. Each half of it is kept
// another, without what is held by now; one that is left alone is kept one of its own. What has
// that, and is written to, is looked at again with all others, later.

// vigil is some keys of the target, and the connection that watches them.
type vigil struct {
	*peer
	list    []ghost
	watched int // keys, with those that are no ghosts any more
}

// Bounds of the vigils that are kept at a time, of a bundle of keys each. A master goes through
// all that a connection watches for each key more that it is to watch.
const (
	maxVigils = 8
	maxInVain = 64 // in one run
)

// layWatched takes from the target those of the ghosts that nobody holds, a few vigils at a time.
func (h *haunt) layWatched(ctx context.Context, ghosts []ghost) (laid int, err error) {
	var lists [][]ghost
	for len(ghosts) > 0 {
		n := bundle(ghosts, keyOfGhost)
		lists, ghosts = append(lists, ghosts[:n]), ghosts[n:]
	}
	for inVain := 0; len(lists) > 0; {
		n := min(len(lists), maxVigils)
		took, rest, again, err := h.keep(ctx, lists[:n])
		laid += took
		if err != nil {
			return laid, err
		}
		lists = append(lists[n:], rest...)
		for _, v := range again {
			switch inVain++; {
			case v.watched == 1 || inVain > maxInVain:
				h.unclear = true
			case len(v.list) == 1:
				lists = append(lists, v.list)
			default:
				lists = append(lists, v.list[:len(v.list)/2], v.list[len(v.list)/2:])
			}
		}
	}
	return laid, nil
}

// keep keeps a vigil for each list, and tells for which it was in vain, and what one has no room
// for.
func (h *haunt) keep(ctx context.Context, lists [][]ghost) (laid int, rest [][]ghost, again []vigil, err error) {
	var vigils []vigil
	defer func() {
		for _, v := range vigils {
			v.leave() // and nothing is watched any more
		}
	}()
	for _, list := range lists {
		p, err := h.times.meet(ctx, h.target.Source)
		if err != nil {
			return 0, nil, nil, err
		}
		vigils = append(vigils, vigil{p, nil, len(list)})
		same, looked, err := p.watch(list)
		if err == nil {
			same, err = h.unheld(same)
		}
		if err != nil {
			return 0, nil, nil, err
		}
		vigils[len(vigils)-1].list = same
		if looked < len(list) {
			rest = append(rest, list[looked:])
		}
	}
	if !slices.ContainsFunc(vigils, func(v vigil) bool { return len(v.list) > 0 }) {
		return 0, rest, nil, nil
	}
	clock.Pause(ctx, h.times.Apart)
	if ctx.Err() != nil {
		return 0, nil, nil, ctx.Err() // it was no pause
	}
	for _, v := range vigils {
		if v.list, err = h.unheld(v.list); err != nil {
			return laid, nil, nil, err
		}
		n, looked, err := v.lay(v.list)
		switch {
		case errors.Is(err, errInVain):
			again = append(again, v)
		case err != nil:
			return laid, nil, nil, err
		case looked < len(v.list):
			rest = append(rest, v.list[looked:])
		}
		laid += n
	}
	return laid, rest, again, nil
}

// watch has the master watch the ghosts, and returns of so many of them as one script looks at
// those that are as they were seen. It is an error if there could be no transaction: lay's
// script would be run without one.
func (p *peer) watch(list []ghost) (same []ghost, looked int, err error) {
	keys := keysOf(list, keyOfGhost)
	if _, err := p.askAll([]string{"MULTI"}, []string{"EXEC"}, append([]string{"WATCH"}, keys...)); err != nil {
		return nil, 0, err
	}
	now, looked, err := p.lookOnce(keys, false)
	return slices.DeleteFunc(now, func(g ghost) bool { return !slices.ContainsFunc(list, g.like) }), looked, err
}

// like tells that a ghost is what was seen: whether it was written to since the watch is told
// by that.
func (g ghost) like(seen ghost) bool {
	return g.key == seen.key && g.digest == seen.digest && (g.ends < 0) == (seen.ends < 0)
}

// errInVain says that a key which is watched was written to.
var errInVain = errors.New("a key is written to")

// lay deletes of the keys what is still as it was seen, if the master is the one that is
// meant, and returns how many these were, and how many it was about: the others are watched no
// more.
func (v *vigil) lay(list []ghost) (laid, looked int, err error) {
	if len(list) == 0 {
		return 0, 0, nil
	}
	argv := []string{"EVAL", LayScript.Text, strconv.Itoa(1 + len(list)), quorum.MarkerKey}
	args := []string{string(v.Nonce)}
	for _, g := range list {
		argv, args = append(argv, g.key), append(args, g.digest)
	}
	answers, err := v.askAll([]string{"MULTI"}, append(argv, args...), []string{"EXEC"})
	if err != nil {
		return 0, 0, err
	}
	exec := answers[len(answers)-1]
	switch {
	case exec.Kind == quorum.NilReply:
		return 0, 0, errInVain
	case len(exec.Elems) != 1:
		return 0, 0, v.garbage()
	}
	switch did := exec.Elems[0]; did.Kind {
	case quorum.FailureReply:
		return 0, 0, v.refuses(did)
	case quorum.IntegerReply:
		return 0, 0, v.changed()
	default:
		return v.deletedOf(did, len(list))
	}
}
