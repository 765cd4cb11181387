package catchup

import (
	"context"
	"slices"
	"time"

	"redlock-proxy/quorum"
	"redlock-proxy/quorum/clock"
	"redlock-proxy/quorum/marker"
	"redlock-proxy/quorum/master"
)

// A ghost is a key that a master holds and nobody does: a copy of what had ended by
// the time it was given, or what was there before. What ended where this proxy saw it
// has been taken back already; see Released. What another proxy was told, an undo, or the
// unlock of a script is seen by nobody but the masters that had a part in it:
//
//	1: P's acquire of k is granted by 2 and refused by 3; 2 is read, for 1 that has lost
//	   its keys
//	2: P undoes on 2; B acquires k of 2 and 3
//	3: 1 is given k as it was P's, and votes again; B releases k
//	4: 2 crashes: until P's lock would have run out, nobody gets k of 1 and 3
//
// So once a master is back, what it holds is set beside what the others hold: twice, so
// far apart that whatever was asked before the first look is decided, put back or undone
// by the second. A key of which N-quorum+1 others hold nothing either time, or another's
// token, is no lock that anybody could rely on, however it came about: a lock is on a
// quorum, and one of these is in each. Nor is a value beside one that a quorum of others
// holds. It goes, if it was not written to meanwhile, see watched.go.
//
// That few others hold another hash or set tells nothing: how often a lock was entered is
// part of its value, and masters that were away may differ in that.
//
//	1: A has entered k twice by what 1 holds, and once by what 3 does; 2, which was away,
//	   has let go of it
//	2: were what 1 holds to go, as neither 2 nor 3 holds the same, B would acquire k of
//	   1 and 2
//
// Such a key is looked at again, until one of the values has gone.
//
// That it is to be looked at stands in its marker, as whoever has let it vote may end before.
//
// A write that a minority carried out, and that is put back later than between the two
// looks since its master was lost at that moment, is all that could make this wrong: what
// it replaced would then have one copy less than before the master forgot.

// ghost is a key, with what tells that it is still the same.
type ghost struct {
	key, digest string
	ends        int64 // in milliseconds, by its master's Unix time; decide.SaysNoTTL is never
}

// haunt looks for the ghosts of one master.
type haunt struct {
	peers
	most    int  // a quorum of the set
	unclear bool // it may be that somebody holds what the others hold another value of

	eternalOnly   bool // those without a ttl are looked for; see LayEternal
	before, found Unheld
}

// Lay frees a master that votes, and whose marker says that it may hold ghosts, of these, and
// takes that from the marker. The others are all that vote of its set, which has so many masters
// in all. It returns how many keys it has deleted, also beside an error; ErrDisputed says that of
// some it is not clear whether anybody holds them.
func Lay(ctx context.Context, target Source, others []Source, set int, times Times) (laid int, err error) {
	h := newHaunt(set, times)
	defer h.leave()
	if err := h.besides(ctx, target, others); err != nil {
		return 0, err
	}
	if m, _, err := h.target.marker(); err != nil || !m.Ghosts {
		return 0, err
	}
	if laid, err = h.lay(ctx); err != nil {
		return laid, err
	}
	return laid, h.target.clearOfGhosts()
}

func newHaunt(set int, times Times) *haunt {
	return &haunt{peers: peers{times: times, needed: Needed(set)}, most: quorum.QuorumOf(set)}
}

// besides connects to the target and all others that vote.
func (h *haunt) besides(ctx context.Context, target Source, others []Source) (err error) {
	if err := h.gather(ctx, others, false); err != nil {
		return err
	}
	h.target, err = h.times.meet(ctx, target)
	return err
}

// lay takes from the target what nobody holds. It is an error if of some keys that
// is not clear.
func (h *haunt) lay(ctx context.Context) (laid int, err error) {
	ghosts, err := h.haunted(ctx)
	if err != nil {
		return 0, err
	}
	if h.eternalOnly {
		h.found = newUnheld(ghosts)
		ghosts = h.before.twice(ghosts)
	}
	if laid, err = h.layWatched(ctx, ghosts); err != nil {
		return laid, err
	}
	if h.unclear {
		return laid, ErrDisputed
	}
	return laid, nil
}

// marker reads the master's marker, which has to be the one that is meant.
func (p *peer) marker() (m marker.Marker, text string, err error) {
	a, err := p.ask([]string{"GET", quorum.MarkerKey})
	if err != nil {
		return m, "", err
	}
	if m, err = marker.Parse(a.Str); err == nil && m.Nonce != p.Nonce {
		err = p.changed()
	}
	return m, a.Str, err
}

// clearOfGhosts takes from the master's marker that there may be ghosts. If it is being brought up
// to date in another regard, the next try finds none.
func (p *peer) clearOfGhosts() error {
	m, text, err := p.marker()
	if err != nil {
		return err
	}
	m.Ghosts = false
	a, err := p.ask(master.MarkScript.Eval(quorum.MarkerKey, text, m.String()))
	if err == nil && a.Str != m.String() {
		err = p.changed()
	}
	return err
}

// haunted goes through all that the target holds, and returns what no source does.
func (h *haunt) haunted(ctx context.Context) (ghosts []ghost, err error) {
	bytes := 0 // of names
	for cursor := "0"; ; {
		began := time.Now()
		keys, next, err := h.target.page(cursor)
		if err != nil {
			return nil, err
		}
		for n := 0; len(keys) > 0; keys = keys[n:] {
			n = bundle(keys, itself)
			list, err := h.target.look(keys[:n], h.eternalOnly)
			list = slices.DeleteFunc(list, func(g ghost) bool { return g.digest == untold })
			if err == nil {
				list, err = h.unheld(list)
			}
			if err != nil {
				return nil, err
			}
			for _, g := range list {
				ghosts, bytes = append(ghosts, g), bytes+len(g.key)
			}
		}
		if cursor = next; cursor == "0" || len(ghosts) >= maxGhosts || bytes >= maxNameBytes {
			return ghosts, nil
		}
		if took := time.Since(began); h.eternalOnly {
			clock.Pause(ctx, 9*took)
		} else {
			clock.Pause(ctx, min(took/2, maxBreather))
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
	}
}

// maxGhosts bounds how many are remembered from the first look to the second, as maxNameBytes
// does; what is beyond stays until it runs out.
const maxGhosts = 64 << 10
