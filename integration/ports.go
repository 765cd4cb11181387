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

	// portsClaimed are claimed at once: other processes look for ports too, and a server that
	// was killed is to find its own free. Whoever listens on the first of them has the others.
	portsClaimed = 50
)

var ports struct {
	mu      sync.Mutex // guards what follows
	next    int
	left    int            // of those that are claimed
	claimed []net.Listener // which end with the process
}

// FreePort is a TCP port of 127.0.0.1 that nobody listens on and that was not
// given before, nor is by another process that asks here, until this one has ended. Nobody listens on
// the one 10,000 above it either.
func FreePort() (int, error) {
	ports.mu.Lock()
	defer ports.mu.Unlock()
	for {
		for ports.left > 0 {
			port := ports.next
			ports.next++
			ports.left--
			if free(port) && free(port+secondPort) {
				return port, nil
			}
		}
		if !claim() {
			return 0, errors.New("no port is free that was not given before")
		}
	}
}

// claim is false if all ports are claimed.
func claim() bool {
	const all = portsGiven / portsClaimed
	first := rand.IntN(all)
	for i := range all {
		port := lowestPort + (first+i)%all*portsClaimed
		if l, err := net.Listen("tcp", local(port)); err == nil {
			ports.claimed = append(ports.claimed, l)
			ports.next, ports.left = port+1, portsClaimed-1
			return true
		}
	}
	return false
}

// free tells that nobody listens on a port.
func free(port int) bool {
	l, err := net.Listen("tcp", local(port))
	return err == nil && l.Close() == nil
}

func local(port int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) }
