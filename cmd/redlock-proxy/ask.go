package main

import (
	"bufio"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"time"

	"redlock-proxy/conf"
)

// askTimeout bounds one question to a proxy on this machine.
const askTimeout = 2 * time.Second

// maxAnswer bounds what is read of its answer.
const maxAnswer = 1 << 20

// endpoint is a listener of a proxy on this machine, asked by itself, its
// health check or its operator.
type endpoint struct {
	network, address string
	tls              *tls.Config // nil: without TLS
	password         conf.Secret
}

// firstEndpoint is the first listener of a configuration.
func firstEndpoint(cfg *conf.Config) endpoint {
	if len(cfg.Listeners) > 0 {
		a := cfg.Listeners[0]
		return endpoint{a.Network, a.Address, nil, cfg.Password}
	}
	a := cfg.TLSListeners[0]
	return endpoint{a.Network, a.Address, selfTLS(cfg), cfg.Password}
}

// selfTLS is for talking to ourselves. The certificate names the host that
// other machines know and not this address, so it is not checked; ours is
// shown in turn if a client certificate is demanded. Where one is optional,
// none is better than ours, which may be good for a server alone.
func selfTLS(cfg *conf.Config) *tls.Config {
	self := &tls.Config{InsecureSkipVerify: true, MinVersion: tls.VersionTLS12}
	if cfg.ServerTLS.ClientAuth == tls.RequireAndVerifyClientCert {
		self.Certificates = cfg.ServerTLS.Certificates
	}
	return self
}

// ask sends one command, after AUTH if there is a password, and gives the
// reply: the text of a string or a number, or an error's with its "-".
func (e endpoint) ask(timeout time.Duration, command ...string) (string, error) {
	said, err := e.converse(timeout, command)
	if err != nil {
		return "", err
	}
	last := said[len(said)-1]
	switch last.kind {
	case '+', '$', ':':
		return last.text, nil
	case '-':
		return "-" + last.text, nil
	}
	return "", errNotRESP
}

// dial connects, with TLS where that is spoken.
func (e endpoint) dial(timeout time.Duration) (net.Conn, error) {
	conn, err := net.DialTimeout(e.network, e.address, timeout)
	if err != nil || e.tls == nil {
		return conn, err
	}
	return tls.Client(conn, e.tls), nil
}

// converse sends commands at once, after AUTH if there is a password, and gives
// the replies, AUTH's too. They are fewer where it has said why, and hung up.
func (e endpoint) converse(timeout time.Duration, requests ...[]string) (said []value, err error) {
	conn, err := e.dial(timeout)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(timeout))
	if e.password != "" {
		requests = append([][]string{{"AUTH", string(e.password)}}, requests...)
	}
	var b []byte
	for _, request := range requests {
		b = appendCommand(b, request...)
	}
	conn.Write(b) // who hangs up at once has mostly said why, which is read below
	r := bufio.NewReader(io.LimitReader(conn, maxAnswer))
	for range requests {
		v, err := readValue(r, maxDepth)
		if err != nil && len(said) > 0 {
			return said, nil
		}
		if err != nil {
			return nil, err
		}
		said = append(said, v)
	}
	return said, nil
}

func appendCommand(b []byte, args ...string) []byte {
	b = fmt.Appendf(b, "*%d\r\n", len(args))
	for _, arg := range args {
		b = fmt.Appendf(b, "$%d\r\n%s\r\n", len(arg), arg)
	}
	return b
}

// alive asks for a sign of life. Any reply is one, an error too: a proxy that
// is full, or wants another password, need not be started again. Nor does one
// that refuses our certificate, which may be good for a server alone.
func (e endpoint) alive(timeout time.Duration) (string, error) {
	reply, err := e.ask(timeout, "PING")
	if alert := new(net.OpError); errors.As(err, &alert) && alert.Op == "remote error" { // as crypto/tls has it
		return "-" + err.Error(), nil
	}
	return reply, err
}

func ping(cfg *conf.Config, stdout, stderr io.Writer) int {
	e := firstEndpoint(cfg)
	reply, err := e.alive(askTimeout)
	if err != nil {
		fmt.Fprintf(stderr, "redlock-proxy: no sign of life from %s: %v\n", e.address, err)
		return exitFailed
	}
	fmt.Fprintln(stdout, printable(reply))
	return exitOK
}

func ready(cfg *conf.Config, stdout, stderr io.Writer) int {
	e := firstEndpoint(cfg)
	reply, err := e.ask(askTimeout, "INFO", "quorum")
	if err != nil {
		fmt.Fprintf(stderr, "redlock-proxy: no answer from %s: %v\n", e.address, err)
		return exitFailed
	}
	answer, isError := strings.CutPrefix(reply, "-")
	lines := strings.Split(answer, "\r\n")
	switch {
	case isError:
		fmt.Fprintf(stderr, "redlock-proxy: %s answers %s\n", e.address, printable(answer))
	case slices.Contains(lines, "ready:1"):
		fmt.Fprintln(stdout, "ready")
		return exitOK
	case slices.Contains(lines, "ready:0"):
		fmt.Fprintf(stderr, "redlock-proxy: %s is not ready: no quorum of masters can vote, or it is shutting down\n", e.address)
	default:
		fmt.Fprintf(stderr, "redlock-proxy: what answers at %s is no redlock-proxy\n", e.address)
	}
	return exitFailed
}
