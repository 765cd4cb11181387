package engine

import (
	"fmt"
	"strings"

	"redlock-proxy/quorum"
)

// What whoever runs the masters can order. An order is about a master in all
// databases.

// errNoSuchMaster names the masters that there are.
type errNoSuchMaster struct {
	name  string
	known []string
}

func (e *errNoSuchMaster) Error() string {
	return fmt.Sprintf("there is no master %q, the masters are %s", e.name, strings.Join(e.known, " "))
}

// errNotQuarantined says why a master cannot be admitted.
type errNotQuarantined struct {
	name  string
	state quorum.State
	why   string
}

func (e *errNotQuarantined) Error() string {
	text := fmt.Sprintf("master %s is in no quarantine that could be ended: it is %v", e.name, e.state)
	if e.why != "" {
		text += ", " + e.why
	}
	return text
}

// everywhere are a master's lanes in all databases, database 0 first.
func (e *Engine) everywhere(name string) ([]*lane, error) {
	none := &errNoSuchMaster{name: name}
	for i, m := range e.zero.Masters {
		if m.Name == name {
			lanes := []*lane{e.zero.lanes[i]}
			for _, d := range e.opened() {
				lanes = append(lanes, d.lanes[i])
			}
			return lanes, nil
		}
		none.known = append(none.known, m.Name)
	}
	return nil, none
}

// Admit ends the quarantine of the master of this name in each database that it is
// quarantined in, whatever it may have lost: it votes again as soon as its marker
// is written, for this proxy and all others. Whoever orders it must know that no
// lock is held that the master had voted for, or accept two holders of one lock.
// The error says that there is no such master, or no quarantine that is known.
func (e *Engine) Admit(name string) error {
	e.hand.Lock()
	defer e.hand.Unlock()
	e.openForgotten(name)
	lanes, err := e.everywhere(name)
	if err != nil {
		return err
	}
	var databases []int
	for _, l := range lanes {
		if l.discharge() {
			databases = append(databases, l.master.DB)
		}
	}
	if databases == nil {
		s := lanes[0].status()
		return &errNotQuarantined{name, s.State, s.Reason}
	}
	e.zero.log.Warn("master is admitted by the operator before its quarantine is over: locks that it has lost may be given a second time",
		"master", name, "databases", databases)
	return nil
}

// discharge has the lane admit its master, if that is quarantined and there.
func (l *lane) discharge() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.open || l.ward == nil {
		return false
	}
	l.ward.over.Store(true)
	l.queue.rouse()
	return true
}

// errQuorumNeedsIt says why a master is not drained.
type errQuorumNeedsIt struct {
	name string
	db   int
}

func (e *errQuorumNeedsIt) Error() string {
	where := ""
	if e.db != 0 {
		where = fmt.Sprintf(" in database %d", e.db)
	}
	return fmt.Sprintf("without master %s too few can vote for a quorum%s: bring another one back first, or say FORCE", e.name, where)
}

// Drain has the master of this name asked for no votes by this proxy, until
// Resume. What was asked before is still carried out, releases and what is owed are
// still sent if it is there, and if it is not, that is no fault. The error says
// that there is no such master or, unless force is told, that it takes the quorum away
// in a database in use.
func (e *Engine) Drain(name string, force bool) error {
	return e.order(name, func(l *lane) error {
		if !force && l.decisive() {
			return &errQuorumNeedsIt{name, l.master.DB}
		}
		return nil
	}, (*lane).drain)
}

// decisive tells that there is a quorum with the lane's master, and none without.
func (l *lane) decisive() bool {
	l.mu.Lock()
	votes := l.open && !l.silent()
	l.mu.Unlock()
	return votes && !l.db.unused() && l.db.shortage(nil, nil).can == quorum.QuorumOf(len(l.db.lanes))
}

// Resume ends what Drain began. The error says that there is no such master.
func (e *Engine) Resume(name string) error {
	return e.order(name, func(*lane) error { return nil }, (*lane).resume)
}

// order gives an order to all lanes of a master, if it may be given to each. Those of a
// database that is opened meanwhile begin as that of database 0 is, which comes first.
func (e *Engine) order(name string, may func(*lane) error, to func(*lane)) error {
	e.hand.Lock()
	defer e.hand.Unlock()
	lanes, err := e.everywhere(name)
	if err != nil {
		return err
	}
	for _, l := range lanes {
		if err := may(l); err != nil {
			return err
		}
	}
	to(lanes[0])
	lanes, _ = e.everywhere(name)
	for _, l := range lanes[1:] {
		to(l)
	}
	return nil
}

func (l *lane) drain() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.drained {
		return
	}
	l.drained = true
	l.enter(l.state, l.reason)
	l.tell()
}

func (l *lane) resume() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.drained {
		return
	}
	l.drained = false
	if l.open {
		l.show()
		return
	}
	l.enter(quorum.Connecting, "")
	l.log.Info("master is drained no more")
}

func (l *lane) isDrained() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.drained
}

// drainedReason tells of a drained master what it would be otherwise.
func drainedReason(s quorum.State, reason string) string {
	switch {
	case s == quorum.Voting:
		return "by the operator"
	case reason == "":
		return fmt.Sprintf("by the operator; it is %v", s)
	}
	return fmt.Sprintf("by the operator; it is %v: %s", s, reason)
}
