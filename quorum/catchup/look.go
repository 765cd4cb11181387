package catchup

import (
	"slices"
)

// unheld are those of the keys that nobody can hold with this value, going by the
// sources: N-quorum+1 of them hold no such lock, or a quorum of masters holds another value.
// It notes whether there are keys of which that is not clear. Nearly always the first source
// holds all of them, as they are.
func (h *haunt) unheld(list []ghost) (gone []ghost, err error) {
	without := make(map[string]int) // sources that hold nothing
	for _, s := range h.sources {
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
		if without[g.key] < h.needed {
			others = append(others, g.key)
		}
	}
	told, err := h.lookAt(others)
	if err != nil {
		return nil, err
	}
	for _, g := range list {
		if without[g.key] >= h.needed || h.isNobodys(g, told[g.key]) {
			gone = append(gone, g)
		} else {
			h.unclear = true
		}
	}
	return gone, nil
}

// lookAt tells of each key what the sources hold it with.
func (h *haunt) lookAt(keys []string) (digests map[string][]string, err error) {
	if len(keys) == 0 {
		return nil, nil
	}
	told, err := onAll(h.sources, func(s *peer) ([]ghost, error) { return s.look(keys, false) })
	if err != nil {
		return nil, err
	}
	digests = make(map[string][]string)
	for _, list := range told {
		for _, g := range list {
			digests[g.key] = append(digests[g.key], g.digest)
		}
	}
	return digests, nil
}

// isNobodys tells of a key, by what the sources hold it with, that nobody can hold it with
// the value that it has. A string is signed by its token, and another one is another's.
func (h *haunt) isNobodys(g ghost, digests []string) bool {
	may := 0 // sources that may hold the same lock, with another count
	held := make(map[string]int)
	for _, d := range digests {
		if d == untold {
			may++
			continue
		}
		if held[d]++; d != g.digest && held[d] >= h.most {
			return true
		}
		if d == g.digest || kindOf(d) != "string" && kindOf(d) == kindOf(g.digest) {
			may++
		}
	}
	return !h.eternalOnly && len(h.sources)-may >= h.needed
}

// look tells what the master holds of the keys, or only of those without a ttl, but for what
// cannot be told from another value on every version of Redis: nothing of that is a lock. Of
// what is too long, or our user may not touch there, the digest is untold.
func (p *peer) look(keys []string, eternalOnly bool) (list []ghost, err error) {
	barred, err := sparing(p, keys, itself, func(keys []string) (err error) {
		list, err = p.lookAllowed(keys, eternalOnly)
		return err
	})
	for key := range barred {
		list = append(list, ghost{key, untold, 0})
	}
	return list, err
}

func (p *peer) lookAllowed(keys []string, eternalOnly bool) (list []ghost, err error) {
	for len(keys) > 0 {
		some, looked, err := p.lookOnce(keys, eternalOnly)
		if err != nil {
			return nil, err
		}
		list, keys = append(list, some...), keys[looked:]
	}
	return list, nil
}

// lookOnce is look at as many of the keys, none of which is forbidden, as fit into one script.
func (p *peer) lookOnce(keys []string, eternalOnly bool) (list []ghost, looked int, err error) {
	only := "0"
	if eternalOnly {
		only = "1"
	}
	a, err := p.call(LookScript, keys, []string{only})
	if err != nil {
		return nil, 0, err
	}
	looked = len(a.Elems) / 2
	if len(a.Elems)%2 != 0 || !within(looked, len(keys)) {
		return nil, 0, p.garbage()
	}
	for i, key := range keys[:looked] {
		digest, ends := a.Elems[2*i].Str, a.Elems[2*i+1].Int
		if digest == untold || slices.Contains(sameEverywhere, kindOf(digest)) {
			list = append(list, ghost{key, digest, ends})
		}
	}
	return list, looked, nil
}

// sameEverywhere are the types of which digests are not made of dumps.
var sameEverywhere = []string{"string", "hash", "set", "zset", "list"}
