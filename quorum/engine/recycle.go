package engine

import (
	"sync"

	"redlock-proxy/quorum"
	"redlock-proxy/quorum/decide"
)

// Ops are used again. An op counts who may still touch it:
//
//	who                                   from                    until
//	who has made it, or who tries it      newOp                   it has been put: the end of try
//	a line of those who wait to be tried  takes the maker's over  try, or the shared answer
//	a lane, its queue and its batch       push                    its vote is settled
//	what is sent again after NOSCRIPT     exchange                its vote is settled
//	the sweeper                           overdue                 it has looked at it
//
// The last of them gives it back. Where an op is pointed to for longer, in what seldom
// happens, it is retained for ever: it is never given back, and left to the collector. A step
// always is; so is what a heal or the second step of an acquire points to, and what was
// put on a link that failed: rueidis may not be done with its command.

// ops are kept by kind, since what an op keeps of its command fits the next of its kind.
var ops [quorum.Survey + 1]sync.Pool

// newOp is an op that one counts for.
func newOp(r *quorum.Request, asker quorum.Asker) *op {
	o, _ := ops[r.Kind].Get().(*op)
	if o == nil {
		o = new(op)
	}
	o.Request, o.asker = *r, asker
	o.refs.Store(1)
	return o
}

// retain counts one more. Somebody must have been counted already.
func (o *op) retain() {
	if o.refs.Add(1) <= 1 {
		panic("quorum: an op is used that was given back")
	}
}

// retainForever has the op never be given back.
func (o *op) retainForever() { o.retain() }

// drop counts one less. The op is not the caller's any more.
func (o *op) drop() {
	switch n := o.refs.Add(-1); {
	case n < 0:
		panic("quorum: an op was given back twice")
	case n == 0 && o.turn == nil:
		giveBack(o)
	}
}

// dropAll drops a list, and holds on to none of them.
func dropAll(list []*op) {
	for _, o := range list {
		o.drop()
	}
	clear(list)
}

// giveBack is another one in tests, where whoever uses an op after that is to be
// found out.
var giveBack = func(o *op) {
	kind, command, said, sent := o.Kind, o.command, o.Said, o.sent
	if !command.IsEmpty() {
		clear(command.Commands())
	}
	clear(said)
	clear(sent)
	*o = op{command: command, Question: decide.Question{Said: said}, sent: sent}
	ops[kind].Put(o)
}
