package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"sync/atomic"
	"syscall"

	"redlock-proxy/conf"
)

// listen opens all listeners of the configuration, those without TLS first, or
// none. The certificates of a TLS listener are those of live at each handshake.
func listen(cfg *conf.Config, live *atomic.Pointer[conf.Config]) ([]net.Listener, error) {
	var opened []net.Listener
	open := func(a conf.Address, secure bool) error {
		ln, err := open(a)
		if err != nil {
			return err
		}
		if secure {
			ln = tls.NewListener(ln, &tls.Config{
				GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) { return live.Load().ServerTLS, nil },
			})
		}
		opened = append(opened, ln)
		return nil
	}
	var err error
	for _, a := range cfg.Listeners {
		err = errors.Join(err, open(a, false))
	}
	for _, a := range cfg.TLSListeners {
		err = errors.Join(err, open(a, true))
	}
	if err != nil {
		closeAll(opened)
		return nil, err
	}
	return opened, nil
}

func closeAll(listeners []net.Listener) {
	for _, ln := range listeners {
		ln.Close()
	}
}

func open(a conf.Address) (net.Listener, error) { return openFor("listen", a) }

// openFor opens the address that an option names.
func openFor(option string, a conf.Address) (net.Listener, error) {
	if a.Network == "unix" {
		if err := removeStaleSocket(option, a.Address); err != nil {
			return nil, err
		}
	}
	without := net.ListenConfig{KeepAlive: -1} // package proxy sets the probes, and once is enough
	ln, err := without.Listen(context.Background(), a.Network, a.Address)
	if errors.Is(err, syscall.EADDRINUSE) {
		return nil, fmt.Errorf("%w: end the process that listens there, or choose another address with %s", err, option)
	}
	return ln, err
}

// removeStaleSocket removes the socket that a process left behind which was
// killed. One that is listened to stays, and so does what is no socket.
func removeStaleSocket(option, path string) error {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if info.Mode().Type() != fs.ModeSocket {
		return fmt.Errorf("listen unix %s: there is a file that is no socket: remove it, or choose another path with %s", path, option)
	}
	conn, err := net.Dial("unix", path)
	if err == nil {
		conn.Close()
		return nil // to listen there fails, with the usual error
	}
	if !errors.Is(err, syscall.ECONNREFUSED) {
		return err
	}
	return os.Remove(path)
}
