package integration

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"strconv"
	"sync"
)

// What is given lies below the ports that systems choose from for outgoing connections
// (from 32768 on with Linux): one of those may be taken before the server listens.
const (
	lowestPort = 10_000
	portsGiven = 22_000
)

var ports struct {
	mu    sync.Mutex // guards next and left
	next  int        // from lowestPort; begins anywhere, for other processes look for ports too
	left  int        // how many were not given
	begun bool
}

// FreePort is a TCP port of 127.0.0.1 that nobody listens on and that was not
// given before.
func FreePort() (int, error) {
	ports.mu.Lock()
	defer ports.mu.Unlock()
	if !ports.begun {
		ports.begun, ports.next, ports.left = true, rand.IntN(portsGiven), portsGiven
	}
	for ports.left > 0 {
		port := lowestPort + ports.next
		ports.next = (ports.next + 1) % portsGiven
		ports.left--
		l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
		if err != nil {
			continue // somebody listens there
		}
		if err := l.Close(); err != nil {
			return 0, fmt.Errorf("give a free port: %w", err)
		}
		return port, nil
	}
	return 0, errors.New("no port is free that was not given before")
}
