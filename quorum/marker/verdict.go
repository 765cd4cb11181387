package marker

import (
	"fmt"
)

// Verdict is what a master's marker makes of it.
type Verdict uint8

const (
	Trusted   Verdict = iota + 1 // it remembers, and may vote
	Waiting                      // it is quarantined already
	Unmarked                     // there is no marker, and no master of its set votes
	Foreign                      // it is of another installation with the same terms
	Emptied                      // it has lost the keys of this database, or may have
	Restarted                    // its process is another, which may know nothing of what was granted
	Forgot                       // it has lost keys in any database, or may have
	Excused                      // it was started anew, and had everything on disk
	Outdated                     // it has come back with what it held before the set was changed
)

// A marker that is gone tells of its database alone: FLUSHDB leaves the others as they
// were. Everything else is about the whole master, whichever database shows it, and
// however few of them are in use at the moment:
//
//	1: A wins k in database 1, on masters 1 and 2; then clients use database 0 alone
//	2: the clock of 1 is set an hour ahead, and it forgets k; 1 is quarantined in
//	   database 0, and admitted when it has caught up there; then the same becomes of 2
//	3: B asks for k in database 1, of masters whose markers there know of nothing

// Examine tells what a master's marker makes of it: text, "" if there is none, in a database of
// the server who, which is called member here. ours are the terms that this proxy is configured
// with, installation is the one that it serves, "" before the first marker was seen, and from
// the one of which that was made by change-masters, "" if it is not known. why is told
// of a master that forgot. An error means that the master is not ours to touch.
func Examine(text string, who Identity, member string, db int, ours Terms, installation, from string) (m Marker, v Verdict, why string, err error) {
	if text == "" {
		if installation == "" {
			return m, Unmarked, "", nil
		}
		return m, Emptied, "its marker is gone", nil
	}
	if m, err = Parse(text); err != nil {
		return m, 0, "", err
	}
	switch {
	case m.OfAnEarlier(who) && from != "" && m.Installation == from:
		return m, Outdated, "it has come back with what it held before its set was changed", nil
	case !m.Terms.Equal(ours):
		return m, 0, "", &OtherTerms{Theirs: m, Ours: ours, Name: member}
	case m.OfAnEarlier(who) && m.Changing && m.Installation == installation:
		return m, Restarted, "it has come back with what it held while its set was changed", nil
	case m.Changing:
		return m, 0, "", ErrChanging
	case installation != "" && m.Installation != installation:
		return m, Foreign, "", nil
	case m.Member != member && m.RunID == who.RunID:
		return m, 0, "", Twin(m.Member)
	case m.Member != member: // what it holds was another's
		return m, Forgot, "its marker is that of " + m.Member, nil
	case m.DB != db && m.DB != NotTold:
		return m, Forgot, fmt.Sprintf("its marker is that of database %d: they were swapped", m.DB), nil
	case m.Since(who) != "":
		return m, Forgot, m.Since(who), nil
	case m.Nonce.Provisional() && m.RunID == who.RunID:
		return m, Waiting, m.Why, nil
	case m.RunID == who.RunID:
		return m, Trusted, "", nil
	case (m.Durable || db != 0) && who.KeptAll() && !m.Nonce.Provisional(): // database 0 tells for all
		return m, Excused, "", nil
	}
	// Also of a provisional marker: it may be in a dump of long ago, or in a log that was
	// switched off, and the master may have been admitted and have voted since.
	return m, Restarted, "its process was started anew", nil
}
