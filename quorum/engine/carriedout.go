package engine

import (
	"time"

	"redlock-proxy/quorum"
	"redlock-proxy/quorum/decide"
)

// carriedOut looks at what became of an errand.
func (s *sender) carriedOut(e errand, a decide.Answer) {
	switch {
	case e.envelope != "":
	case e.ending != nil:
		if a.Int&saysEnded != 0 {
			switch e.ending.ends {
			case takeBack:
				s.undos.Add(1)
			case bringUp:
				s.heals.Add(1)
			}
		}
		if e.ending.heard(a) {
			s.gather(e.ending.op.flusher)
		}
	case e.heal != nil:
		if a.Kind != quorum.FailureReply {
			s.heals.Add(1)
		}
	case a.Failed("NOSCRIPT"):
		// It was not carried out, and what came after it on the same key was.
		s.queue.cannotUndo(e.debt)
	case a.Kind == quorum.IntegerReply && a.Int == decide.SaysOtherNonce:
		s.queue.cannotUndo(e.debt)
	case a.Kind == quorum.IntegerReply && a.Int == decide.SaysOther:
		s.queue.undoLater(e.debt)
	case a.RefusesToWrite():
		s.mu.Lock()
		if s.queue.mayTry(e.debt) {
			s.queue.oweLocked(e.debt, time.Now())
		}
		s.mu.Unlock()
	case a.Kind == quorum.FailureReply && !a.WrongType():
		s.queue.undoAgain(e.debt)
	default:
		s.queue.undone(e.debt, a.Int)
	}
}
