package engine

import (
	"time"

	"github.com/redis/rueidis"

	"redlock-proxy/quorum/decide"
	"redlock-proxy/quorum/master"
)

// batch is what is sent to a master at once: errands, which go first, and ops. The
// lane's goroutine alone uses it, but for ops, which the sweeper reads. It is used again as
// a whole, hence so many fields: half of them say what it was made of, by which its answers are read.
type batch struct {
	errands []errand
	ops     []*op

	commands []rueidis.Completed
	argv     []string
	sent     []errand // those that have not come too late
	asked    []bool   // which ops are sent
	began    time.Time
	stage    stage
	sentAt   time.Duration // by our clock, once it is on its way by Send
	ordinal  ordinal       // of the first of the ops is the next
	again    bool          // what it holds was sent before, see resend
	headed   bool          // it begins with a look at the master's clock

	tags     []string // of a batch among others: what it is about
	messages bool     // and whether it publishes
	alone    bool     // nothing goes beside it

	empty bool // there was nothing to send
	looks bool // at the master, behind all else
	tries bool // what is needed of it, too
	asks  bool // and how that stands in all databases, before that

	answers []decide.Answer
	cost    int // of the master's room, until they are judged
	proof   master.Proof
	err     error
}

// stage is how far a batch is that a Stay has begun, see stay.go.
type stage uint8

const (
	fresh    stage = iota // it is to be loaded
	loaded                // it is to be sent
	onItsWay              // it is to be received
	complete              // it is to be settled
)

// ordinalOf is that of an op of the batch.
func (b *batch) ordinalOf(i int) ordinal {
	if b.again {
		return b.ordinal
	}
	return b.ordinal + ordinal(i) + 1
}

// add puts a command into the batch.
func (b *batch) add(link *master.Link, argv []string) {
	b.commands = append(b.commands, link.Command(argv...))
	b.argv = argv
}

// read is an answer, which is judged by the end of the batch.
func (b *batch) read(i int) decide.Answer {
	b.cost += master.CostOf(&b.answers[i])
	return b.answers[i]
}

// newBatch is a batch, maybe one that was used before.
func (s *sender) newBatch(errands []errand, ops []*op) *batch {
	b := s.spareBatch
	if s.spareBatch = nil; b == nil {
		b = new(batch)
	}
	b.errands, b.ops = errands, ops
	return b
}

// recycle ends what the lane has to do with a batch, and keeps its array of ops for the
// queue after next.
func (s *sender) recycle(b *batch) {
	ops := b.ops
	dropAll(ops)
	if cap(ops) > 0 && cap(ops) <= maxReleases {
		s.spare = ops[:0]
	}
	clear(b.answers)
	*b = batch{commands: b.commands[:0], argv: b.argv[:0], asked: b.asked[:0], answers: b.answers[:0]}
	s.spareBatch = b
}
