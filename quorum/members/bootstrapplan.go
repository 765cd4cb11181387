package members

import (
	"fmt"

	"redlock-proxy/quorum/marker"
)

// What Bootstrap does, by what stands on the masters. It is pure.

// found is what was found on a master: the marker of each database, with no nonce where
// there is none.
type found struct {
	name  string
	who   marker.Identity
	marks []marker.Marker
	err   error // of one that is no marker
}

func foundOf(name string, who marker.Identity, texts []string) found {
	f := found{name: name, who: who}
	for db, text := range texts {
		var m marker.Marker
		if text != "" {
			var err error
			if m, err = marker.Parse(text); err != nil && f.err == nil {
				f.err = fmt.Errorf("database %d: %w", db, err)
			}
		}
		f.marks = append(f.marks, m)
	}
	return f
}

// blank tells that there is no marker in any database.
func (f found) blank() bool {
	for _, m := range f.marks {
		if m.Nonce != "" {
			return false
		}
	}
	return f.err == nil
}

// sight is what lanes would know of the master, whichever database they use.
func (f found) sight() marker.Sight {
	s := marker.Sight{Reached: true, First: true}
	for _, m := range f.marks {
		if m.Nonce == "" {
			continue
		}
		votes := !m.Nonce.Provisional() && (m.RunID == f.who.RunID || m.Durable && f.who.Durable)
		if s.Nonce == "" || votes && !s.Votes {
			s.Nonce, s.Installation, s.Votes = m.Nonce, m.Installation, votes
		}
		s.First = s.First && m.First
	}
	return s
}

// bootstrapPlan is what is to be done.
type bootstrapPlan struct {
	installation string
	votes        bool // a master of it votes
	complete     bool // all of them are marked in all databases
	proven       bool // one of them has voted at some time, by what stands there

	// sworn is the operator's word that no locks are held, where it counts: before any
	// master has voted. The first markers tell of it, so that an order that was cut off
	// between the votes that it gave can be given again:
	//
	//	1: bootstrap --no-locks-held lets master 1 vote, and is cut off
	//	2: proxies let 2 vote, when max-ttl has passed, and A wins k on 1 and 2
	//	3: the order is given again, and 3, whose marker tells of the word, votes
	//
	// A master that bears such a one has not voted since, and can have forgotten nothing that
	// was granted since: who has voted and forgets is given another marker. But what a new
	// process bears may be of its past.
	sworn bool
	begun []string // masters that bear it, while others vote
}

// planBootstrap decides it. sworn says that no locks are held. An error says which master
// cannot be one of the set.
func planBootstrap(list []found, ours marker.Terms, sworn bool) (p bootstrapPlan, err error) {
	sights := make([]marker.Sight, len(list))
	names := make([]string, len(list))
	for i, f := range list {
		sights[i], names[i] = f.sight(), f.name
		if err := f.unfit(ours); err != nil {
			return p, fmt.Errorf("master %s: %w", f.name, err)
		}
		if len(f.marks) != len(list[0].marks) {
			return p, fmt.Errorf("master %s: it has %d databases, and %s has %d: set databases alike", f.name, len(f.marks), names[0], len(list[0].marks))
		}
	}
	p.installation, p.votes = marker.Stands(sights, names)
	if p.installation == "" {
		p.installation = marker.NewInstallation()
	}
	for i := range list {
		p.proven = p.proven || sights[i].Nonce != "" && !sights[i].First
	}
	p.sworn = sworn && !p.votes && !p.proven
	p.complete = true
	for _, f := range list {
		waits := false
		for db := range f.marks {
			p.complete = p.complete && !p.lacks(f, db)
			waits = waits || p.waits(f, db)
		}
		if waits {
			p.begun = append(p.begun, f.name)
		}
	}
	return p, nil
}

// waits tells that a master was to be let vote in a database when an order was cut off, and
// has not voted there since.
func (p bootstrapPlan) waits(f found, db int) bool {
	m := f.marks[db]
	return p.votes && m.Sworn && m.Nonce.Provisional() && !p.lacks(f, db) &&
		m.RunID == f.who.RunID && m.DB == db && m.Since(f.who) == ""
}

// unfit says why a master belongs to others.
func (f found) unfit(ours marker.Terms) error {
	if f.err != nil {
		return f.err
	}
	for _, m := range f.marks {
		switch {
		case m.Nonce == "":
		case !m.Terms.Equal(ours):
			return &marker.OtherTerms{Theirs: m, Ours: ours, Name: f.name}
		case m.Changing:
			return marker.ErrChanging
		case m.Member != f.name && m.RunID == f.who.RunID:
			return marker.Twin(m.Member)
		}
	}
	return nil
}

// lacks tells that a master has no marker of the installation in a database, or none that
// tells of the operator's word. What another member has left there is none.
func (p bootstrapPlan) lacks(f found, db int) bool {
	m := f.marks[db]
	return m.Nonce == "" || m.Installation != p.installation || m.Member != f.name || p.sworn && !m.Sworn
}

// stage is how far a master has come.
func (p bootstrapPlan) stage(f found) stage {
	is := mayVote
	for _, m := range f.marks {
		switch {
		case m.Nonce == "" || m.Installation != p.installation || m.Member != f.name:
			return notMarked
		case m.Nonce.Provisional() || m.RunID != f.who.RunID:
			is = isMarked
		}
	}
	return is
}
