package engine

import (
	"time"

	"redlock-proxy/quorum"
	"redlock-proxy/quorum/decide"
)

// carriedOut looks at what became of an errand.
func (l *lane) carriedOut(e errand, a decide.Answer) {
	switch {
	case e.envelope != "":
	case e.ending != nil:
		if a.Int&saysEnded != 0 {
			switch e.ending.ends {
			case takeBack:
				l.undos.Add(1)
			case bringUp:
				l.heals.Add(1)
			}
		}
		if e.ending.heard(a) {
			l.gather(e.ending.op.flusher)
		}
	case e.heal != nil:
		if a.Kind != quorum.FailureReply {
			l.heals.Add(1)
		}
	case a.Failed("NOSCRIPT"):
		// It was not carried out, and what came after it on the same key was.
		l.queue.cannotUndo(e.debt)
	case a.Kind == quorum.IntegerReply && a.Int == decide.SaysOtherNonce:
		l.queue.cannotUndo(e.debt)
	case a.Kind == quorum.IntegerReply && a.Int == decide.SaysOther:
		l.queue.undoLater(e.debt)
	case a.RefusesToWrite():
		l.mu.Lock()
		if l.queue.mayTry(e.debt) {
			l.queue.oweLocked(e.debt, time.Now())
		}
		l.mu.Unlock()
	case a.Kind == quorum.FailureReply && !a.WrongType():
		l.queue.undoAgain(e.debt)
	default:
		l.queue.undone(e.debt, a.Int)
	}
}
