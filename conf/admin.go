package conf

import (
	"fmt"
	"net"
	"slices"
	"strings"
)

// adminByItself is the admin listener of who tries the proxy out: one port beside the clients'.
var adminByItself = Address{"tcp", "127.0.0.1:6381"}

// hasAdmin tells that there is an admin listener.
func (c *Config) hasAdmin() bool { return c.Admin.Network != "" }

// clientListeners are those with and without TLS.
func (c *Config) clientListeners() []Address { return slices.Concat(c.Listeners, c.TLSListeners) }

// checkAdmin looks at the admin listener, once those of clients are known.
func (c *Config) checkAdmin(problems *Problems) {
	taken := func(a Address) bool {
		return !strings.HasSuffix(a.identity(), ":0") &&
			slices.ContainsFunc(c.clientListeners(), func(b Address) bool { return b.identity() == a.identity() })
	}
	for _, name := range c.AdminHost {
		if strings.Contains(name, ":") || name == "*" || !hostLike(name) {
			problems.add(c.where("admin-host"), fmt.Sprintf("%q is not the name of a host", name), "write the name alone, without a port, such as proxy-1.example.org")
		}
	}
	switch {
	case c.AdminListen != "":
		a, p := parseListen(c.AdminListen)
		if p != nil {
			p.Where = c.where("admin-listen")
			*problems = append(*problems, *p)
			return
		}
		if taken(a) {
			problems.add(c.where("admin-listen"), fmt.Sprintf("%s is where clients connect", a), "name another port")
		}
		c.Admin = a
	case !c.named("admin-listen") && len(c.Master) == 0 && c.Embedded > 0 && !taken(adminByItself):
		c.Admin, c.AdminByItself = adminByItself, true
	case c.AdminTLS == "yes", len(c.AdminHost) > 0:
		name := "admin-tls"
		if c.AdminTLS == "no" {
			name = "admin-host"
		}
		problems.add(c.where(name), "there is no admin listener", "name one in admin-listen, or leave it out")
	}
}

// AdminHosts are the names by which the admin listener may be asked, besides IP addresses and
// localhost.
func (c *Config) AdminHosts() []string {
	host, _, err := net.SplitHostPort(c.Admin.Address)
	if err != nil || host == "" {
		return c.AdminHost
	}
	return append([]string{host}, c.AdminHost...)
}
