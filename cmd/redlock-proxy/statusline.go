package main

import (
	"fmt"
	"time"

	"redlock-proxy/quorum"
)

// statusInterval is how often it is looked whether systemd is to be told something else: what
// it shows is for people.
const statusInterval = time.Second

// tellStatus keeps the line true that systemctl status shows, until no client is left.
func (p *process) tellStatus() {
	tick := time.NewTicker(statusInterval)
	defer tick.Stop()
	told := ""
	for {
		if now := p.statusLine(); now != told {
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

func (p *process) statusLine() string {
	st := p.engine.Status()
	return statusLine(p.server.Draining(), p.server.Ready(), p.server.Clients(), &st)
}

// statusLine is how the process stands, in a line.
func statusLine(draining, ready bool, clients int, st *quorum.Status) string {
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
