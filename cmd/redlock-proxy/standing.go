package main

import (
	"fmt"
	"time"

	"redlock-proxy/quorum"
)

// standingInterval is how often it is looked whether systemd is to be told something else: what
// it shows is for people.
const standingInterval = time.Second

// tellStanding keeps the line true that systemctl status shows, until no client is left.
func (p *process) tellStanding() {
	tick := time.NewTicker(standingInterval)
	defer tick.Stop()
	told := ""
	for {
		if now := p.standing(); now != told {
			p.tell(p.notifier.status(now))
			told = now
		}
		select {
		case <-p.parted:
			return
		case <-tick.C:
		}
	}
}

func (p *process) standing() string {
	st := p.engine.Status()
	return standing(p.server.Draining(), p.server.Ready(), p.server.Clients(), &st)
}

// standing is how the process stands, in a line.
func standing(draining, ready bool, clients int, st *quorum.Status) string {
	counted := fmt.Sprintf("%d clients", clients)
	if clients == 1 {
		counted = "1 client"
	}
	switch {
	case draining:
		return "draining: " + counted + " left"
	case ready:
		return fmt.Sprintf("%d of %d masters vote; %s", st.CanVote, len(st.Masters), counted)
	}
	text := fmt.Sprintf("NOQUORUM %d of %d masters can vote, %d are needed", st.CanVote, len(st.Masters), st.Quorum)
	if st.Shortage != "" {
		text += ": " + st.Shortage
	}
	return text + "; " + counted
}
