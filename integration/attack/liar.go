package main

import (
	"bytes"
	"sync/atomic"

	"redlock-proxy/integration"
)

// liar stands before a master and, while it lies, says something else than that in place of
// each tenth piece of its answers: so it is connected to again in between, and asked.
type liar struct {
	relay *integration.Relay
	lies  atomic.Bool
	heard atomic.Int64
	told  atomic.Int64
}

// lie announces 1.5 GiB, and brings some of them.
var lie = append([]byte("$1610612736\r\n"), bytes.Repeat([]byte("x"), 8<<20)...)

func newLiar(master string) (*liar, error) {
	relay, err := integration.NewRelay(master)
	if err != nil {
		return nil, err
	}
	l := &liar{relay: relay}
	relay.Replies.Rewrite(func(b []byte) []byte {
		if l.lies.Load() && l.heard.Add(1)%10 == 0 {
			l.told.Add(1)
			return lie
		}
		return b
	})
	return l, nil
}

func (l *liar) addr() string { return l.relay.Addr }

func (l *liar) close() error { return l.relay.Close() }
