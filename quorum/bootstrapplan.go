package quorum

import "fmt"

// What Bootstrap does, by what stands on the masters. It is pure.

// found is what was found on a master: the marker of each database, with no nonce where
// there is none.
type found struct {
	name  string
	who   identity
	marks []marker
	err   error // of one that is no marker
}

func foundOf(name string, who identity, texts []string) found {
	f := found{name: name, who: who}
	for db, text := range texts {
		var m marker
		if text != "" {
			var err error
			if m, err = parseMarker(text); err != nil && f.err == nil {
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
		if m.nonce != "" {
			return false
		}
	}
	return f.err == nil
}

// sight is what lanes would know of the master, whichever database they use.
func (f found) sight() sight {
	s := sight{reached: true, first: true}
	for _, m := range f.marks {
		if m.nonce == "" {
			continue
		}
		votes := !m.nonce.provisional() && (m.RunID == f.who.runID || m.Durable && f.who.durable)
		if s.nonce == "" || votes && !s.votes {
			s.nonce, s.installation, s.votes = m.nonce, m.Installation, votes
		}
		s.first = s.first && m.First
	}
	return s
}

// bootstrapPlan is what is to be done.
type bootstrapPlan struct {
	installation string
	votes        bool // a master of it votes
	complete     bool // all of them are marked in all databases
	proven       bool // one of them has voted at some time, by what stands there
}

// planBootstrap decides it. An error says which master cannot be one of the set.
func planBootstrap(list []found, ours terms) (p bootstrapPlan, err error) {
	sights := make([]sight, len(list))
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
	p.installation, p.votes = stands(sights, names)
	if p.installation == "" {
		p.installation = newInstallation()
	}
	p.complete = true
	for i, f := range list {
		p.proven = p.proven || sights[i].nonce != "" && !sights[i].first
		for db := range f.marks {
			p.complete = p.complete && !p.lacks(f, db)
		}
	}
	return p, nil
}

// unfit says why a master belongs to others.
func (f found) unfit(ours terms) error {
	if f.err != nil {
		return f.err
	}
	for _, m := range f.marks {
		switch {
		case m.nonce == "":
		case !m.terms.equal(ours):
			return &errOtherTerms{theirs: m, ours: ours, name: f.name}
		case m.Changing:
			return errChanging
		case m.Member != f.name && m.RunID == f.who.runID:
			return errTwin(m.Member)
		}
	}
	return nil
}

// lacks tells that a master has no marker of the installation in a database. What another
// member has left there is none.
func (p bootstrapPlan) lacks(f found, db int) bool {
	m := f.marks[db]
	return m.nonce == "" || m.Installation != p.installation || m.Member != f.name
}
