package main

import (
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"strings"
	"syscall"

	"github.com/coreos/go-systemd/v22/activation"

	"redlock-proxy/conf"
)

// passed are the listeners that the supervisor has opened for this process and keeps, as systemd
// does with a socket unit. Each has the name of the option that names its address too: so
// protected-mode, ping and ready go by the configuration, and a port for TLS is never served
// without it by mistake.
type passed struct{ listeners []passedListener }

type passedListener struct {
	option string
	net.Listener
}

// kept hides that the listener has a queue: what waits there is the next process's.
type kept struct{ net.Listener }

// passedToUs takes over what the environment tells of.
func passedToUs() (*passed, error) {
	p := &passed{}
	options := []string{"listen", "tls-listen", "admin-listen"}
	var problems []error
	for _, f := range activation.Files(true) {
		ln, err := net.FileListener(f)
		if err == nil && !isListening(f) {
			ln.Close()
			err = errors.New("nobody has called listen(2) for it")
		}
		name := f.Name()
		f.Close()
		switch {
		case err != nil:
			problems = append(problems, fmt.Errorf("the socket %s that was passed to the process is none to listen at: %w", name, err))
		case !slices.Contains(options, name):
			ln.Close()
			problems = append(problems, fmt.Errorf("the socket at %s that was passed to the process is called %s: call it %s, by FileDescriptorName= of its unit",
				ln.Addr(), name, strings.Join(options, ", ")))
		default:
			p.listeners = append(p.listeners, passedListener{name, ln})
		}
	}
	if err := errors.Join(problems...); err != nil {
		p.close()
		return nil, err
	}
	return p, nil
}

// isListening tells that connections can be accepted from a socket.
func isListening(f *os.File) bool {
	raw, err := f.SyscallConn()
	if err != nil {
		return false
	}
	listening := 0
	failed := raw.Control(func(fd uintptr) {
		listening, err = syscall.GetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_ACCEPTCONN)
	})
	return failed == nil && err == nil && listening != 0
}

func (p *passed) any() bool { return len(p.listeners) > 0 }

// take gives what was passed for an address of an option, nil if nothing was.
func (p *passed) take(option string, a conf.Address) net.Listener {
	if p == nil {
		return nil
	}
	for i, l := range p.listeners {
		if l.option == option && sameAddress(a, l.Addr()) {
			p.listeners = slices.Delete(p.listeners, i, i+1)
			return kept{l.Listener}
		}
	}
	return nil
}

// rest is nil if all that was passed has been taken. Else clients would wait for ever at what is left.
func (p *passed) rest() error {
	var problems []error
	for _, l := range p.listeners {
		problems = append(problems, fmt.Errorf("a socket at %s was passed to the process, and %s does not name that address", l.Addr(), l.option))
	}
	return errors.Join(problems...)
}

func (p *passed) close() {
	for _, l := range p.listeners {
		l.Close()
	}
}

// sameAddress compares what is configured with what is open. All interfaces are written in
// many ways, and a name is what it leads to.
func sameAddress(a conf.Address, open net.Addr) bool {
	if a.Network != open.Network() {
		return false
	}
	at, ok := open.(*net.TCPAddr)
	if !ok {
		return a.Address == open.String()
	}
	wanted, err := net.ResolveTCPAddr(a.Network, a.Address)
	if err != nil || wanted.Port != at.Port {
		return false
	}
	all := func(ip net.IP) bool { return len(ip) == 0 || ip.IsUnspecified() }
	return wanted.IP.Equal(at.IP) || all(wanted.IP) && all(at.IP)
}
