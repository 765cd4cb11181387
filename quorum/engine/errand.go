package engine

import (
	"strconv"
	"time"

	"redlock-proxy/quorum"
	"redlock-proxy/quorum/clock"
	"redlock-proxy/quorum/decide"
	"redlock-proxy/quorum/messages"
)

// errand is a command for one master alone: a debt, which takes something back, the ending of a
// step, a healing, which gives a key again, or an envelope. It goes to the head of the next
// batch. What does not fit there waits for the one after, and so does every command on keys of its tag.
type errand interface {
	// about are the keys that it is about.
	about() []string

	// remains are those of them that no later command may have been put for, where it is sent
	// once more.
	remains() []string

	// room is about what it takes in memory, in bytes. It does not change while it waits.
	room() int

	// argv appends it to b as the master gets it, or is nil if it has come too late.
	argv(b []string, now time.Time) []string

	// owes is what is owed to the master where it fails, nil if nothing is.
	owes() *debt

	// carriedOut takes the master's answer.
	carriedOut(s *sender, a decide.Answer)
}

// errandRoom is what one takes beside its texts.
const errandRoom = 400

// envelope is what is published, a letter among it.
type envelope string

func (envelope) about() []string                   { return nil }
func (envelope) remains() []string                 { return nil }
func (envelope) owes() *debt                       { return nil }
func (envelope) carriedOut(*sender, decide.Answer) {}
func (e envelope) room() int                       { return len(e) }
func (e envelope) argv(b []string, _ time.Time) []string {
	return append(b, "PUBLISH", messages.Channel, string(e))
}

// healing gives the key of a won extension again to a master that had lost it.
type healing struct {
	op   *op
	from time.Time // when its ttl began
}

func (h *healing) about() []string   { return []string{h.op.Key} }
func (h *healing) remains() []string { return h.about() }
func (h *healing) owes() *debt       { return nil }
func (h *healing) room() int         { return errandRoom + len(h.op.Key) + len(h.op.Token) }

func (h *healing) argv(b []string, now time.Time) []string {
	b = append(b, "SET", h.op.Key, h.op.Token, "NX")
	switch {
	case h.op.Far > 0:
		return append(b, "PX", h.op.px)
	case h.op.ttl == 0:
		return b
	}
	left := h.op.ttl - now.Sub(h.from)
	if left <= 0 {
		return nil
	}
	return append(b, "PX", strconv.FormatInt(clock.Milliseconds(left), 10))
}

func (h *healing) carriedOut(s *sender, a decide.Answer) {
	if a.Kind != quorum.FailureReply {
		s.heals.Add(1)
	}
}
