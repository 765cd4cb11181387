package engine

import (
	"fmt"
	"strings"
	"time"

	"redlock-proxy/quorum"
	"redlock-proxy/quorum/decide"
)

// What NOQUORUM and the log say of masters that do not vote: how many can at this very
// moment, and what keeps each of the others.

// shortage counts them.
type shortage struct {
	can    int                     // masters whose votes count now
	kept   [quorum.Drained + 1]int // the others, by the state that they are in
	left   time.Duration           // the longest that one of those quarantined or catching up is kept out
	silent int                     // how many have not answered in time
	turn   time.Duration           // how much time there was when the request's turn came, if less than half; else 0
	refuse []refusal               // of those that can, which say that they do not carry a request out
	unsure int                     // and how many may have done it, and are not asked again
	doubt  int                     // and how many of whose answers did not count: a proof did not fit
	all    string                  // what keeps all of them, if none can
}

// refusal is what some masters say of themselves instead of carrying out a command.
type refusal struct {
	text    string
	masters int
}

// shortage is as of now. o is a request that came to nothing, and c the votes on it; nil if
// there is none.
func (db *database) shortage(o *op, c *decide.Votes) (s shortage) {
	for i, l := range db.lanes {
		l.mu.Lock()
		state, left := l.state, time.Duration(0)
		if l.ward != nil {
			left = l.db.QuarantineTime() - l.ward.lasted(l.db.Boot())
		}
		can := l.open && !l.silent()
		l.mu.Unlock()
		switch {
		case can:
		case state == quorum.Voting: // it hangs
			s.silent++
			continue
		default:
			s.kept[state]++
			if state == quorum.Quarantined || state == quorum.CatchingUp { // a drained one waits for LOCK RESUME
				s.left = max(s.left, left)
			}
			continue
		}
		s.can++
		switch {
		case c == nil:
		case o.Without>>i&1 != 0:
			s.unsure++
		case c.Vote(i) == quorum.Unknown && o.Said[i].Refusal() != "":
			s.refused(o.Said[i].Refusal())
		case c.Vote(i) == quorum.Unknown, c.Vote(i) == 0 && c.TimeUp():
			s.silent++
		case c.Vote(i) == quorum.Withheld:
			s.doubt++
		}
	}
	if s.can == 0 {
		s.all = db.hindrance()
	}
	if o != nil && o.attempt == 0 && 2*o.waited() > db.AcquireTimeout {
		s.turn = max(db.AcquireTimeout-o.waited(), time.Millisecond)
	}
	return s
}

// maxRefusal bounds the bytes that are told of what a master says of itself.
const maxRefusal = 120

// refused counts a master that says so. A script's words around it are cut off.
func (s *shortage) refused(text string) {
	text, _, _ = strings.Cut(text, " script: ")
	text = strings.TrimRight(text[:min(len(text), maxRefusal)], ". ")
	for i := range s.refuse {
		if s.refuse[i].text == text {
			s.refuse[i].masters++
			return
		}
	}
	s.refuse = append(s.refuse, refusal{text, 1})
}

// explain has an op's result say what keeps the masters, if that is why it is none.
func (r ruling) explain() quorum.Result {
	result := r.result(r.votes)
	if result.Decision == quorum.Unavailable {
		s := r.db.shortage(r.op, &r.votes)
		result.Voted, result.Why = s.can, s.String()
	} else if result.Decision == quorum.Split {
		result.Why = r.db.shortage(r.op, &r.votes).String()
	}
	return result
}

// String is what keeps the masters: "2 down, 1 quarantined (4m51s left)". It is empty if
// nothing does.
func (s shortage) String() string {
	if s.all != "" {
		return s.all
	}
	var parts []string
	for _, state := range []quorum.State{quorum.Down, quorum.Connecting, quorum.Quarantined, quorum.CatchingUp, quorum.Drained} {
		if n := s.kept[state]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %v", n, state)+s.time(state))
		}
	}
	switch {
	case s.silent > 0 && s.turn > 0:
		parts = append(parts, fmt.Sprintf("%d gave no answer in the %v left when its turn came", s.silent, s.turn.Round(time.Millisecond)))
	case s.silent > 0:
		parts = append(parts, fmt.Sprintf("%d gave no answer in time", s.silent))
	}
	for _, r := range s.refuse {
		parts = append(parts, fmt.Sprintf("%d said %q", r.masters, r.text))
	}
	if s.unsure > 0 {
		parts = append(parts, fmt.Sprintf("%d may have done it already", s.unsure))
	}
	if s.doubt > 0 {
		parts = append(parts, fmt.Sprintf("%d being looked at anew", s.doubt))
	}
	return strings.Join(parts, ", ")
}

