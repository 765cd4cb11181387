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

// installation is what is known of the masters together, in all databases.
type installation struct {
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

func (i *installation) name() string {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.set
}

// from is the installation that ours was made of by change-masters, as far as is known.
func (i *installation) from() string {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.of
}

// learn notes the installation that a marker names, if none is known yet, and the one that it
// was made of. It tells whether that is the one, and whether it is news.
func (i *installation) learn(installation, from string) (ours, news bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.set == "" {
		i.set, news = installation, true
	}
	if i.set != installation {
		return false, news
	}
	if i.of == "" {
		i.of = from
	}
	return true, news
}

// adopt has the masters' installation be another, which stands in the place of what was
// known so far. It tells whether it is another.
func (i *installation) adopt(installation string) (news bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.set == installation {
		return false
	}
	i.set, i.of, i.voted = installation, "", false
	i.era.Add(1)
	i.log.Warn("several installations of the same masters were found: this one stands", "installation", installation)
	return true
}

// sawVote notes that a master of the installation votes: it is no first start.
func (i *installation) sawVote() {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.voted = true
}

// unproven tells that no master has been seen to vote.
func (i *installation) unproven() bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	return !i.voted
}

// refuse notes why a master is not ours, or can be none at all. Where one is that of
// proxies with other terms, nothing is granted any more: their quorums need not meet
// those of this one, and it cannot be told what has been granted there.
func (i *installation) refuse(name string, err error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	terms := errors.Is(err, quorum.ErrOtherTerms)
	if (terms || errors.As(err, new(*marker.Unfit))) && (i.other == nil || misspelt(err) && !misspelt(i.other)) {
		i.other = fmt.Errorf("master %s: %w", name, err)
	}
	if terms && i.bars == nil {
		i.bars = fmt.Errorf("master %s: %w", name, err)
		i.era.Add(1)
		i.log.Error("nothing is granted any more until this proxy is restarted", "reason", i.bars)
	}
}

// misspelt tells that a master bears another name in its set than here. The others can say
// no more than that the sets differ.
func misspelt(err error) bool {
	var other *marker.OtherTerms
	return errors.As(err, &other) && other.Misspelt()
}

// barring is why nothing is granted any more, nil if it is.
func (i *installation) barring() error {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.bars
}

// refusal is Engine.Refusal.
func (i *installation) refusal() error {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.other
}

// learn has all masters be looked at if it learns of an installation; see installation.learn.
func (db *database) learn(installation, from string) (ours bool) {
	ours, news := db.engine.installation.learn(installation, from)
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
func (e *Engine) Refusal() error { return e.installation.refusal() }
