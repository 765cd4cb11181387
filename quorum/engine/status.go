package engine

import "redlock-proxy/quorum"

// Memory is how many bytes are taken for what masters have answered, what they are asked and
// what they are owed.
func (e *Engine) Memory() (n int) {
	for _, m := range e.zero.Masters {
		n += m.Rooms.Used()
	}
	return n
}

// Tried is closed once every master has been tried once, with success or not.
func (e *Engine) Tried() <-chan struct{} { return e.zero.tried }

// Ready tells whether a quorum can vote.
func (e *Engine) Ready() bool { return e.zero.ready() }

func (db *database) ready() bool {
	voting := 0
	for _, l := range db.lanes {
		l.mu.Lock()
		if l.open && !l.silent() {
			voting++
		}
		l.mu.Unlock()
	}
	return voting >= quorum.QuorumOf(len(db.lanes)) && !db.closing.Load()
}

// Status is a picture of the engine.
func (e *Engine) Status() quorum.Status {
	s := e.zero.status()
	s.Subscriptions = e.subscriptions.Confirmed()
	s.MessagesPublished, s.MessagesShort, s.MessagesReceived = e.messages.Counts()
	for _, db := range e.opened() {
		if o := db.status(); db.unused() {
			s.AddElsewhere(o)
		} else {
			s.Add(o)
		}
	}
	return s
}

// status is a picture of one database.
func (db *database) status() quorum.Status {
	s := quorum.Status{
		Quorum:      quorum.QuorumOf(len(db.lanes)),
		Splits:      db.splits.Load(),
		OverMaxTTL:  db.overTTL.Load(),
		Shared:      db.shared.Load(),
		MaxHoldEnds: db.held.Load(),
		InFlight:    int(db.inFlight.Load()),
	}
	for k := range db.decisions {
		for d := range db.decisions[k] {
			s.Decisions[k][d] = db.decisions[k][d].Load()
		}
	}
	for _, l := range db.lanes {
		s.Masters = append(s.Masters, l.status())
		s.Undos += l.undos.Load()
		s.Heals += l.heals.Load()
		s.DebtsPaid += l.paid.Load()
		s.DebtsNeedless += l.needless.Load()
		s.DebtsDropped += l.dropped.Load()
		s.DebtsOwed += l.owed.Load() // last, so that no debt ends that is not counted
		s.UndosMissed += l.missed.Load()
		s.Quarantines += l.quarantines.Load()
		s.CatchUps += l.catchUps.Load()
		s.CatchUpKeys += l.catchUpKeys.Load()
		if l.quarantined() {
			s.Quarantined++
		}
	}
	s.DebtsLeft = s.DebtsOwed - s.DebtsPaid - s.DebtsNeedless - s.DebtsDropped
	db.clockOffsets(s.Masters)
	db.firstStatus(s.Masters)
	s.Hindrance = db.hindrance()
	short := db.shortage(nil, nil)
	short.all = ""
	s.CanVote, s.Shortage = short.can, short.String()
	return s
}
