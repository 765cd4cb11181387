package integration

import (
	"errors"
	"fmt"
	"net"
	"sync"
)

var ports struct {
	mu    sync.Mutex // guards given
	given map[int]bool
}

// FreePort is a TCP port of 127.0.0.1 that nobody listens on and that was not
// given before.
func FreePort() (int, error) {
	ports.mu.Lock()
	defer ports.mu.Unlock()
	if ports.given == nil {
		ports.given = make(map[int]bool)
	}
	for range 100 {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return 0, fmt.Errorf("look for a free port: %w", err)
		}
		port := l.Addr().(*net.TCPAddr).Port
		if err := l.Close(); err != nil {
			return 0, err
		}
		if !ports.given[port] {
			ports.given[port] = true
			return port, nil
		}
	}
	return 0, errors.New("no free port in 100 attempts")
}
