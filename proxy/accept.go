package proxy

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"runtime"
	"time"

	"redlock-proxy/quorum/netpoll"
)

// floodPause is for how long none is accepted behind a connection that was reset at once: of a
// flood of such many are done with then for one wake-up, and who else connects hardly waits.
const floodPause = time.Millisecond

// Serve accepts connections on ln until Shutdown, and those that wait in its queue by then, and returns nil; or
// until ln is closed by somebody else, which is an error. It closes ln.
func (s *Server) Serve(ln net.Listener) error {
	defer ln.Close()
	if !s.addListener(ln) {
		return nil
	}
	defer s.removeListener(ln)

	var delay time.Duration
	var paused time.Time
	for {
		nc, err := ln.Accept()
		switch {
		case err == nil:
			if delay > 0 {
				s.log.Info("connections can be accepted again", "listen", ln.Addr().String())
			}
			delay = 0
			if s.admit(nc) {
				runtime.Gosched() // whoever connects without pause has others served in between
			} else if time.Since(paused) > floodPause {
				s.pause(floodPause)
				paused = time.Now()
			}
		case s.draining.Load():
			s.empty(ln)
			return nil
		case errors.Is(err, net.ErrClosed), errors.Is(err, io.EOF):
			return fmt.Errorf("accept on %s: %w", ln.Addr(), err)
		default:
			if delay == 0 {
				s.log.Warn("connections cannot be accepted", "listen", ln.Addr().String(), "error", err)
			}
			delay = min(max(2*delay, minAcceptDelay), maxAcceptDelay)
			if !s.pause(delay) {
				return nil
			}
		}
	}
}

// pause waits, and says whether the server still accepts.
func (s *Server) pause(d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-s.stop:
		return false
	}
}

func (s *Server) addListener(ln net.Listener) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.draining.Load() {
		return false
	}
	s.listeners[ln] = struct{}{}
	s.sampling.Do(func() { s.running.Go(s.sample) })
	if s.address == "" {
		s.address = ln.Addr().String()
	}
	if addr, ok := ln.Addr().(*net.TCPAddr); ok && s.port == 0 {
		s.port = addr.Port
	}
	return true
}

func (s *Server) removeListener(ln net.Listener) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.listeners, ln)
}

// admit starts a connection, or turns it away. It never waits for the client. It is false if
// the client is gone already.
func (s *Server) admit(nc net.Conn) bool {
	if isReset(socket(nc)) {
		s.stats.connections.Add(1)
		nc.Close()
		return false
	}
	s.keepAlive(nc)
	if quiet, ok := netpoll.Take(nc); ok {
		nc = quiet
	}
	c := newConn(s, nc)
	s.mu.Lock()
	closed, full := s.closed, len(s.conns) >= s.cfg.MaxClients
	if !closed && !full {
		s.conns[c.id] = c
		s.running.Add(1)
	}
	clients := len(s.conns)
	s.mu.Unlock()

	switch {
	case closed:
		nc.Close()
	case full:
		s.stats.rejectedConnections.Add(1)
		// Over TLS there is nobody to talk to before the handshake, and the
		// accept loop does not wait for one.
		if c.fd != noSocket {
			c.tryWrite([]byte("-ERR max number of clients reached\r\n"))
		}
		nc.Close()
	default:
		s.stats.connections.Add(1)
		if s.log.IsDebug() {
			s.log.Debug("client connected", "id", c.id, "addr", c.addr, "clients", clients)
		}
		c.mu.Lock()
		c.charge()
		c.begin()
		c.mu.Unlock()
	}
	return true
}

// leave takes a connection off the list. It is the last thing its reader does.
func (s *Server) leave(c *conn) {
	s.mu.Lock()
	delete(s.conns, c.id)
	clients := len(s.conns)
	s.mu.Unlock()
	if s.log.IsDebug() {
		s.log.Debug("client gone", "id", c.id, "addr", c.addr, "clients", clients)
	}
	s.running.Done()
}

// keepAlive sets the probes as Redis does: three, a third of the interval apart.
func (s *Server) keepAlive(nc net.Conn) {
	if over, ok := nc.(*tls.Conn); ok {
		nc = over.NetConn()
	}
	tcp, ok := nc.(*net.TCPConn)
	if !ok {
		return
	}
	interval := s.cfg.TCPKeepAlive
	tcp.SetKeepAliveConfig(net.KeepAliveConfig{
		Enable:   interval > 0,
		Idle:     interval,
		Interval: max(interval/3, time.Second),
		Count:    3,
	})
}
