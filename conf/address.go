package conf

import (
	"fmt"
	"net"
	"net/netip"
	"path/filepath"
	"strconv"
	"strings"
)

// Address is where to listen or connect, in the words of package net.
type Address struct {
	Network string // tcp or unix
	Address string // host:port, or a path
}

// String is the address as an option has it.
func (a Address) String() string {
	if a.Network == "unix" {
		return "unix://" + a.Address
	}
	return a.Address
}

// Local says whether only this machine can connect there.
func (a Address) Local() bool {
	if a.Network == "unix" {
		return true
	}
	host, _, err := net.SplitHostPort(a.Address)
	if err != nil {
		return false
	}
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.Unmap().IsLoopback()
}

// identity is the same text for different spellings of one address.
func (a Address) identity() string {
	host, port, err := net.SplitHostPort(a.Address)
	if a.Network == "unix" || err != nil {
		return a.String()
	}
	host = strings.TrimSuffix(host, ".")
	if host == "localhost" {
		host = "127.0.0.1"
	}
	if ip, err := netip.ParseAddr(host); err == nil {
		host = ip.Unmap().String()
	}
	return net.JoinHostPort(host, port)
}

// MaxSocketPath is what the kernel has room for, in bytes.
const MaxSocketPath = 107

// parseUnix reads unix:///path.
func parseUnix(text string) (Address, *Problem) {
	path := strings.TrimPrefix(text, "unix://")
	if !filepath.IsAbs(path) {
		return Address{}, &Problem{
			What: fmt.Sprintf("%q names no absolute path", text),
			Cure: "write unix:///run/redlock-proxy/socket, with three slashes",
		}
	}
	if len(path) > MaxSocketPath {
		return Address{}, &Problem{
			What: fmt.Sprintf("%q is longer than the %d bytes that the kernel allows for a socket", text, MaxSocketPath),
			Cure: "choose a shorter path",
		}
	}
	return Address{"unix", filepath.Clean(path)}, nil
}

// parseListen reads an address to listen on.
func parseListen(text string) (Address, *Problem) {
	switch {
	case strings.HasPrefix(text, "unix:"):
		return parseUnix(text)
	case strings.HasPrefix(text, "/"):
		return Address{}, &Problem{
			What: fmt.Sprintf("%q is a path", text),
			Cure: "write unix://" + text,
		}
	case strings.Contains(text, "://"):
		return Address{}, &Problem{
			What: fmt.Sprintf("%q is a URL", text),
			Cure: "write host:port, or unix:///path; tls-listen is for TLS",
		}
	}
	return parseHostPort(text, 0, "127.0.0.1:6380")
}

// parseHostPort reads host:port with a port from lowest to 65535; sample goes
// into the cure.
func parseHostPort(text string, lowest int, sample string) (Address, *Problem) {
	host, port, err := net.SplitHostPort(text)
	if err != nil {
		cure := "write host:port, such as " + sample
		if _, err := strconv.Atoi(text); err == nil {
			cure += ", or :" + text + " for all interfaces"
		}
		if strings.Count(text, ":") > 1 {
			cure = "write an IPv6 address in brackets: [::1]:6380"
		}
		return Address{}, &Problem{What: fmt.Sprintf("%q is not host:port", text), Cure: cure}
	}
	n, err := strconv.Atoi(port)
	if err != nil || n < lowest || n > 65535 {
		return Address{}, &Problem{
			What: fmt.Sprintf("%q has no port from %d to 65535", text, lowest),
			Cure: "write host:port, such as " + sample,
		}
	}
	if host == "*" {
		host = ""
	}
	if !hostLike(host) {
		return Address{}, &Problem{
			What: fmt.Sprintf("%q is not the name or address of a host", host),
			Cure: "write host:port, such as " + sample,
		}
	}
	return Address{"tcp", net.JoinHostPort(strings.ToLower(host), strconv.Itoa(n))}, nil
}

// hostLike sorts out what cannot be a host, so that the mistake is found at
// start and not at the first look-up.
func hostLike(host string) bool {
	if _, err := netip.ParseAddr(host); err == nil || host == "" {
		return true
	}
	for _, c := range host {
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c > 127
		if !letter && c != '-' && c != '_' && c != '.' {
			return false
		}
	}
	return true
}
