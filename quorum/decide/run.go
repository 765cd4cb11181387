package decide

import (
	"slices"
	"time"

	"redlock-proxy/quorum"
	"redlock-proxy/quorum/clock"
)

// A run is a script, the client's or ours, that each master runs with an undo record of what it
// writes; see journal.go. Who granted it has acted, who refused it has declined.

// judgeRun turns a master's answer to a journaled script into its vote.
func judgeRun(a Answer) (quorum.Vote, bool, Said) {
	if a.Kind == quorum.FailureReply {
		// It did not run: it cannot be compiled, or the like.
		return quorum.Refused, false, Said{Journal: &Journal{Reply: ofKind(quorum.FailureReply, a.Str)}}
	}
	j, ok := readJournal(a)
	switch {
	case !ok:
		return quorum.Unknown, false, Said{}
	case j.trouble() != "":
		return quorum.Unknown, j.Acted, Said{Journal: j}
	case j.Acted:
		return quorum.Granted, true, Said{Journal: j}
	}
	return quorum.Refused, false, Said{Journal: j}
}

// script decides a journaled script: acted and declined are how many masters
// did so with the most frequent reply of its kind.
func (t Tally) script(acted, declined int) quorum.Decision {
	switch {
	case acted >= t.Quorum():
		return quorum.Won
	case declined >= t.blocking():
		return quorum.Contended
	case t.pending > 0 && (acted+t.pending >= t.Quorum() || declined+t.pending >= t.blocking()):
		return quorum.Undecided
	case t.Granted+t.Refused >= t.Quorum():
		return quorum.Split
	case t.pending > 0 && t.Granted+t.Refused+t.pending >= t.Quorum():
		return quorum.Undecided
	}
	return quorum.Unavailable
}

func (c *counted) decideRun() quorum.Decision {
	if c.Script.Heard && c.pending > 0 {
		return quorum.Undecided
	}
	acted := c.replies(quorum.Granted)
	declined := c.replies(quorum.Refused)
	d := c.script(len(acted), len(declined))
	if d == quorum.Split && c.releases(len(acted)) {
		return quorum.Won
	}
	if d == quorum.Contended && leftIsOpen(declined, c.Quorum(), c.pending) {
		return quorum.Undecided
	}
	if d == quorum.Split && c.pending > 0 && (c.GivesBack || c.Leveller(c.Votes) >= 0) {
		return quorum.Undecided // nobody waits for what is given back, so who is late is not left out of it; or tells its count
	}
	return d
}

// replies are the most frequent reply of the masters with this vote: one for
// each of those that gave it. They are alike where, besides, those who acted may have done the
// same.
func (c *counted) replies(v quorum.Vote) (most []quorum.ScriptReply) {
	notBusy := func(s *Said) bool { return !s.Journal.Busy }
	alike := func(s, other *Said) bool {
		j, k := s.Journal, other.Journal
		switch {
		case !j.Reply.Alike(&k.Reply):
			return false
		case len(j.Found) == 0:
			return true
		case !c.IsStep():
			return j.sameEffect(k)
		}
		return v == quorum.Refused || j.sameChanges(k)
	}
	first, n := c.most(v, notBusy, alike)
	for i := range c.Said {
		if n > 0 && c.Vote(i) == v && notBusy(&c.Said[i]) && alike(&first, &c.Said[i]) {
			most = append(most, c.Said[i].Journal.Reply)
		}
	}
	return most
}

// releases tells, of a script that would be split, that it is a release: all who acted
// have removed what there was and nothing else, and said the same, and they and those of
// whom nothing is known are a quorum. It is a yes, as it is to a compare-and-delete, and
// not tried again: a removal is never put back, so the next try would be told no.
func (c *counted) releases(alike int) bool {
	return !c.IsStep() && alike > 0 && alike >= c.Granted && alike+c.unknown+c.withheld >= c.Quorum() &&
		c.count(quorum.Granted, func(s *Said) bool { return len(s.Journal.Undo) > 0 }) == 0
}

// mayBeHeld tells, of a script that is split, that those who acted did so on what was
// there already, and that they and the masters of which nothing is known are a quorum: a
// "no" might tell a holder that its lock is gone.
//
//	1: A locks k with a hash, on masters 1 and 2; 3 is away
//	2: 3 is back, and 1 goes away; A extends: 2 does, 3 knows of nothing, and 1 may
func (c *counted) mayBeHeld() bool {
	there := c.count(quorum.Granted, func(s *Said) bool { return s.Journal.wasThere() })
	return there > 0 && there+c.unknown+c.withheld+c.pending >= c.Quorum()
}

// HasFreed tells, of a script that is split, that a master has removed for it what others
// may hold. The next try would find nothing there, and be told so:
//
//	1: A takes k on masters 2 and 3, 1 being away; 1 is back, and 2 goes away
//	2: A lets go of it: 3 removes k, and notes that it has under another key; 1 knows of nothing
//	3: the note is put back, and k is not; were they asked once more, both would say that
//	   A did not hold it
func (q *Question) HasFreed(v Votes) bool {
	c := q.counted(v)
	return c.count(quorum.Granted, func(s *Said) bool { return s.Journal.freed() }) > 0 && c.mayBeHeld()
}

