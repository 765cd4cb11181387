package decide

import (
	"slices"
	"strconv"
	"strings"

	"redlock-proxy/quorum"
	"redlock-proxy/quorum/clock"
	"redlock-proxy/quorum/dump"
)

// A journaled script, a client's or ours, is run on each master behind a prelude that takes an
// undo record of what it writes (package journal), so that the masters can vote on its effect.

// What the flags of a journaled answer say.
const (
	FlagWrote   = 1  // it has changed what there was, or made something
	FlagRemoved = 2  // it has removed something
	flagRefused = 4  // the prelude has refused what it asked for
	FlagBusy    = 8  // a step: it met a latch
	FlagStep    = 16 // the records are of all keys, whatever was done
	flagTrouble = 32 // the reply is what the master says of itself
	flagToiled  = 64 // it took more than a thousand steps

	flagReached = 128 // it has used keys that it was not given
	FlagLatched = 256 // a step: it has latched its keys
	FlagCalm    = 512 // a step: the last element tells for how many milliseconds each of its keys is calm, and its trail
)

// RecordElems is how many elements an undo record takes in a journaled answer.
const RecordElems = 5

// Journal is one master's answer to a journaled script.
type Journal struct {
	Reply quorum.ScriptReply // Line is 1 where the master could not tell

	// Acted: the script did something, or it only removed something and did
	// not say no. To tidy up and then say no is to decline.
	Acted bool

	// Busy: the step met another proxy's latch, and did nothing.
	Busy bool

	// Latched: the step has latched its keys.
	Latched bool

	// troubled: a command was answered with an error that is about the master, which is
	// the reply then. What a script words like one is its own.
	troubled bool

	// toiled: a client's script took more steps than any for locks does, or one of ours
	// more than a few commands do.
	toiled bool

	ran     bool // what it has done is known
	reached bool // it has used keys that it was not given

	Undo      []UndoRecord // what may be put back: a removal is never, but for that of a step
	Found     []UndoRecord // of all keys that it has changed
	Published []string     // channel, message, channel, message
}

// readJournal reads {flags, line, shape, n, n undo records, values, published, calm}, all in
// one array.
func readJournal(a Answer) (*Journal, bool) {
	e := a.Elems
	if len(e) < 4 || e[0].Kind != quorum.IntegerReply || e[1].Kind != quorum.IntegerReply || e[2].Kind != quorum.BulkReply {
		return nil, false
	}
	flags, line, shape, n := e[0].Int, e[1].Int, e[2].Str, e[3].Int
	e = e[4:]
	var calm []string
	if flags&FlagCalm != 0 && len(e) > 0 {
		calm, e = strings.Fields(e[len(e)-1].Str), e[:len(e)-1]
	}
	if n < 0 || n > int64(len(e)/RecordElems) {
		return nil, false
	}
	records := e[:n*RecordElems]
	reply, rest, ok := readShape(shape, e[len(records):])
	if !ok || len(rest)%2 != 0 {
		return nil, false
	}
	j := &Journal{
		Reply: reply,
		// What a step removes can be put back, and it has latched its keys for that.
		Acted: flags&FlagWrote != 0 || flags&FlagRemoved != 0 && (flags&FlagStep != 0 || !reply.SaysNo()),
		Busy:  flags&FlagBusy != 0,

		Latched: flags&FlagLatched != 0,

		troubled: flags&flagTrouble != 0 && reply.Kind == quorum.FailureReply,
		toiled:   flags&flagToiled != 0,
		ran:      true,
		reached:  flags&flagReached != 0,
	}
	if line >= 0 && flags&flagRefused == 0 {
		j.Reply.Line = int(line)
		if line == 0 {
			j.Reply.Line = 1
		}
	}
	for ; len(records) > 0; records = records[RecordElems:] {
		j.Found = append(j.Found, UndoRecord{
			Key:     records[0].Str,
			Before:  records[1].Str,
			Left:    near(records[2].Int),
			After:   records[3].Str,
			Expires: near(records[4].Int),
		})
	}
	for i := 0; len(calm) == len(j.Found) && i < len(calm); i++ {
		text, way, _ := strings.Cut(calm[i], "/")
		text, emptied := strings.CutPrefix(text, "-")
		if ms, err := strconv.ParseInt(text, 10, 64); err == nil {
			r := &j.Found[i]
			r.Calm, r.Emptied = clock.OfMilliseconds(ms), emptied
			r.Trail, r.Mark = readTrail(way)
		}
	}
	switch {
	case flags&FlagStep != 0:
		j.Undo = j.Found
	case flags&FlagWrote != 0:
		for _, r := range j.Found {
			if r.After != "" {
				j.Undo = append(j.Undo, r)
			}
		}
	}
	for _, v := range rest {
		j.Published = append(j.Published, v.Str)
	}
	return j, true
}

// Declined tells that the script is known to have done nothing at all.
func (j *Journal) Declined() bool {
	return j != nil && j.ran && !j.Acted && !slices.ContainsFunc(j.Found, func(r UndoRecord) bool { return r.Changed() })
}

// tidied tells of a script that has declined that it has changed something all the same.
func (j *Journal) tidied() bool { return j.ran && !j.Declined() }

// KeptToItsKeys tells that the script is known to have used no keys but those that it was given.
func (j *Journal) KeptToItsKeys() bool { return j != nil && j.ran && !j.reached }

// trouble is what the master says of itself; "" if it says nothing.
func (j *Journal) trouble() string {
	if !j.troubled {
		return ""
	}
	return j.Reply.Str
}

// wasThere tells that the script has changed or removed what there was.
func (j *Journal) wasThere() bool {
	return len(j.Undo) == 0 || j.freed() || slices.ContainsFunc(j.Undo, func(r UndoRecord) bool { return r.Before != "" })
}

// freed tells that the script has removed what there was, which is not put back.
func (j *Journal) freed() bool {
	return slices.ContainsFunc(j.Found, func(r UndoRecord) bool { return r.Before != "" && RecordOf(j.Undo, r.Key) == nil })
}

// sameEffect tells that two masters, which have acted, may have made the same of all keys.
func (j *Journal) sameEffect(k *Journal) bool {
	return !slices.ContainsFunc(j.Found, func(r UndoRecord) bool {
		s := RecordOf(k.Found, r.Key)
		return s != nil && r.Differs(s)
	})
}

// sameChanges is sameEffect of a step, of which records are of all keys that it was given, as to
// those that one of the two has changed. Of a list it is to be known that they have made the same,
// and what one alone has written to they have not.
func (j *Journal) sameChanges(k *Journal) bool {
	alone := func(one, other *Journal) bool {
		return slices.ContainsFunc(one.Found, func(r UndoRecord) bool { return r.Changed() && RecordOf(other.Found, r.Key) == nil })
	}
	return !alone(j, k) && !alone(k, j) && !slices.ContainsFunc(j.Found, func(r UndoRecord) bool {
		s := RecordOf(k.Found, r.Key)
		switch {
		case s == nil || !r.Changed() && !s.Changed():
			return false
		case r.apart(s):
			return true
		case dump.IsList(r.After) && dump.IsList(s.After):
			return !dump.SameList(r.After, s.After)
		}
		return r.Differs(s)
	})
}

// Record is what a journaled script made of a key, nil if it is not known.
func (j *Journal) Record(key string) *UndoRecord { return RecordOf(j.Undo, key) }

// Records are the undo records of a journal, if there is one.
func (j *Journal) Records() []UndoRecord {
	if j == nil {
		return nil
	}
	return j.Undo
}
