package engine

import "redlock-proxy/quorum"

// Memory is how many bytes are taken for what masters have answered, what they are asked and
// what they are owed.
func (e *Engine) Memory() (n int) {
	for _, m := range e.Masters {
		n += m.Rooms.Used()
	}
	return n
}

// Tried is closed once every master has been tried once, with success or not.
func (e *Engine) Tried() <-chan struct{} { return e.tried }

// Ready tells whether a quorum can vote.
func (e *Engine) Ready() bool {
	voting := 0
	for _, l := range e.lanes {
		l.mu.Lock()
		if l.open && !l.silent() {
			voting++
		}
		l.mu.Unlock()
	}
	return voting >= quorum.QuorumOf(len(e.lanes)) && !e.closing.Load()
}

// Status is a picture of the engine.
func (e *Engine) Status() quorum.Status {
	s := quorum.Status{
		Quorum:      quorum.QuorumOf(len(e.lanes)),
		Splits:      e.splits.Load(),
		OverMaxTTL:  e.overTTL.Load(),
		Shared:      e.shared.Load(),
		MaxHoldEnds: e.held.Load(),
		InFlight:    int(e.inFlight.Load()),

		Subscriptions: e.subscriptions.Standing(),
	}
	if e.root == nil {
		s.MessagesPublished, s.MessagesShort, s.MessagesReceived = e.messages.Counts()
	}
	for k := range e.decisions {
		for d := range e.decisions[k] {
			s.Decisions[k][d] = e.decisions[k][d].Load()
		}
	}
	for _, l := range e.lanes {
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
	e.clockOffsets(s.Masters)
	e.firstStatus(s.Masters)
	s.Hindrance = e.Hindrance()
	for _, d := range e.opened() {
		if o := d.Status(); d.unused() {
			s.AddElsewhere(o)
		} else {
			s.Add(o)
		}
	}
	return s
}
