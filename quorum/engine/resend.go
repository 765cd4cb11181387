package engine

import (
	"slices"
	"time"

	"github.com/redis/rueidis"

	"redlock-proxy/quorum"
	"redlock-proxy/quorum/master"
)

// A master forgets our scripts when somebody says SCRIPT FLUSH to it. They are
// loaded again, and what was refused with NOSCRIPT is sent once more. So are reads that
// together have asked for more than there is room for, a few at a time.

// again is what is sent once more: what a master refused with NOSCRIPT, which was not
// carried out, and reads of which the answers were left out, see master.Room.
type again struct {
	unscripted bool // some of it was refused
	errands    []errand
	ops        []*op
	lengths    []int // of the answers that were left out; 0 of what was refused
}

// add has an op be sent once more.
func (a *again) add(o *op, length int) {
	o.retain()
	a.ops, a.lengths = append(a.ops, o), append(a.lengths, length)
	a.unscripted = a.unscripted || length == 0
}

// first are the errands, and as many of the ops as fit into a batch.
func (a *again) first() (errands []errand, ops []*op) {
	n, bytes := 0, 0
	for n < len(a.ops) && (n == 0 || bytes+a.lengths[n] <= maxBatchBytes) {
		bytes += a.lengths[n]
		n++
	}
	errands, ops = a.errands, a.ops[:n:n]
	a.errands, a.ops, a.lengths = nil, a.ops[n:], a.lengths[n:]
	return errands, ops
}

// resendable tells whether a command on keys may be sent once more: not if later
// ones of its batch were sent for one of their tag, or for all, as it would be carried
// out behind them.
//
//	1: release k t, acquire k t by another client: one batch
//	2: NOSCRIPT for the release; k was free here, and the acquire is granted
//	3: the release, sent again, frees what the other client holds
//
// Such a command has an unknown vote, and ends the link.
func (s *sender) resendable(keys []string, later []*op, sent []bool) bool {
	if s.resending {
		return false
	}
	for i, o := range later {
		if !sent[i] {
			continue
		}
		if o.kind().everyKey {
			return false
		}
		if sameTag(keys, o.keys()) {
			return false
		}
	}
	return true
}

// keys are all that an op is about.
func (o *op) keys() []string {
	if len(o.Keys) > 0 {
		return o.Keys
	}
	return []string{o.Key}
}

// tags are those of all keys that an op was given, each once.
func (o *op) tags() (tags []string) {
	tags = appendTags(nil, o.keys())
	slices.Sort(tags)
	return slices.Compact(tags)
}

// sameTag tells that one of some keys has the tag of one of others.
func sameTag(keys, others []string) bool {
	return slices.ContainsFunc(keys, func(key string) bool {
		tag := quorum.Tag(key)
		return slices.ContainsFunc(others, func(other string) bool { return quorum.Tag(other) == tag })
	})
}

// fitsAlone tells that a read of which the answer was left out, so long, may be sent once
// more: its batch asked for more than there is room for, as nothing was known of what it
// reads. What later commands of the batch write is not to be read before its time.
func (s *sender) fitsAlone(o *op, length int, later []*op, sent []bool) bool {
	if s.resending || o.Kind != quorum.Read || int64(length) > s.master.Rooms.Replies.Most {
		return false
	}
	for i, other := range later {
		if sent[i] && (other.kind().everyKey || other.Kind != quorum.Read && sameTag(other.keys(), o.keys())) {
			return false
		}
	}
	return true
}

// resend sends again what is to be, and loads the scripts first where they are needed for it.
func (s *sender) resend(link *master.Link, lost again) error {
	if len(lost.errands)+len(lost.ops) == 0 {
		return nil
	}
	s.resending = true
	defer func() { s.resending = false }()
	if lost.unscripted {
		link.Forget()
		var loads []rueidis.Completed
		for _, script := range scripts {
			loads = append(loads, link.Command("SCRIPT", "LOAD", script.Text))
		}
		if _, _, err := link.Ask(loads...); err != nil {
			s.abandon(lost.errands, lost.ops, time.Now())
			return err
		}
	}
	for len(lost.errands)+len(lost.ops) > 0 {
		b := s.newBatch(lost.first())
		b.again = true
		s.mu.Lock()
		b.ordinal = s.queue.sentSo.last
		s.mu.Unlock()
		if err := s.exchange(link, b); err != nil {
			s.abandon(lost.errands, lost.ops, time.Now())
			return err
		}
	}
	return nil
}

// leftOut tells of an answer that was left out, and is not asked for again, once in a while.
func (s *sender) leftOut(o *op, length int) {
	s.db.sizes.told(o, length)
	if now := time.Now(); now.Sub(s.toldOfRoom) >= time.Minute {
		s.toldOfRoom = now
		s.logs().Warn("an answer is not taken: there is no room for it", "bytes", length, "room", s.master.Rooms.Replies.Most, "option", "max-client-memory")
	}
}
