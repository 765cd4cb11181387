package members

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"

	"redlock-proxy/quorum"
	"redlock-proxy/quorum/catchup"
	"redlock-proxy/quorum/marker"
)

// How one set of masters becomes another, while no proxy serves. What is decided is
// here, and pure; what is done is in change.go.
//
// A lock is on a quorum of the old set. N-quorum+1 of its N masters meet every such
// quorum: what they hold is all there is, and without them the old set grants
// nothing more. So
//
//	1: those that are new get a provisional marker of the new set, which says that
//	   it is changing
//	2: so many masters of the old set, or more, have theirs replaced by such a one:
//	   no proxy of the old set counts their votes any more, nor would it ever
//	   overwrite that marker
//	3: every master of the new set is given what the masters of step 2 hold, and when all
//	   have it, those are told so
//	4: all of them get the marker that lets them vote
//
// Those that stay are given it, too. Why: of 1 to 5, A wins k on 3 4 5; the new set
// is 1 2 3; B asks for k, and 1 and 2 grant it.
//
// All that has been done stands in the markers. So it can be begun again after
// whatever ended it, by the same order, which admits nobody who may have voted before:
//
//	1: of 1 2 3 the set 4 5 6 was made, and A wins k on 5 and 6
//	2: 6 loses its memory; the order is given again, and 6 is given what 1 2 3 hold
//	3: B asks for k; 4 and 6 grant
//
// It is left to the proxies, as any master that forgot. Until all is finished proxies of
// the new set refuse to serve. Why a quarantine would not do:
//
//	1: of 1 2 3, which are to become 1 to 5, 1 is marked, and the order is cut off
//	2: a proxy of the new set finds 1 quarantined and 4 5 unmarked, and lets them
//	   vote when max-ttl has passed
//	3: a proxy of the old set has 2 and 3
//
// Masters that leave keep their provisional marker, and are nobody's.

// part is what a server's marker makes of it, in one database, when its set is
// changed: the part that it has in the change.
type part uint8

const (
	blank     part = iota + 1 // no marker, and not of the old set
	remembers                 // of the old set, and holds what it granted there
	lost                      // of the old set, or of the new, and may have lost keys
	kept                      // marked by step 2, and holds what it granted in the old set
	begun                     // marked by step 1 or 2, and has to be given everything
	done                      // marked by step 4
	forgetful                 // may have voted in the new set, and have lost keys since
	left                      // the same, and marked so: it is the proxies'
)

func (p part) String() string {
	switch p {
	case blank:
		return "blank"
	case remembers:
		return "remembers"
	case lost:
		return "lost"
	case kept:
		return "kept"
	case begun:
		return "begun"
	case done:
		return "done"
	case forgetful:
		return "forgetful"
	case left:
		return "left"
	}
	return "unknown"
}

// plan is what is to be changed.
type plan struct {
	old          []string // the names of the old set's masters, sorted
	marker.Terms          // of the new set
	from         string   // the old set's installation; "" before it was seen
	into         string   // the new set's; "" before it was seen
	maxTTL       int64    // the old set's, in milliseconds
	over         bool     // step 3 was finished

	// given are the nonces that the new set's masters bore by then, in each database.
	given [quorum.Databases][]marker.Nonce
}

// needed is how many masters of the old set have to be read.
func (p *plan) needed() int { return catchup.Needed(len(p.old)) }

// aloneFrom is told as the installation of a set of one master, which needs none.
const aloneFrom = "a master alone"

// learn learns what the marker of a server tells of the two sets. All servers are
// learned of before any is judged.
func (p *plan) learn(text string) error {
	if text == "" {
		return nil
	}
	m, err := marker.Parse(text)
	if err != nil {
		return err
	}
	from, into := m.Installation, ""
	switch {
	case m.From != "" && m.Terms.Equal(p.Terms):
		from, into = m.From, m.Installation
	case m.Terms.Equal(p.Terms):
		return nil // by itself it tells nothing of the old set
	case slices.Equal(m.Set, p.old):
		p.maxTTL = max(p.maxTTL, m.MaxTTL)
	default:
		return fmt.Errorf("its marker is of installation %s (%v), which is neither the old set nor the new one", m.Installation, m.Terms)
	}
	if p.from == "" {
		p.from = from
	}
	if p.into == "" {
		p.into = into
	}
	switch {
	case p.from != from:
		return fmt.Errorf("its marker tells of installation %s as the old one, another's of %s", from, p.from)
	case into != "" && p.into != into:
		return fmt.Errorf("its marker tells of installation %s as the new one, another's of %s", into, p.into)
	}
	return nil
}

