package engine

import (
	"context"
	"errors"
	"slices"
	"time"

	"redlock-proxy/quorum"
	"redlock-proxy/quorum/marker"
	"redlock-proxy/quorum/master"
)

// A ghost is a key that a master holds and nobody does: a copy of what had ended by
// the time it was given, or what was there before. What ended where this proxy saw it
// has been taken back already; see ended. What another proxy was told, an undo, or the
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
// holds. It goes, if it was not written to meanwhile, see vigil.go.
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
	ends        int64 // in milliseconds, by its master's Unix time; saysNoTTL is never
}

// apparition is how far apart the two looks are: nothing that was put to the masters by
// the first is undecided at the second, and what follows from it was carried out. A step's
// end takes as long again as its decision.
func (c *Config) apparition() time.Duration { return 2 * c.hush() }

// layGhosts frees the lane's master, which votes again under nonce n, of its ghosts. It
// begins when every proxy knows that the master votes, and sends it what ends a lock; it
// tries until all of it was done under one nonce, for what has no ttl waits as long as the
// others are away.
// A proxy that has not admitted the master itself leaves it to who has, for so long that
// this is done by then, or whoever it was has ended.
func (l *lane) layGhosts(ctx context.Context, n marker.Nonce, own bool) {
	e := l.engine
	if !own {
		pause(ctx, 4*e.ProbeInterval+e.apparition())
	}
	wait := e.ProbeInterval
	for pause(ctx, wait+e.hush()); ctx.Err() == nil; pause(ctx, wait) {
		target, votes := l.asSource()
		if !votes {
			if l.quarantined() {
				return // it is given everything anew, and looked at afterwards
			}
			continue
		}
		if target.nonce != n {
			return // so it was, or another marker says that it is to be
		}
		n, err := e.layGhosts(ctx, target)
		if n > 0 {
			l.undos.Add(uint64(n))
			l.log.Info("master is freed of keys that nobody holds", "keys", n)
		}
		switch {
		case err == nil:
			return
		case errors.Is(err, errDisputed), lacksRight(err):
			wait = min(2*wait, e.quarantineTime()) // every key is looked at anew
		default:
			wait = e.ProbeInterval
		}
		l.cannotLook(err)
	}
}

// asSource is the lane's master as it votes, if it does.
func (l *lane) asSource() (s source, votes bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return source{l, l.nonce, l.sighted()}, l.open && !l.withheld && l.nonce != ""
}

// layGhosts is one try at it.
func (e *Engine) layGhosts(ctx context.Context, target source) (laid int, err error) {
	r := &catchUpRun{engine: e, ward: &quarantine{}, needed: sourcesNeeded(len(e.lanes))}
	defer r.end()
	if err := r.besides(ctx, target); err != nil {
		return 0, err
	}
	if m, _, err := r.target.marker(); err != nil || !m.Ghosts {
		return 0, err
	}
	if laid, err = r.layGhosts(ctx); err != nil {
		return laid, err
	}
	return laid, r.target.freed()
}

// besides connects to the target and all others that vote.
func (r *catchUpRun) besides(ctx context.Context, target source) (err error) {
	if err := r.gather(ctx, r.engine.sources(target.lane)); err != nil {
		return err
	}
	r.target, err = r.engine.meet(ctx, target)
	return err
}

// layGhosts takes from the target what nobody holds. It is an error if of some keys that
// is not clear.
func (r *catchUpRun) layGhosts(ctx context.Context) (laid int, err error) {
	ghosts, err := r.haunted(ctx)
	if err != nil {
		return 0, err
	}
	if r.eternalOnly {
		r.seen = newSeenGhosts(ghosts)
		ghosts = r.before.twice(ghosts)
	}
	if laid, err = r.layWatched(ctx, ghosts); err != nil {
		return laid, err
	}
	if r.unclear {
		return laid, errDisputed
	}
	return laid, nil
}

// marker reads the master's marker.
func (p *party) marker() (m marker.Marker, text string, err error) {
	a, err := p.ask([]string{"GET", quorum.MarkerKey})
	if err != nil {
		return m, "", err
	}
	if m, err = marker.Parse(a.Str); err == nil && m.Nonce != p.nonce {
		err = p.changed()
	}
	return m, a.Str, err
}

// freed takes from the master's marker that there may be ghosts. If it is being brought up
// to date in another regard, the next try finds none.
func (p *party) freed() error {
	m, text, err := p.marker()
	if err != nil {
		return err
	}
	m.Ghosts = false
	a, err := p.ask(markScript.Eval(quorum.MarkerKey, text, m.String()))
	if err == nil && a.Str != m.String() {
		err = p.changed()
	}
	return err
}

