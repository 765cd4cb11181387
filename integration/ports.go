package integration

import (
	"errors"
	"math/rand/v2"
	"net"
	"strconv"
	"sync"
)

// What is given lies below the ports that systems choose from for outgoing connections
// (from 32768 on with Linux): one of those may be taken before the server listens. So does
// the one 10,000 above it, on which a node of a cluster listens, too.
const (
	lowestPort = 10_000
	portsGiven = 10_000 // so that no server's second port is another's
	secondPort = 10_000 // above the first
)

var ports struct {
	mu    sync.Mutex // guards next and left
	next  int        // from lowestPort; begins anywhere, for other processes look for ports too
	left  int        // how many were not given
	begun bool
}

// FreePort is a TCP port of 127.0.0.1 that nobody listens on and that was not
// given before. Nobody listens on the one 10,000 above it either.
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
		if free(port) && free(port+secondPort) {
			return port, nil
		}
	}
	return 0, errors.New("no port is free that was not given before")
}

// free tells that nobody listens on a port.
func free(port int) bool {
	l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	return err == nil && l.Close() == nil
}
