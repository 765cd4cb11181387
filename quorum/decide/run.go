package decide

import (
	"slices"

	"redlock-proxy/quorum"
)

// merge is the reply that stands for several that are alike: of remaining ttls
// the quorum-th largest, which a quorum still holds.
func merge(replies []quorum.ScriptReply, needed int) quorum.ScriptReply {
	r := replies[0]
	if r.Left {
		var l lefts
		for i := range replies {
			l.add(replies[i].Int)
		}
		r.Int = l.held(needed)
	}
	if len(r.Elems) > 0 {
		r.Elems = slices.Clone(r.Elems)
		for i := range r.Elems {
			column := make([]quorum.ScriptReply, len(replies))
			for j := range replies {
				column[j] = replies[j].Elems[i]
			}
			r.Elems[i] = merge(column, needed)
		}
	}
	return r
}

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
func (t tally) script(acted, declined int) quorum.Decision {
	blocking := t.masters - t.Quorum() + 1
	switch {
	case acted >= t.Quorum():
		return quorum.Won
	case declined >= blocking:
		return quorum.Contended
	case t.pending > 0 && (acted+t.pending >= t.Quorum() || declined+t.pending >= blocking):
		return quorum.Undecided
	case t.Granted+t.Refused >= t.Quorum():
		return quorum.Split
	case t.pending > 0 && t.Granted+t.Refused+t.pending >= t.Quorum():
		return quorum.Undecided
	}
	return quorum.Unavailable
}

// replies are the most frequent reply of the masters with this vote: one for
// each of those that gave it.
func (q *Question) replies(c Votes, v quorum.Vote) (most []quorum.ScriptReply) {
	for i := range q.Said {
		if c.Vote(i) != v || q.Said[i].Journal.Busy {
			continue
		}
		first := q.Said[i].Journal
		var alike []quorum.ScriptReply
		for j := range q.Said {
			if c.Vote(j) == v && !q.Said[j].Journal.Busy && q.matches(first, q.Said[j].Journal) {
				alike = append(alike, q.Said[j].Journal.Reply)
			}
		}
		if len(alike) > len(most) {
			most = alike
		}
	}
	return most
}

// matches tells that two masters gave the same reply and, where they acted, may have done the
// same. Of a step the replies alone count: a master that has fallen behind is brought up.
func (q *Question) matches(j, k *Journal) bool {
	return j.Reply.Alike(&k.Reply) && (len(j.Found) == 0 || q.IsStep() || j.sameEffect(k))
}

// releases tells, of a script that would be split, that it is a release: all who acted
// have removed what there was and nothing else, and said the same, and they and those of
// whom nothing is known are a quorum. It is a yes, as it is to a compare-and-delete, and
// not tried again: a removal is never put back, so the next try would be told no.
func (q *Question) releases(c Votes, alike int) bool {
	t := c.Tally(len(q.Said))
	if q.IsStep() || alike == 0 || alike < t.Granted || alike+t.unknown+t.withheld < t.Quorum() {
		return false
	}
	for i := range q.Said {
		if c.Vote(i) == quorum.Granted && len(q.Said[i].Journal.Undo) > 0 {
			return false
		}
	}
	return true
}

// mayBeHeld tells, of a script that is split, that those who acted did so on what was
// there already, and that they and the masters of which nothing is known are a quorum: a
// "no" might tell a holder that its lock is gone.
//
//	1: A locks k with a hash, on masters 1 and 2; 3 is away
//	2: 3 is back, and 1 goes away; A extends: 2 does, 3 knows of nothing, and 1 may
func (q *Question) mayBeHeld(c Votes) bool {
	t, there := c.Tally(len(q.Said)), 0
	for i := range q.Said {
		if c.Vote(i) == quorum.Granted && q.Said[i].Journal.wasThere() {
			there++
		}
	}
	return there > 0 && there+t.unknown+t.withheld+t.pending >= t.Quorum()
}

// HasFreed tells, of a script that is split, that a master has removed for it what others
// may hold. The next try would find nothing there, and be told so:
//
//	1: A takes k on masters 2 and 3, 1 being away; 1 is back, and 2 goes away
//	2: A lets go of it: 3 removes k, and notes that it has under another key; 1 knows of nothing
//	3: the note is put back, and k is not; were they asked once more, both would say that
//	   A did not hold it
func (q *Question) HasFreed(c Votes) bool {
	for i := range q.Said {
		if c.Vote(i) == quorum.Granted && q.Said[i].Journal.freed() {
			return q.mayBeHeld(c)
		}
	}
	return false
}

// tellRun takes the reply from those who acted if they won, and else from
// those who declined. A split that was tried often enough is answered with a no
// if there is one: those who acted are undone, so that it is true.
func (q *Question) tellRun(c Votes, r *quorum.Result) {
	for i := range q.Said { // but for what comes yet
		if c.Vote(i) != 0 && q.Said[i].Journal != nil && q.Said[i].Journal.toiled {
			r.Toiled = true
		}
	}
	r.Toiled = r.Toiled || r.Decision == quorum.Unavailable && c.TimeUp()
	from := quorum.Refused
	if r.Decision == quorum.Won {
		from = quorum.Granted
	}
	replies := q.replies(c, from)
	switch {
	case r.Decision == quorum.Unavailable, len(replies) == 0:
		return
	case r.Decision == quorum.Split:
		if c.Tally(len(q.Said)).Granted == 0 || q.mayBeHeld(c) {
			return
		}
		r.Decision = quorum.Contended
	}
	reply := merge(replies, r.Needed)
	r.Script = &reply
}

// leftIsOpen is lefts.open of each ttl that is told in replies, which are alike.
func leftIsOpen(replies []quorum.ScriptReply, needed, pending int) bool {
	if len(replies) == 0 || !replies[0].TellsLeft() {
		return false
	}
	var l lefts
	if replies[0].Left {
		for i := range replies {
			l.add(replies[i].Int)
		}
		return l.open(needed, pending)
	}
	column := make([]quorum.ScriptReply, len(replies))
	for i := range replies[0].Elems {
		for j := range replies {
			column[j] = replies[j].Elems[i]
		}
		if leftIsOpen(column, needed, pending) {
			return true
		}
	}
	return false
}

func (q *Question) decideRun(c Votes, t tally) quorum.Decision {
	acted := q.replies(c, quorum.Granted)
	declined := q.replies(c, quorum.Refused)
	d := t.script(len(acted), len(declined))
	if d == quorum.Split && q.releases(c, len(acted)) {
		return quorum.Won
	}
	if d == quorum.Contended && leftIsOpen(declined, t.Quorum(), t.pending) {
		return quorum.Undecided
	}
	if d == quorum.Split && t.pending > 0 && q.Leveller(c) >= 0 {
		return quorum.Undecided // a master that has not told its count is heard
	}
	return d
}