// time says how long masters in a state are kept out at most: behind the last of those
// that a quarantine is the reason of.
func (s shortage) time(state quorum.State) string {
	last := quorum.Quarantined
	if s.kept[quorum.CatchingUp] > 0 {
		last = quorum.CatchingUp
	}
	switch {
	case state != last || s.left <= 0:
		return ""
	case s.kept[quorum.Quarantined]+s.kept[quorum.CatchingUp] == 1:
		return fmt.Sprintf(" (%v left)", s.left.Round(time.Second))
	}
	return fmt.Sprintf(" (up to %v left)", s.left.Round(time.Second))
}

// missing is whether there is a quorum, as the log tells it: not for as long as a
// decision may take, so that a connection that is made anew is no news.
type missing struct {
	tried   bool          // it was known once how the masters stand
	since   time.Duration // by our clock, when it went; 0 while it is there
	told    bool
	had     bool   // there was a quorum once
	refused uint64 // requests by then
}

// watchQuorum logs that the quorum is lost, and that it is back. The sweeper calls it.
func (db *database) watchQuorum() {
	if db.unused() {
		return // nobody misses it
	}
	m := &db.missing
	if !m.tried {
		select {
		case <-db.tried:
			m.tried = true
		default:
			return
		}
	}
	now, s := db.Boot(), db.shortage(nil, nil)
	log := db.log
	if !db.isZero() {
		log = db.engine.zero.log.With("database", db.number())
	}
	switch lost := s.can < quorum.QuorumOf(len(db.lanes)); {
	case lost && (m.since == 0 || !m.told && db.toldByRoot()):
		m.since, m.refused = max(now, 1), db.refused()
	case lost && !m.told && now-m.since >= db.tellsAfter(s):
		m.told = true
		text := "there is no quorum: no lock is granted"
		if m.had {
			text = "the quorum is lost: no lock is granted"
		}
		log.Error(text, "can_vote", s.can, "needed", quorum.QuorumOf(len(db.lanes)), "masters", len(db.lanes), "why", s.String())
	case !lost && m.since != 0:
		if m.told {
			text := "there is a quorum"
			if m.had {
				text = "the quorum is back"
			}
			log.Info(text, "can_vote", s.can, "after", (now - m.since).Round(time.Millisecond), "refused", db.refused()-m.refused)
		}
		*m = missing{tried: true, had: true}
	case !lost:
		m.had = true
	}
}

// tellsAfter is for how long the quorum has to be gone before that is told: for as long as a decision
// may take. Where another database than 0 lacks masters that are down, and not ones that have forgotten
// what was there, 0 is about to lack them as well, and is given the time to notice.
func (db *database) tellsAfter(s shortage) time.Duration {
	ownLoss := s.kept[quorum.Quarantined] + s.kept[quorum.CatchingUp]
	if n := len(db.lanes); db.isZero() || n-ownLoss < quorum.QuorumOf(n) {
		return db.AcquireTimeout
	}
	return db.AcquireTimeout + db.ProbeInterval + db.MasterTimeout
}

// toldByRoot tells that database 0 has no quorum either: one line is enough.
func (db *database) toldByRoot() bool {
	return !db.isZero() && db.engine.zero.shortage(nil, nil).can < quorum.QuorumOf(len(db.lanes))
}

// refused is how many requests were answered with NOQUORUM, by database 0 for all.
func (db *database) refused() (n uint64) {
	of := []*database{db}
	if db.isZero() {
		of = append(of, db.engine.opened()...)
	}
	for _, db := range of {
		for k := range db.decisions {
			n += db.decisions[k][quorum.Unavailable].Load()
		}
	}
	return n
}
