package engine

import (
	"errors"
	"slices"
	"strconv"
	"strings"

	"redlock-proxy/quorum"
	"redlock-proxy/quorum/master"
)

// A journaled script is a client's own script, run on each master behind a
// prelude that takes an undo record of what it writes (journal.lua), so that
// the masters can vote on its effect.

// What the flags of a journaled answer say.
const (
	scriptWrote   = 1
	scriptRemoved = 2
	scriptRefused = 4
	scriptBusy    = 8  // a step: it met a latch
	scriptStep    = 16 // the records are of all keys, whatever was done
	scriptTrouble = 32 // the reply is what the master says of itself
	scriptToiled  = 64 // it took more than a thousand steps
)

// journaled is one master's answer to a journaled script.
type journaled struct {
	reply quorum.ScriptReply // Line is 1 where the master could not tell

	// acted: the script did something, or it only removed something and did
	// not say no. To tidy up and then say no is to decline.
	acted bool

	// busy: the step met another proxy's latch, and did nothing.
	busy bool

	// troubled: a command was answered with an error that is about the master, which is
	// the reply then. What a script words like one is its own.
	troubled bool

	// toiled: a client's script took more steps than any for locks does, or one of ours
	// more than a few commands do.
	toiled bool

	undo      []undoRecord // what may be put back: a removal is never, but for that of a step
	found     []undoRecord // of all keys that it has changed
	published []string     // channel, message, channel, message
}

// undoRecord says what a journaled script made of one key, and what it was.
type undoRecord struct {
	key     string
	before  string // dump; "" is absent
	left    int64  // its remaining ttl in milliseconds, or saysNoTTL
	after   string // dump, or the SHA-1 of a long one, or of a string the value
	expires int64  // the remaining ttl afterwards, or saysNoTTL
}

// recordElems is how many elements an undo record takes in a journaled answer.
const recordElems = 5

// readJournal reads {flags, line, shape, n, n undo records, values, published}, all in
// one array.
func readJournal(a master.Answer) (*journaled, bool) {
	e := a.Elems
	if len(e) < 4 || e[0].Kind != quorum.IntegerReply || e[1].Kind != quorum.IntegerReply || e[2].Kind != quorum.BulkReply {
		return nil, false
	}
	flags, line, shape, n := e[0].Int, e[1].Int, e[2].Str, e[3].Int
	e = e[4:]
	if n < 0 || n > int64(len(e)/recordElems) {
		return nil, false
	}
	records := e[:n*recordElems]
	reply, rest, ok := readShape(shape, e[len(records):])
	if !ok || len(rest)%2 != 0 {
		return nil, false
	}
	j := &journaled{
		reply: reply,
		acted: flags&scriptWrote != 0 || flags&scriptRemoved != 0 && !reply.SaysNo(),
		busy:  flags&scriptBusy != 0,

		troubled: flags&scriptTrouble != 0 && reply.Kind == quorum.FailureReply,
		toiled:   flags&scriptToiled != 0,
	}
	if line >= 0 && flags&scriptRefused == 0 {
		j.reply.Line = int(line)
		if line == 0 {
			j.reply.Line = 1
		}
	}
	for ; len(records) > 0; records = records[recordElems:] {
		j.found = append(j.found, undoRecord{
			key:     records[0].Str,
			before:  records[1].Str,
			left:    records[2].Int,
			after:   records[3].Str,
			expires: records[4].Int,
		})
	}
	switch {
	case flags&scriptStep != 0:
		j.undo = j.found
	case flags&scriptWrote != 0:
		for _, r := range j.found {
			if r.after != "" {
				j.undo = append(j.undo, r)
			}
		}
	}
	for _, v := range rest {
		j.published = append(j.published, v.Str)
	}
	return j, true
}

// readShape puts a script's reply together again. The shape has a letter for
// each value: $ string, : integer, t remaining ttl, + status, - error, _ nil,
// and *n; for an array of n; ~n; if that is a set's members, and %n; a map's names and values,
// which masters tell each in an order of its own: they are put into one. It tells apart what a reply within an array would
// not: a status from a string, and a ttl from any other number.
// What is left of the values does not belong to the reply.
func readShape(shape string, values []master.Answer) (r quorum.ScriptReply, rest []master.Answer, ok bool) {
	s := shapeReader{shape: shape, values: values}
	r = s.next(8)
	return r, s.values, !s.bad && s.shape == ""
}