// tellRun takes the reply from those who acted if they won, and else from
// those who declined. A split that was tried often enough is answered with a no
// if there is one: those who acted are undone, so that it is true. What those say as well who
// acted is none: a script may say yes, and do nothing, where the lock is its client's already. Nor is
// that of a step, which may be no more than a master's that has something left which no quorum has:
//
//	1: SADD s x is done by master 1 alone, which does not answer: nobody knows
//	2: it is said again; 1 has x already, 2 adds it, 3 is away
func (c *counted) tellRun(r *quorum.Result) {
	for i := range c.Said { // but for what comes yet
		if c.Vote(i) != 0 && c.Said[i].Journal != nil {
			r.Toiled = r.Toiled || c.Said[i].Journal.toiled
			r.Others = c.others(r.Others, c.Said[i].Journal)
			r.Tidied = r.Tidied || c.HasTidied(c.Votes, i)
		}
	}
	r.Toiled = r.Toiled || r.Decision == quorum.Unavailable && c.TimeUp()
	from := quorum.Refused
	if r.Decision == quorum.Won {
		from = quorum.Granted
	}
	replies := c.replies(from)
	switch {
	case r.Decision == quorum.Unavailable, len(replies) == 0:
		return
	case r.Decision == quorum.Split:
		if c.Granted == 0 || c.IsStep() || c.mayBeHeld() || c.saidByWhoActed(&replies[0]) {
			return
		}
		r.Decision = quorum.Contended
	}
	reply := merge(replies, r.Needed)
	r.Script = &reply
	if r.Decision == quorum.Won {
		r.TTL = c.given()
	}
}

// HasTidied tells that master i has said no to a script, and has removed something all the same.
func (q *Question) HasTidied(v Votes, i int) bool {
	return q.Kind == quorum.Run && v.Vote(i) == quorum.Refused && q.Said[i].Journal != nil && q.Said[i].Journal.tidied()
}

// others adds to keys those that a script was not given and has written to.
func (c *counted) others(keys []string, j *Journal) []string {
	if !j.reached {
		return keys
	}
	for i := range j.Found {
		if key := j.Found[i].Key; !slices.Contains(c.Keys, key) && !slices.Contains(keys, key) {
			keys = append(keys, key)
		}
	}
	return keys
}

// given is the ttl that a script has given its key, see quorum.Result.
func (c *counted) given() time.Duration {
	for i := range c.Said {
		if c.Vote(i) != quorum.Granted {
			continue
		}
		switch u := RecordOf(c.Said[i].Journal.Found, c.Key); {
		case u == nil || u.Expires == SaysAbsent:
		case u.Expires < 0:
			return quorum.NoTTL
		case u.Left >= u.Expires && u.Left-u.Expires <= unchanged:
			return quorum.SameTTL
		default:
			return clock.Asked(clock.OfMilliseconds(u.Expires))
		}
	}
	return 0
}

// unchanged is by how much less a ttl is, in milliseconds, that a script has left as it was.
const unchanged = 5

// saidByWhoActed tells that a master which has acted has said the same.
func (c *counted) saidByWhoActed(reply *quorum.ScriptReply) bool {
	return c.count(quorum.Granted, func(s *Said) bool { return s.Journal.Reply.SaysAs(reply) }) > 0
}

// merge is the reply that stands for several that are alike: of remaining ttls
// the quorum-th largest, which a quorum still holds.
func merge(replies []quorum.ScriptReply, needed int) quorum.ScriptReply {
	r := replies[0]
	if r.Left {
		l := leftsOf(replies)
		r.Int = l.held(needed)
	}
	r.Elems = slices.Clone(r.Elems)
	for i := range r.Elems {
		r.Elems[i] = merge(elemsOf(replies, i), needed)
	}
	return r
}

// leftIsOpen is lefts.open of each ttl that is told in replies, which are alike.
func leftIsOpen(replies []quorum.ScriptReply, needed, pending int) bool {
	if len(replies) == 0 || !replies[0].TellsLeft() {
		return false
	}
	if replies[0].Left {
		l := leftsOf(replies)
		return l.open(needed, pending)
	}
	for i := range replies[0].Elems {
		if leftIsOpen(elemsOf(replies, i), needed, pending) {
			return true
		}
	}
	return false
}

// leftsOf are the ttls that replies are.
func leftsOf(replies []quorum.ScriptReply) (l lefts) {
	for i := range replies {
		l.add(replies[i].Int)
	}
	return l
}

// elemsOf are what replies, which are arrays of equally many, have at i.
func elemsOf(replies []quorum.ScriptReply, i int) []quorum.ScriptReply {
	elems := make([]quorum.ScriptReply, len(replies))
	for j := range replies {
		elems[j] = replies[j].Elems[i]
	}
	return elems
}
