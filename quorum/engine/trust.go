package engine

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/hashicorp/go-hclog"

	"redlock-proxy/quorum"
	"redlock-proxy/quorum/clock"
	"redlock-proxy/quorum/marker"
)

// trust is what is known of the masters together, in all databases.
type trust struct {
	log   hclog.Logger
	terms marker.Terms
	told  clock.ToldTime

	era atomic.Uint64 // counts what has every master looked at anew

	mu    sync.Mutex   // guards what follows
	set   string       // their installation, "" until a marker was seen
	of    string       // which one it was made of by change-masters, if a marker told
	voted bool         // a master of it has been seen to vote
	other error        // the first master that is not ours
	bars  error        // why nothing is granted any more
	met   error        // why a lone proxy grants nothing: its master has a marker
	wall  clock.Sample // of our own wall clock
}

func (t *trust) installation() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.set
}

// from is the installation that ours was made of by change-masters, as far as is known.
func (t *trust) from() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.of
}

// learn notes the installation that a marker names, if none is known yet, and the one that it
// was made of. It tells whether that is the one, and whether it is news.
func (t *trust) learn(installation, from string) (ours, news bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.set == "" {
		t.set, news = installation, true
	}
	if t.set != installation {
		return false, news
	}
	if t.of == "" {
		t.of = from
	}
	return true, news
}

// adopt has the masters' installation be another, which stands in the place of what was
// known so far. It tells whether it is another.
func (t *trust) adopt(installation string) (news bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.set == installation {
		return false
	}
	t.set, t.of, t.voted = installation, "", false
	t.era.Add(1)
	t.log.Warn("several installations of the same masters were found: this one stands", "installation", installation)
	return true
}

// sawVote notes that a master of the installation votes: it is no first start.
func (t *trust) sawVote() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.voted = true
}

// unproven tells that no master has been seen to vote.
func (t *trust) unproven() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return !t.voted
}

// refuse notes why a master is not ours, or can be none at all. Where one is that of
// proxies with other terms, nothing is granted any more: their quorums need not meet
// those of this one, and it cannot be told what has been granted there.
func (t *trust) refuse(name string, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	terms := errors.Is(err, quorum.ErrOtherTerms)
	if (terms || errors.As(err, new(*marker.Unfit))) && (t.other == nil || misspelt(err) && !misspelt(t.other)) {
		t.other = fmt.Errorf("master %s: %w", name, err)
	}
	if terms && t.bars == nil {
		t.bars = fmt.Errorf("master %s: %w", name, err)
		t.era.Add(1)
		t.log.Error("nothing is granted any more until this proxy is restarted", "reason", t.bars)
	}
}

// misspelt tells that a master bears another name in its set than here. The others can say
// no more than that the sets differ.
func misspelt(err error) bool {
	var other *marker.OtherTerms
	return errors.As(err, &other) && other.Misspelt()
}

// barring is why nothing is granted any more, nil if it is.
func (t *trust) barring() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.bars
}

// refusal is Engine.Refusal.
func (t *trust) refusal() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.other
}

// learn has all masters be looked at if it learns of an installation; see trust.learn.
func (db *database) learn(installation, from string) (ours bool) {
	ours, news := db.engine.trust.learn(installation, from)
	if news {
		db.rouseAll()
	}
	return ours
}

// alone tells that there is one master only: the proxy is then a plain lock on a
// single instance, and what that forgets is forgotten.
func (db *database) alone() bool { return len(db.lanes) == 1 }

// rouseAll has all masters be looked at.
func (db *database) rouseAll() {
	for _, l := range db.lanes {
		l.queue.rouseNow()
	}
}

// Refusal tells of a master that can be none of this proxy's, and what cures that,
// which is an ErrOtherTerms where another configuration does: its marker was written for other terms, it is another one of the
// masters, a replica or a cluster node, or it evicts keys. A proxy that meets such
// a one when it starts must not serve: with another set of masters its quorums need
// not meet those of the others, and the rest is easily mended now. Of a master that
// becomes such a one later, it is why it is down.
func (e *Engine) Refusal() error { return e.trust.refusal() }