type shapeReader struct {
	shape  string
	values []master.Answer
	bad    bool
}

func (s *shapeReader) next(depth int) quorum.ScriptReply {
	if s.shape == "" || depth == 0 {
		s.bad = true
		return quorum.ScriptReply{}
	}
	letter := s.shape[0]
	s.shape = s.shape[1:]
	switch letter {
	case '_':
		return ofKind(quorum.NilReply, "")
	case '*', '~', '%':
		count, rest, _ := strings.Cut(s.shape, ";")
		n, err := strconv.Atoi(count)
		if err != nil || n < 0 || n > master.MaxReplyElems {
			s.bad = true
			return quorum.ScriptReply{}
		}
		s.shape = rest
		r := ofKind(quorum.ArrayReply, "")
		for range n {
			if s.bad {
				break
			}
			r.Elems = append(r.Elems, s.next(depth-1))
		}
		r.Sort(letter)
		return r
	}
	if len(s.values) == 0 {
		s.bad = true
		return quorum.ScriptReply{}
	}
	value := s.values[0].Str
	s.values = s.values[1:]
	switch letter {
	case '$':
		return ofKind(quorum.BulkReply, value)
	case '+':
		return ofKind(quorum.StatusReply, value)
	case '-':
		return ofKind(quorum.FailureReply, value)
	case ':', 't':
		// Lua's numbers go further than 64 bits: such a one is the nearest that fits.
		n, err := strconv.ParseInt(value, 10, 64)
		s.bad = s.bad || err != nil && !errors.Is(err, strconv.ErrRange)
		return quorum.ScriptReply{Reply: quorum.Reply{Kind: quorum.IntegerReply, Int: n}, Left: letter == 't'}
	}
	s.bad = true
	return quorum.ScriptReply{}
}

func ofKind(kind quorum.ReplyKind, s string) quorum.ScriptReply {
	return quorum.ScriptReply{Reply: quorum.Reply{Kind: kind, Str: s}}
}

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

// judgeScript turns a master's answer to a journaled script into its vote.
func judgeScript(a master.Answer) (quorum.Vote, bool, said) {
	if a.Kind == quorum.FailureReply {
		// It did not run: it cannot be compiled, or the like.
		return quorum.Refused, false, said{journal: &journaled{reply: ofKind(quorum.FailureReply, a.Str)}}
	}
	j, ok := readJournal(a)
	switch {
	case !ok:
		return quorum.Unknown, false, said{}
	case j.trouble() != "":
		return quorum.Unknown, j.acted, said{journal: j}
	case j.acted:
		return quorum.Granted, true, said{journal: j}
	}
	return quorum.Refused, false, said{journal: j}
}

// trouble is what the master says of itself; "" if it says nothing.
func (j *journaled) trouble() string {
	if !j.troubled {
		return ""
	}
	return j.reply.Str
}

// script decides a journaled script: acted and declined are how many masters
// did so with the most frequent reply of its kind.
func (t tally) script(acted, declined int) quorum.Decision {
	blocking := t.masters - t.quorum() + 1
	switch {
	case acted >= t.quorum():
		return quorum.Won
	case declined >= blocking:
		return quorum.Contended
	case t.pending > 0 && (acted+t.pending >= t.quorum() || declined+t.pending >= blocking):
		return quorum.Undecided
	case t.granted+t.refused >= t.quorum():
		return quorum.Split
	case t.pending > 0 && t.granted+t.refused+t.pending >= t.quorum():
		return quorum.Undecided
	}
	return quorum.Unavailable
}

