package quorum

import (
	"time"

	"github.com/redis/rueidis"
)

// inspect keeps what the master's marker says up to date, once a probe-interval:
// of one that votes whether its writes are durable, and of one in quarantine how
// long that has lasted. The nonce stays, so that nobody's proof fails for it.
func (l *lane) inspect(link *link) error {
	if !l.inspects() {
		return nil
	}
	now := l.engine.boot()
	l.inspected = now
	m := l.known
	if m.nonce.provisional() {
		m.Elapsed = l.lasted(now).Milliseconds()
	} else {
		if !m.Durable && !link.who.durable {
			return nil
		}
		durable, err := link.durable()
		if err != nil {
			return err
		}
		link.who.durable = durable
		if m.Durable == durable {
			return nil
		}
		m.Durable = durable
	}
	if err := l.mark(link, m.nonce, m); err != nil {
		return err
	}
	l.known = m
	return nil
}

// inspects tells that it is time to.
func (l *lane) inspects() bool {
	return !l.engine.alone() && l.known.nonce != "" && l.engine.boot()-l.inspected >= l.engine.ProbeInterval
}

// lasted is how long the present quarantine has lasted.
func (l *lane) lasted(now time.Duration) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ward == nil {
		return 0
	}
	return l.ward.lasted(now)
}

// durable asks the master whether every write is on disk before it is answered.
func (l *link) durable() (bool, error) {
	var calls []rueidis.Completed
	for _, name := range durability {
		calls = append(calls, l.client.B().Arbitrary("CONFIG", "GET", name[0]).Build())
	}
	replies, _, err := l.exchange(calls)
	if err != nil {
		return false, err
	}
	settings := make([]answer, len(replies))
	for i, r := range replies {
		m, _ := r.ToMessage()
		settings[i] = newAnswer(m)
	}
	return isDurable(settings), nil
}
