package engine

import (
	"slices"
	"strconv"
	"time"

	"redlock-proxy/quorum"
	"redlock-proxy/quorum/catchup"
	"redlock-proxy/quorum/clock"
	"redlock-proxy/quorum/decide"
	"redlock-proxy/quorum/dump"
	"redlock-proxy/quorum/journal"
)

// A step is a journaled script whose writes are signed by no token: what
// two clients write may be the very same, as where both count one further. If two
// proxies each did that on one master, both would lose, and yet those masters would
// hold what looks like a quorum's value until both are undone:
//
//	1: A counts from 5 to 6 at master 1, B from 5 to 6 at master 2; master 3 is away
//	2: both are split; C reads 6 on a quorum, counts to 7 and has a 7 that nobody
//	   counted up to
//
// So a step latches the tags of its keys on every master that it acts on, in the same script,
// until it is decided and what follows from that is done there. A step of another
// proxy that meets a latch does nothing and says busy. Steps of one proxy take turns
// (turns.go), so its next one may pass its own latches: whatever has to be done about
// the last one is ahead of it in every lane.
//
// A latch dies by itself: what is right does not depend on it, but what is taken back
// or healed names the latch, and is not touched where that is gone.

// lease is how long a latch lives: until the last step that it could keep out has
// given up twice over.
func (db *database) lease() string {
	return strconv.FormatInt(clock.Milliseconds(2*db.AcquireTimeout), 10)
}

// ends says what becomes of a key that a step has latched.
type ends uint8

const (
	letGo    ends = iota + 1 // it stays as it is
	takeBack                 // it becomes again what it was
	bringUp                  // it becomes what a quorum has made of it, or has found there
)

func (n ends) String() string {
	if n == takeBack {
		return "take-back"
	}
	return "bring-up"
}

// wonKey is a key of which a master has made what a quorum has, and its trail by that.
type wonKey struct{ key, trail string }

// ending ends a step on one key of one master.
type ending struct {
	op   *op
	key  string
	ends ends
	back debt // what the key is to become, unless it is let go of; told as what is owed

	latched bool // its latch stays, as another ending of the step follows on a key of the same tag
	won     []wonKey

	confirmation *confirmation // hears whether it was done; nil: nobody waits for it
}

func (n *ending) argv(b []string, now time.Time) []string {
	if n.ends == letGo {
		return lettingGo{n}.argv(b, now)
	}
	stays := ""
	if n.latched {
		stays = "stays"
	}
	keys := []string{n.key, quorum.MarkerKey, catchup.LeaseKey, journal.Latch(n.key), quorum.StepsKey}
	b = latchScript.Call(b, n.withWon(keys)...)
	b = append(b, n.op.holder, n.ends.String(), stays)
	b = append(n.back.putBack(append(b, dump.Fingerprint(n.back.value)), now), n.back.back.Trail)
	return n.withTrails(b)
}

// withWon appends the keys that are won, and withTrails their trails.
func (n *ending) withWon(b []string) []string {
	for _, won := range n.won {
		b = append(b, won.key)
	}
	return b
}

func (n *ending) withTrails(b []string) []string {
	for _, won := range n.won {
		b = append(b, won.trail)
	}
	return b
}

// inTurn has the latch of a tag stay until the last of a step's endings on one master that is about
// it. What only lets go before that is left out, and the last tells which keys are won.
func inTurn(list []*ending) (last []*ending) {
	for _, n := range slices.Backward(list) {
		at := slices.IndexFunc(last, func(l *ending) bool { return !l.latched && quorum.Tag(l.key) == quorum.Tag(n.key) })
		if at >= 0 {
			last[at].won = append(last[at].won, n.won...)
			n.latched, n.won = true, nil
		}
		if !n.latched || n.ends != letGo {
			last = append(last, n)
		}
	}
	slices.Reverse(last)
	return last
}

// What latchScript and letGoScript answer, added up.
const (
	saysEnded  = 1
	saysWanted = 2 // the latch kept somebody out
)

// heard takes a master's answer. It tells whether an asker was answered.
func (n *ending) heard(master int, a decide.Answer) (answered bool) {
	if a.Int&saysWanted != 0 {
		db := n.op.db
		db.turns.want(quorum.Tag(n.key), time.Now().Add(db.SplitDelay))
	}
	if n.confirmation == nil {
		return false
	}
	return n.confirmation.heard(master, a.Int&saysEnded != 0)
}

func (n *ending) about() []string { return []string{n.key} }

// remains is nothing but for a key that is given: the end of a step does nothing where another
// command has changed the key.
func (n *ending) remains() []string {
	if n.gives() {
		return n.about()
	}
	return nil
}

func (n *ending) owes() *debt { return nil }
func (n *ending) room() int   { return errandRoom + len(n.key) + n.back.size() }

func (n *ending) carriedOut(s *sender, a decide.Answer) {
	if a.Int&saysEnded != 0 {
		switch n.ends {
		case takeBack:
			s.undos.Add(1)
		case bringUp:
			s.heals.Add(1)
		}
	}
	if n.heard(s.index, a) {
		s.gather(n.op.flusher)
	}
}

// endStep puts an ending into the master's next batch. It is false where that cannot be.
func (q *queue) endStep(n *ending) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.endStepLocked(n)
}

func (q *queue) endStepLocked(n *ending) bool {
	if !q.open || !q.addErrand(n) {
		q.missed.Add(1)
		return false
	}
	return true
}