// learnGiven learns from a marker whether the new set's masters were given everything, once it is
// known which sets they are.
func (p *plan) learnGiven(db int, text string) {
	m, err := marker.Parse(text)
	if err == nil && m.Installation == p.into && m.Terms.Equal(p.Terms) && (m.Given != nil || !m.Changing) {
		p.over = true
		if p.given[db] == nil {
			p.given[db] = m.Given
		}
	}
}

// check tells why the change cannot be, by what was learned.
func (p *plan) check() error {
	switch {
	case len(p.Set) < 2:
		return errors.New("a set of one master has no quorum to change to: let the locks run out, and configure it alone")
	case p.from == "" && len(p.old) > 1 && slices.Equal(p.old, p.Set):
		return errors.New("the old set and the new one are the same, and so are their terms, so there is nothing to change; masters that lack a marker are given one by proxies, or by bootstrap")
	case p.from == "" && len(p.old) > 1:
		return errors.New("no master of the old set has a marker, so it cannot be told what they remember; a set that was never used needs bootstrap and nothing else")
	case p.MaxTTL < p.maxTTL:
		return fmt.Errorf("the old set's max-ttl is %d ms, and the new one's %d ms is less: what a proxy waits for after a loss would be too short for locks that live now; change the set with the old max-ttl",
			p.maxTTL, p.MaxTTL)
	}
	if p.from == "" {
		p.from = aloneFrom
	}
	if p.into == "" {
		p.into = p.follows()
	}
	return nil
}

// follows is the installation that the new set is, drawn from nothing but the old one and
// the new terms: whoever orders the same means the same, also at the same time.
func (p *plan) follows() string {
	sum := sha256.Sum256([]byte(p.from + " " + p.Terms.String()))
	return hex.EncodeToString(sum[:8])
}

// judge tells the part of a server by its marker in a database. old says that it is of the
// old set, and whole that the log is, which it has read if it was started anew.
func (p *plan) judge(text string, who marker.Identity, db int, old, whole bool) (m marker.Marker, is part, err error) {
	if text == "" {
		switch {
		case !old:
			return m, blank, nil
		case len(p.old) == 1:
			return m, remembers, nil // alone it needed no marker
		}
		return m, lost, nil
	}
	if m, err = marker.Parse(text); err != nil {
		return m, 0, err
	}
	same := m.RunID == who.RunID || m.Durable && who.KeptAll() && whole
	// As for a proxy: no other is there to see it.
	same = same && m.Since(who) == "" && (m.DB == db || m.DB == marker.NotTold)
	switch {
	case m.Terms.Equal(p.Terms) && m.Installation == p.into:
		switch {
		case !m.Changing && !(same && !m.Nonce.Provisional()):
			return m, left, nil
		case !same:
			return m, lost, nil
		case !m.Nonce.Provisional():
			return m, done, nil
		case m.Holds:
			return m, kept, nil
		}
		return m, begun, nil
	case m.Terms.Equal(p.Terms):
		return m, 0, fmt.Errorf("it is marked already as one of the new set, by installation %s; if nobody uses that, delete the key %s there", m.Installation, quorum.MarkerKey)
	case !old:
		return m, 0, fmt.Errorf("it has the marker of %s of the old set, and is none of it; if it is new, delete its keys", m.Member)
	case !same, m.Nonce.Provisional():
		return m, lost, nil
	}
	return m, remembers, nil
}

// revised is the part of a server of the new set, if its marker, of that nonce, says it is in
// this one: as of one that has no part yet, or has begun, that may be since it has forgotten
// all. The latter:
//
//	1: two operators give the order; one of them reads that 6 bears no marker, and is held up
//	2: the other's order is finished, and A wins k on 5 and 6
//	3: 6 loses its memory; the first goes on, marks 6, and reads the rest anew
//	4: what 1 2 3 hold is given to 6, and it is admitted
//
// Nor does a log help that was begun in the middle: it may have been switched off before
// the end, and nobody of the old set would know. anew says that the process is another.
func (p *plan) revised(is part, db int, read marker.Nonce, anew bool) part {
	if !p.over {
		return is
	}
	switch is {
	case blank, remembers, lost:
		return forgetful
	case begun, kept:
		if anew || is == begun && !slices.Contains(p.given[db], read) {
			return forgetful
		}
	}
	return is
}

// source tells that a server of the old set in this part holds what it granted
// there.
func (p part) source() bool { return p == remembers || p == kept || p == done }

// marks tells whether a server in this part gets a provisional marker, and whether
// that says that it holds what it granted.
func (p part) marks() (provisional, holds bool) {
	return p == blank || p == remembers || p == lost || p == forgetful, p == remembers
}

// voted tells that there is nothing to be given to a server in this part.
func (p part) voted() bool { return p == done || p == forgetful || p == left }
