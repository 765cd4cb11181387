package master

import (
	"context"
	"crypto/tls"
	"net"

	"redlock-proxy/quorum/netpoll"
)

// connect opens a connection with the deadline of ctx.
func (m *Master) connect(ctx context.Context) (net.Conn, error) {
	connect := m.Dial
	if connect == nil {
		connect = new(net.Dialer).DialContext
	}
	conn, err := connect(ctx, m.Network, m.Address)
	if err != nil {
		return nil, err
	}
	within(ctx, conn)
	return conn, nil
}

// within sets the deadline of ctx.
func within(ctx context.Context, conn net.Conn) {
	if deadline, ok := ctx.Deadline(); ok {
		conn.SetDeadline(deadline)
	}
}

// quiet is for who alone reads and alone writes on a connection: Go's poller knows of it only while he waits.
func (m *Master) quiet(ctx context.Context, conn net.Conn) net.Conn {
	if m.TLS != nil {
		return conn
	}
	taken, ok := netpoll.Take(conn)
	if !ok {
		return conn
	}
	within(ctx, taken)
	return taken
}

// secure begins TLS where the master wants it.
func (m *Master) secure(conn net.Conn) (net.Conn, error) {
	if m.TLS == nil {
		return conn, nil
	}
	secured := tls.Client(conn, m.TLS())
	return secured, secured.Handshake()
}

func (m *Master) credentials() (user, password string) {
	if m.Credentials == nil {
		return "", ""
	}
	return m.Credentials()
}
