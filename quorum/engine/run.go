package engine

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"redlock-proxy/quorum"
	"redlock-proxy/quorum/clock"
	"redlock-proxy/quorum/journal"
	"redlock-proxy/quorum/master"
)

// A run is a journaled script: what a lost one has made of its keys is put back, and who has
// missed something is brought up to what a quorum has made of them. One that latches its keys is
// a step; see step.go.

var runKind = kind{undoable: true, dated: true}

// prepareRun has the script be one that was called now, and gives it the time of day; none is an
// error where the script asks for it.
func (o *op) prepareRun() {
	journal.FormOf(o.Script).Called(time.Now())
	o.clock = [2]string{}
	if now, known := o.db.now(); known {
		o.clock = [2]string{strconv.FormatInt(now.Unix(), 10), strconv.Itoa(now.Nanosecond() / 1000)}
	}
	if o.left = leftUntil(o.ends, o.put); o.holds {
		o.left = journal.Hold + o.left
	}
}

// leftUntil is how long it is from now until each time, in milliseconds, at least 1; 0 of none.
func leftUntil(ends []time.Time, now time.Time) string {
	var b []byte
	for i, end := range ends {
		if i > 0 {
			b = append(b, ' ')
		}
		n := int64(0)
		if !end.IsZero() {
			n = clock.Milliseconds(end.Sub(now))
		}
		b = strconv.AppendInt(b, n, 10)
	}
	return string(b)
}

// endsFound are when the ttls of the keys end that a step has found.
func (r ruling) endsFound() []time.Time {
	ends := make([]time.Time, len(r.keys()))
	for i, key := range r.keys() {
		if left := r.Left(r.votes, key); left > 0 {
			ends[i] = r.now.Add(left)
		}
	}
	return ends
}

// runArgv appends the call as a master gets it: by hash if the link knows that the
// master has the script.
func (o *op) runArgv(b []string, link *master.Link) []string {
	s, chunk := journal.FormOf(o.Script).Runs()
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
		b = append(b, o.left, o.holder, o.db.lease())
	}
	return b
}

// saying is a script and what it has said on master i, see quorum.ScriptReply.SaysAs; 0 of a list.
func (o *op) saying(i int) saying {
	j := o.Said[i].Journal
	if o.Kind != quorum.Run || j == nil || j.Reply.Kind == quorum.ArrayReply {
		return 0
	}
	said := uint64(1) // nil
	if j.Reply.Left {
		said = 2
	} else if word, ok := j.Reply.Word(); ok {
		said = o.db.hash(word)>>32 | 4
	}
	return saying(o.db.hash(o.Script.Text)<<32 | said)
}

// names are hashes of the texts by which a lock may be known as its client's: of a token, or of
// all arguments of a script but numbers of up to nine digits, which are ttls, limits and the like.
// They are not known, and all 0, if there is none such, or there are more, or it may be a key. In
// a command of Redis's its words are none, nor is the key.
type names [3]uint32

func (n *names) known() bool { return n[0] != 0 }

// strangers tells that two have no name in common.
func (n *names) strangers(m *names) bool {
	return n.known() && m.known() && !slices.ContainsFunc(n[:], func(name uint32) bool {
		return name != 0 && slices.Contains(m[:], name)
	})
}

// plainWords are of the commands by which a transaction asks for a lock, and of what it watches.
var plainWords = strings.Fields("SET SETNX GET EXISTS NX XX EX PX EXAT PXAT EXPIRE PEXPIRE TTL PTTL string absent")

func (o *op) names() (n names) {
	texts := o.Args
	if o.Kind == quorum.Acquire {
		texts = []string{o.Token}
	}
	if len(o.Keys) > 1 {
		return n
	}
	known := n[:0]
	for _, text := range texts {
		if _, err := strconv.Atoi(text); err == nil && len(text) < 10 {
			continue
		}
		if o.isOurStep() && (text == o.Key || slices.ContainsFunc(plainWords, func(word string) bool { return strings.EqualFold(text, word) })) {
			continue
		}
		if len(known) == len(n) {
			return names{}
		}
		known = append(known, max(1, uint32(o.db.hash(text)>>32)))
	}
	return n
}

// lostOn is what is known of the op, which is lost, and was carried out by master i.
func (r ruling) lostOn(i int) lost {
	l := lost{minor: r.minor(), names: r.names()}
	if r.Kind != quorum.Run {
		return l
	}
	acted, denied := r.saying(i), saying(0)
	l.script, l.acted = acted>>32<<32, acted
	for j := range r.db.lanes {
		if r.votes.Vote(j) != quorum.Refused {
			continue
		}
		if said := r.saying(j); denied == 0 {
			denied = said
		} else if denied != said {
			return l
		}
	}
	if denied != 0 && denied != acted {
		l.script = denied
	}
	return l
}

// replaces tells max-hold of the keys that hold something else on a quorum since a script was won.
func (r ruling) replaces() {
	for _, key := range r.allTouched() {
		n := 0
		for i := range r.Said {
			if r.votes.Vote(i) != quorum.Granted {
				continue
			}
			if record := r.Said[i].Journal.Record(key); record != nil && !record.LivesOn() {
				n++
			}
		}
		if n >= quorum.QuorumOf(len(r.Said)) {
			r.db.heldLocks.Forget(key)
		}
	}
}

// hasRun is what follows from a script. It tells whether its asker waits for more.
func (r ruling) hasRun() (waits bool) {
	d := r.votes.Decision()
	for i := range r.db.lanes {
		if d != quorum.Won {
			r.putBack(i)
			continue
		}
		r.bringUp(i)
		r.give(i)
	}
	if d == quorum.Split {
		r.db.splits.Add(1)
		if r.votes.Tally(len(r.db.lanes)).Granted > 0 && !r.HasFreed(r.votes) && r.triesAgain() {
			return true
		}
	}
	r.announce()
	return false
}