// haunted goes through all that the target holds, and returns what no source does.
func (r *catchUpRun) haunted(ctx context.Context) (ghosts []ghost, err error) {
	bytes := 0 // of names
	for cursor := "0"; ; {
		began := time.Now()
		keys, next, err := r.target.page(cursor)
		if err != nil {
			return nil, err
		}
		for n := 0; len(keys) > 0; keys = keys[n:] {
			n = bundle(keys, itself)
			list, err := r.target.look(keys[:n], r.eternalOnly)
			if err == nil {
				list, err = r.unheld(list)
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
		if took := time.Since(began); r.eternalOnly {
			pause(ctx, 9*took)
		} else {
			pause(ctx, min(took/2, maxBreather))
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
	}
}

// maxGhosts bounds how many are remembered from the first look to the second, as maxNameBytes
// does; what is beyond stays until it runs out.
const maxGhosts = 64 << 10

// unheld are those of the keys that nobody can hold with this value, going by the
// sources: N-quorum+1 of them hold no such lock, or a quorum of masters holds another value.
// It notes whether there are keys of which that is not clear. Nearly always the first source
// holds all of them, as they are.
func (r *catchUpRun) unheld(list []ghost) (gone []ghost, err error) {
	without := make(map[string]int) // sources that hold nothing
	for _, s := range r.sources {
		if len(list) == 0 {
			return nil, nil
		}
		as := make([]given, len(list))
		for i, g := range list {
			as[i] = given{g.key, g.digest}
		}
		said, err := s.held(as)
		if err != nil {
			return nil, err
		}
		rest := list[:0:0]
		for i, a := range said {
			if a != agreed {
				rest = append(rest, list[i])
			}
			if a == nowhere {
				without[as[i].key]++
			}
		}
		list = rest
	}
	var others []string
	for _, g := range list {
		if without[g.key] < r.needed {
			others = append(others, g.key)
		}
	}
	told, err := r.lookAt(others)
	if err != nil {
		return nil, err
	}
	for _, g := range list {
		if without[g.key] >= r.needed || r.isNobodys(g, told[g.key]) {
			gone = append(gone, g)
		} else {
			r.unclear = true
		}
	}
	return gone, nil
}

// lookAt tells of each key what the sources hold it with.
func (r *catchUpRun) lookAt(keys []string) (digests map[string][]string, err error) {
	if len(keys) == 0 {
		return nil, nil
	}
	told, err := onAll(r.sources, func(s *party) ([]ghost, error) { return s.look(keys, false) })
	if err != nil {
		return nil, err
	}
	digests = make(map[string][]string)
	for _, list := range told {
		for _, g := range list {
			digests[g.key] = append(digests[g.key], g.digest)
		}
	}
	for _, s := range r.sources {
		for _, key := range keys {
			if s.forbids(key) {
				digests[key] = append(digests[key], untold)
			}
		}
	}
	return digests, nil
}

// isNobodys tells of a key, by what the sources hold it with, that nobody can hold it with
// the value that it has. A string is signed by its token, and another one is another's.
func (r *catchUpRun) isNobodys(g ghost, digests []string) bool {
	may := 0 // sources that may hold the same lock, with another count
	held := make(map[string]int)
	for _, d := range digests {
		if d == untold {
			may++
			continue
		}
		if held[d]++; d != g.digest && held[d] >= quorum.QuorumOf(len(r.engine.lanes)) {
			return true
		}
		if d == g.digest || kindOf(d) != "string" && kindOf(d) == kindOf(g.digest) {
			may++
		}
	}
	return !r.eternalOnly && len(r.sources)-may >= r.needed
}

// look tells what the master holds of the keys, or only of those without a ttl, but for what
// cannot be told from another value on every version of Redis, or is too long: nothing of that
// is a lock. Nor does it tell of what our user may not touch there.
func (p *party) look(keys []string, eternalOnly bool) (list []ghost, err error) {
	err = sparing(p, keys, itself, func(keys []string) error {
		list, err = p.lookAllowed(keys, eternalOnly)
		return err
	})
	return list, err
}

func (p *party) lookAllowed(keys []string, eternalOnly bool) (list []ghost, err error) {
	only := "0"
	if eternalOnly {
		only = "1"
	}
	for len(keys) > 0 {
		a, err := p.call(lookScript, keys, []string{only})
		if err != nil {
			return nil, err
		}
		n := len(a.Elems) / 2
		if len(a.Elems)%2 != 0 || !within(n, len(keys)) {
			return nil, &errParty{p.name, master.ErrGarbage}
		}
		for i, key := range keys[:n] {
			digest, ends := a.Elems[2*i].Str, a.Elems[2*i+1].Int
			if slices.Contains(sameEverywhere, kindOf(digest)) {
				list = append(list, ghost{key, digest, ends})
			}
		}
		keys = keys[n:]
	}
	return list, nil
}

// sameEverywhere are the types of which digests are not made of dumps.
var sameEverywhere = []string{"string", "hash", "set", "zset", "list"}
