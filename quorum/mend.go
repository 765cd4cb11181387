package quorum

import (
	"slices"
	"time"

	"github.com/redis/rueidis"
)

// A master forgets our scripts when somebody says SCRIPT FLUSH to it. They are
// loaded again, and what was refused with NOSCRIPT is sent once more.

// unscripted is what a master refused with NOSCRIPT: it was not carried out.
type unscripted struct {
	errands []errand
	ops     []*op
}

// mendable tells whether a command on keys may be sent once more: not if later
// ones of its batch were sent for one of them, or for all, as it would be carried
// out behind them.
//
//	1: release k t, acquire k t by another client: one batch
//	2: NOSCRIPT for the release; k was free here, and the acquire is granted
//	3: the release, sent again, frees what the other client holds
//
// Such a command has an unknown vote, and ends the link.
func (l *lane) mendable(keys []string, later []*op, sent []bool) bool {
	if l.mending {
		return false
	}
	for i, o := range later {
		if !sent[i] {
			continue
		}
		if o.Kind == Survey {
			return false
		}
		for _, key := range o.keys() {
			if slices.Contains(keys, key) {
				return false
			}
		}
	}
	return true
}

// keys are all that an op is about.
func (o *op) keys() []string {
	if len(o.Keys) > 0 {
		return o.Keys
	}
	return []string{o.Key}
}

// mend loads the scripts and sends again what they are needed for.
func (l *lane) mend(link *link, lost unscripted) error {
	if len(lost.errands)+len(lost.ops) == 0 {
		return nil
	}
	l.mending = true
	defer func() { l.mending = false }()
	link.loaded = nil
	var loads []rueidis.Completed
	for _, s := range scripts {
		loads = append(loads, link.client.B().Arbitrary("SCRIPT", "LOAD", s.text).Build())
	}
	if _, _, err := link.exchange(loads); err != nil {
		l.abandon(lost.errands, lost.ops, time.Now())
		return err
	}
	b := l.newBatch(lost.errands, lost.ops)
	b.again = true
	l.mu.Lock()
	b.ordinal = l.sentSo.last
	l.mu.Unlock()
	return l.exchange(link, b)
}
