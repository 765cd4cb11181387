package engine

import "redlock-proxy/quorum"

// kind is what is true of all requests of one kind, whatever else they say. Each has its row in the
// file that is named for it, which also tells what it is on a master and what follows from its
// decision.
type kind struct {
	locks    bool // what it wins is worth something only while its ttl lasts
	givesTTL bool // it may give its key a ttl
	byToken  bool // that it was sent is remembered of its key and token: see sentSo
	frees    bool // who asks may let go of what he holds by it
	undoable bool // what it has done may have to be taken back: see op.undoable
	dated    bool // it names no token, and goes with a date: see dated.go
	alike    bool // all masters get the same command: see op.alike
	everyKey bool // it may be about any key
}

var kinds = [...]kind{
	quorum.Acquire: acquireKind,
	quorum.Release: releaseKind,
	quorum.Extend:  extendKind,
	quorum.Read:    readKind,
	quorum.Remove:  removeKind,
	quorum.Write:   writeKind,
	quorum.Run:     runKind,
	quorum.Survey:  surveyKind,
}

func (o *op) kind() *kind { return &kinds[o.Kind] }
