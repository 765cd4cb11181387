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
	if quiet, ok := netpoll.Take(conn); ok {
		conn = quiet
	}
	if deadline, ok := ctx.Deadline(); ok {
		conn.SetDeadline(deadline)
	}
	return conn, nil
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