// replies are the most frequent reply of the masters with this vote: one for
// each of those that gave it.
func (o *op) replies(c counted, v quorum.Vote) (most []quorum.ScriptReply) {
	for i := range o.said {
		if c.vote(i) != v || o.said[i].journal.busy {
			continue
		}
		first := o.said[i].journal
		var alike []quorum.ScriptReply
		for j := range o.said {
			if c.vote(j) == v && !o.said[j].journal.busy && o.matches(first, o.said[j].journal) {
				alike = append(alike, o.said[j].journal.reply)
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
func (o *op) matches(j, k *journaled) bool {
	return j.reply.Alike(&k.reply) && (len(j.found) == 0 || o.isStep() || j.sameEffect(k))
}

// runArgv appends the call as a master gets it: by hash if the link knows that the
// master has the script.
func (o *op) runArgv(b []string, link *master.Link) []string {
	s, chunk := formOf(o.Script).runs()
	return o.runArgs(b, s, chunk, link.Knows(s.SHA))
}

func (o *op) runArgs(b []string, s *master.Script, chunk string, known bool) []string {
	if known {
		b = append(b, "EVALSHA", s.SHA)
	} else {
		b = append(b, "EVAL", s.Text)
	}
	b = append(b, strconv.Itoa(len(o.Keys)))
	b = append(b, o.Keys...)
	b = append(b, o.clock[0], o.clock[1])
	if chunk != "" {
		b = append(b, chunk)
	}
	b = append(b, o.Args...)
	if o.Script.Latches {
		b = append(b, o.holder, o.engine.lease())
	}
	return b
}

// releases tells, of a script that would be split, that it is a release: all who acted
// have removed what there was and nothing else, and said the same, and they and those of
// whom nothing is known are a quorum. It is a yes, as it is to a compare-and-delete, and
// not tried again: a removal is never put back, so the next try would be told no.
func (o *op) releases(c counted, alike int) bool {
	t := c.tally(len(o.said))
	if o.isStep() || alike == 0 || alike < t.granted || alike+t.unknown+t.withheld < t.quorum() {
		return false
	}
	for i := range o.said {
		if c.vote(i) == quorum.Granted && len(o.said[i].journal.undo) > 0 {
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
func (o *op) mayBeHeld(c counted) bool {
	t, there := c.tally(len(o.said)), 0
	for i := range o.said {
		if c.vote(i) == quorum.Granted && o.said[i].journal.wasThere() {
			there++
		}
	}
	return there > 0 && there+t.unknown+t.withheld+t.pending >= t.quorum()
}

// wasThere tells that the script has changed or removed what there was.
func (j *journaled) wasThere() bool {
	return len(j.undo) == 0 || j.freed() || slices.ContainsFunc(j.undo, func(r undoRecord) bool { return r.before != "" })
}

// freed tells that the script has removed what there was, which is not put back.
func (j *journaled) freed() bool {
	return slices.ContainsFunc(j.found, func(r undoRecord) bool { return r.before != "" && recordOf(j.undo, r.key) == nil })
}

// hasFreed tells, of a script that is split, that a master has removed for it what others
// may hold. The next try would find nothing there, and be told so:
//
//	1: A takes k on masters 2 and 3, 1 being away; 1 is back, and 2 goes away
//	2: A lets go of it: 3 removes k, and notes that it has under another key; 1 knows of nothing
//	3: the note is put back, and k is not; were they asked once more, both would say that
//	   A did not hold it
func (o *op) hasFreed(c counted) bool {
	for i := range o.said {
		if c.vote(i) == quorum.Granted && o.said[i].journal.freed() {
			return o.mayBeHeld(c)
		}
	}
	return false
}

// scriptResult takes the reply from those who acted if they won, and else from
// those who declined. A split that was tried often enough is answered with a no
// if there is one: those who acted are undone, so that it is true.
func (o *op) scriptResult(c counted, r *quorum.Result) {
	for i := range o.said { // but for what comes yet
		if c.vote(i) != 0 && o.said[i].journal != nil && o.said[i].journal.toiled {
			r.Toiled = true
		}
	}
	r.Toiled = r.Toiled || r.Decision == quorum.Unavailable && c.timeUp()
	from := quorum.Refused
	if r.Decision == quorum.Won {
		from = quorum.Granted
	}
	replies := o.replies(c, from)
	switch {
	case r.Decision == quorum.Unavailable, len(replies) == 0:
		return
	case r.Decision == quorum.Split:
		if c.tally(len(o.said)).granted == 0 || o.mayBeHeld(c) {
			return
		}
		r.Decision = quorum.Contended
	}
	reply := merge(replies, r.Needed)
	r.Script = &reply
}
