package proxy

import (
	"time"

	"redlock-proxy/quorum"
)

// Tracer is told how some of the requests about locks fared.
type Tracer interface {
	// Samples tells whether the next one is one of them.
	Samples() bool

	// Answered is told of one when it is answered, by the goroutine that cast the deciding vote.
	// It must not block. The masters that are late still write into its Trace.
	Answered(t *Traced)
}

// Traced is a request that was answered: what it was about and who asked, and no token or value.
type Traced struct {
	Command string // as the table of commands has it
	Kind    quorum.Kind
	DB      int
	Key     string

	ClientID               int64
	Addr, ClientName, User string

	Asked, Answered time.Time
	Decision        quorum.Decision
	Why             string // what keeps masters from voting, as NOQUORUM says it

	Trace *quorum.Trace
}

// tracedKind tells whether requests of a kind are about locks.
func tracedKind(k quorum.Kind) bool { return k != quorum.Read && k != quorum.Survey }

// sample has some of a slot's requests be traced, which were asked for at a time.
func (s *slot) sample(asked time.Duration) {
	if t := s.conn.srv.cfg.Tracer; t != nil {
		for i := range s.asks {
			if r := s.asks[i].request; tracedKind(r.Kind) && t.Samples() {
				r.Trace = &quorum.Trace{Asked: s.conn.srv.started.Add(asked)}
			}
		}
	}
}

// trace tells of a request that was answered, if it is one of those that are told of.
func (a *ask) trace(result *quorum.Result) {
	if a.request.Trace != nil {
		a.tell(result)
	}
}

func (a *ask) tell(result *quorum.Result) {
	c, r, by := a.slot.conn, a.request, a.slot.origin
	c.srv.cfg.Tracer.Answered(&Traced{
		Command:    a.slot.command.Name,
		Kind:       r.Kind,
		DB:         r.DB,
		Key:        r.Key,
		ClientID:   by.ID,
		Addr:       by.Addr,
		ClientName: by.Name,
		User:       by.User,
		Asked:      r.Trace.Asked,
		Answered:   time.Now(),
		Decision:   result.Decision,
		Why:        result.Why,
		Trace:      r.Trace,
	})
}
