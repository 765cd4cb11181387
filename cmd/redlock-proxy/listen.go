package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"sync/atomic"
	"syscall"
	"time"

	"redlock-proxy/conf"
)

// listen opens all listeners of the configuration, those without TLS first, or
// none. What the supervisor has opened already is taken over. The certificates of a TLS
// listener are those of live at each handshake.
func listen(cfg *conf.Config, live *atomic.Pointer[conf.Config], d *door) ([]net.Listener, error) {
	var opened []net.Listener
	open := func(option string, a conf.Address) error {
		ln, err := d.open(option, a)
		if err != nil {
			return err
		}
		if option == "tls-listen" {
			ln = secured(ln, &tls.Config{
				GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) { return live.Load().ServerTLS, nil },
			})
		}
		opened = append(opened, ln)
		return nil
	}
	var err error
	for _, a := range cfg.Listeners {
		err = errors.Join(err, open("listen", a))
	}
	for _, a := range cfg.TLSListeners {
		err = errors.Join(err, open("tls-listen", a))
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

// queue is a listener whose queue can be emptied before it is closed.
type queue interface {
	net.Listener
	syscall.Conn
	SetDeadline(time.Time) error
}

// secure is a TLS listener of that sort, as crypto/tls has none.
type secure struct {
	queue
	config *tls.Config
}

func (s secure) Accept() (net.Conn, error) {
	nc, err := s.queue.Accept()
	if err != nil {
		return nil, err
	}
	return tls.Server(nc, s.config), nil
}

func secured(ln net.Listener, config *tls.Config) net.Listener {
	if q, ok := ln.(queue); ok {
		return secure{q, config}
	}
	return tls.NewListener(ln, config)
}

// door opens addresses.
type door struct {
	reuse  bool      // other processes may open the same
	passed *passed   // nil: nothing was
	beside []*socket // which are to be put in the place of another process's
}

func newDoor(cfg *conf.Config, passed *passed) *door {
	return &door{reuse: cfg.ReusePort == "yes", passed: passed}
}

// open opens the address that an option names.
func (d *door) open(option string, a conf.Address) (net.Listener, error) {
	if ln := d.passed.take(option, a); ln != nil {
		return ln, nil
	}
	var ln net.Listener
	var err error
	if a.Network == "unix" {
		ln, err = d.openSocket(option, a.Address)
	} else {
		ln, err = d.bind(a.Network, a.Address)
	}
	if errors.Is(err, syscall.EADDRINUSE) {
		return nil, fmt.Errorf("%w: end the process that listens there, have both share it by reuse-port, or choose another address with %s", err, option)
	}
	return ln, err
}

func (d *door) bind(network, address string) (net.Listener, error) {
	lc := net.ListenConfig{KeepAlive: -1} // package proxy sets the probes, and once is enough
	if d.reuse && network != "unix" {
		lc.Control = reusePort
	}
	return lc.Listen(context.Background(), network, address)
}

// openSocket opens a Unix socket. Where the path may be taken over of a process that listens there,
// a socket is made beside it, for takeOver.
func (d *door) openSocket(option, path string) (net.Listener, error) {
	defer alone(filepath.Dir(path))()
	taken, err := removeStaleSocket(option, path)
	if err != nil {
		return nil, err
	}
	at := path
	if taken && d.reuse {
		if at = fmt.Sprintf("%s.%d", path, os.Getpid()); len(at) > conf.MaxSocketPath {
			at = filepath.Join(filepath.Dir(path), "."+strconv.FormatInt(int64(os.Getpid()), 36))
		}
	}
	ln, err := d.bind("unix", at)
	if err != nil {
		return nil, err
	}
	s := &socket{UnixListener: ln.(*net.UnixListener), path: path, at: at}
	s.SetUnlinkOnClose(false)
	if s.own, err = os.Lstat(at); err != nil {
		s.UnixListener.Close()
		os.Remove(at)
		return nil, fmt.Errorf("listen unix %s: %w", path, err)
	}
	if at != path {
		d.beside = append(d.beside, s)
	}
	return s, nil
}

// aloneTries are made aloneTick apart. Then a directory is gone into all the same, as anybody who can
// read it may keep it locked.
const (
	aloneTries = 100
	aloneTick  = 10 * time.Millisecond
)

// alone waits until no other process of this program opens a socket in a directory, until release:
// of two that find one left behind, the later would remove what the other has made instead.
func alone(dir string) (release func()) {
	f, err := os.Open(dir)
	if err != nil {
		return func() {}
	}
	for range aloneTries {
		if syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil {
			break
		}
		time.Sleep(aloneTick)
	}
	return func() { f.Close() }
}

// takeOver puts sockets in the place of the other process's: at no moment is there none. It comes
// when all is open, as nobody could give the path back to him.
func (d *door) takeOver() error {
	for _, s := range d.beside {
		if err := os.Rename(s.at, s.path); err != nil {
			return fmt.Errorf("listen unix %s: %w", s.path, err)
		}
		s.at = s.path
	}
	return nil
}

// socket is a Unix socket at a path that another process may take over.
type socket struct {
	*net.UnixListener
	path string
	at   string // path, or beside it
	own  fs.FileInfo
}

func (s *socket) Addr() net.Addr { return &net.UnixAddr{Net: "unix", Name: s.path} }

// Close removes the socket from where it is, unless another process has put its own there.
func (s *socket) Close() error {
	if now, err := os.Lstat(s.at); err == nil && os.SameFile(now, s.own) {
		os.Remove(s.at)
	}
	return s.UnixListener.Close()
}

// removeStaleSocket removes the socket that a process left behind which was
// killed. One that is listened to stays, which it tells, and so does what is no socket.
func removeStaleSocket(option, path string) (taken bool, err error) {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	if info.Mode().Type() != fs.ModeSocket {
		return false, fmt.Errorf("listen unix %s: there is a file that is no socket: remove it, or choose another path with %s", path, option)
	}
	conn, err := net.Dial("unix", path)
	if err == nil {
		conn.Close()
	}
	if err == nil || errors.Is(err, syscall.EAGAIN) { // whose queue is full, as of one that hangs
		return true, nil // to listen there fails, with the usual error
	}
	if !errors.Is(err, syscall.ECONNREFUSED) {
		return false, err
	}
	return false, os.Remove(path)
}
