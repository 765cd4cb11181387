package master

import (
	"errors"

	"github.com/redis/rueidis"

	"redlock-proxy/quorum"
	"redlock-proxy/quorum/decide"
)

// AskInfo asks a server for what it tells of itself.
var AskInfo = rueidis.Builder{}.Arbitrary("INFO").Build().Pin()

// Hear takes in what INFO said, as far as it can have changed since the gate.
func (l *Link) Hear(a decide.Answer) error {
	switch {
	case a.Kind == quorum.FailureReply:
		return errors.New(a.Str)
	case a.Kind != quorum.BulkReply:
		return ErrGarbage
	}
	now, err := readInfo(a.Str)
	switch {
	case err != nil:
		return err
	case now.RunID != l.Who.RunID:
		return errors.New("it names another run_id than at the gate")
	}
	l.Who.Evicted, l.Who.Replication, l.Who.Continued = now.Evicted, now.Replication, now.Continued
	l.Who.Anew, l.Who.Rewrites = now.Anew, now.Rewrites
	return nil
}

// Look asks at once.
func (l *Link) Look() error {
	a, _, err := l.Do("INFO")
	if err != nil {
		return err
	}
	return l.Hear(a)
}

// Durable asks the master whether every write is on disk before it is answered.
func (l *Link) Durable() (bool, error) {
	var calls []rueidis.Completed
	for _, name := range durability {
		calls = append(calls, l.client.B().Arbitrary("CONFIG", "GET", name[0]).Build())
	}
	replies, _, err := l.Exchange(calls)
	if err != nil {
		return false, err
	}
	return isDurable(l.ReadAll(replies)), nil
}
