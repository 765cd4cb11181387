package main

import (
	"bufio"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
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
// shown in turn if a client certificate is demanded.
func selfTLS(cfg *conf.Config) *tls.Config {
	return &tls.Config{InsecureSkipVerify: true, Certificates: cfg.ServerTLS.Certificates, MinVersion: tls.VersionTLS12}
}

// ask sends one command, after AUTH if there is a password, and gives the
// reply: the text of a bulk or simple string, or an error's with its "-".
func (e endpoint) ask(timeout time.Duration, command ...string) (string, error) {
	conn, err := net.DialTimeout(e.network, e.address, timeout)
	if err != nil {
		return "", err
	}
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(timeout))
	if e.tls != nil {
		conn = tls.Client(conn, e.tls)
	}
	var request []byte
	replies := 1
	if e.password != "" {
		request = appendCommand(request, "AUTH", string(e.password))
		replies = 2
	}
	if _, err := conn.Write(appendCommand(request, command...)); err != nil {
		return "", err
	}
	r := bufio.NewReader(io.LimitReader(conn, maxAnswer))
	reply := ""
	for i := range replies {
		next, err := readReply(r)
		if err != nil && i > 0 {
			return reply, nil // it has said why, and hung up
		}
		if err != nil {
			return "", err
		}
		reply = next
	}
	return reply, nil
}

func appendCommand(b []byte, args ...string) []byte {
	b = fmt.Appendf(b, "*%d\r\n", len(args))
	for _, arg := range args {
		b = fmt.Appendf(b, "$%d\r\n%s\r\n", len(arg), arg)
	}
	return b
}

var errNotRESP = errors.New("what answers is no Redis protocol")

func readReply(r *bufio.Reader) (string, error) {
	line, err := r.ReadString('\n')
	if err != nil {
		return "", err
	}
	text, ok := strings.CutSuffix(line, "\r\n")
	if !ok || text == "" {
		return "", errNotRESP
	}
	switch text[0] {
	case '+':
		return text[1:], nil
	case '-':
		return text, nil
	case '$':
		n, err := strconv.Atoi(text[1:])
		if err != nil || n < 0 || n > maxAnswer {
			return "", errNotRESP
		}
		b := make([]byte, n+2)
		if _, err := io.ReadFull(r, b); err != nil {
			return "", err
		}
		return string(b[:n]), nil
	}
	return "", errNotRESP
}

// alive asks for a sign of life. Any reply is one, an error too: a proxy that
// is full, or wants another password, need not be started again.
func (e endpoint) alive(timeout time.Duration) (string, error) {
	return e.ask(timeout, "PING")
}

func ping(cfg *conf.Config, stdout, stderr io.Writer) int {
	e := firstEndpoint(cfg)
	reply, err := e.alive(askTimeout)
	if err != nil {
		fmt.Fprintf(stderr, "redlock-proxy: no sign of life from %s: %v\n", e.address, err)
		return exitFailed
	}
	fmt.Fprintln(stdout, reply)
	return exitOK
}

func ready(cfg *conf.Config, stdout, stderr io.Writer) int {
	e := firstEndpoint(cfg)
	reply, err := e.ask(askTimeout, "INFO", "quorum")
	if err != nil {
		fmt.Fprintf(stderr, "redlock-proxy: no answer from %s: %v\n", e.address, err)
		return exitFailed
	}
	for line := range strings.SplitSeq(reply, "\r\n") {
		if line == "ready:1" {
			fmt.Fprintln(stdout, "ready")
			return exitOK
		}
	}
	if strings.HasPrefix(reply, "-") {
		fmt.Fprintf(stderr, "redlock-proxy: %s answers %s\n", e.address, reply[1:])
		return exitFailed
	}
	fmt.Fprintf(stderr, "redlock-proxy: %s is not ready: no quorum of masters can vote, or it is shutting down\n", e.address)
	return exitFailed
}
