package conf

import (
	"crypto/tls"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// maxMasters is how many masters the engine can count.
const maxMasters = 15

// leastClientMemory has room for the longest commands of some clients, and for thousands of
// usual ones.
const leastClientMemory = 32 << 20

// redisVersion is what clients can read: some end themselves where it is anything
// else.
var redisVersion = regexp.MustCompile(`^[0-9]{1,4}\.[0-9]{1,4}\.[0-9]{1,4}$`)

// check looks at the options together, and fills in what follows from them.
func (c *Config) check(problems *Problems) {
	c.checkListeners(problems)
	c.checkAdmin(problems)
	c.checkMasters(problems)
	c.checkDemo(problems)
	c.checkTraces(problems)
	c.checkAudit(problems)
	c.Password = c.password("requirepass", c.Requirepass, "requirepass-file", c.RequirepassFile, problems)
	c.Users = c.users(problems)
	if !redisVersion.MatchString(c.RedisVersion) {
		problems.add(c.where("redis-version"), fmt.Sprintf("%q is not a version of Redis", c.RedisVersion), "write three numbers, such as 7.2.0")
	}
	if c.MaxClientMemory > 0 && c.MaxClientMemory < leastClientMemory {
		problems.add(c.where("max-client-memory"), fmt.Sprintf("%d bytes are too few to serve clients with", c.MaxClientMemory),
			fmt.Sprintf("write %d or more, or 0 for the default", leastClientMemory))
	}
	c.ServerTLS = c.serverTLS(problems)
	c.MasterTLS = c.masterTLS(problems)
	if c.ProtectedMode == "yes" && !c.Command.asks() {
		if p := c.exposed(); p != nil {
			*problems = append(*problems, *p)
		}
	}
	if c.AcquireTimeout > c.MaxTTL/10 {
		problems.add(c.where("acquire-timeout"),
			fmt.Sprintf("an acquire-timeout of %s is more than a tenth of a max-ttl of %s, so locks could run out while they are being taken", shortDuration(c.AcquireTimeout), shortDuration(c.MaxTTL)),
			fmt.Sprintf("set acquire-timeout to at most %s, or max-ttl to at least %s", shortDuration(c.MaxTTL/10), shortDuration(10*c.AcquireTimeout)))
	}
}

// password is what an option, or the file that another one names, holds.
func (c *Config) password(name string, value Secret, fileName, path string, problems *Problems) Secret {
	if path == "" {
		return value
	}
	if value != "" {
		problems.add(c.where(fileName), "there is a password in "+name+" as well", "leave one of them out")
		return value
	}
	var s Secret
	b, err := c.readFor(fileName, path, maxSecretFile)
	if err == nil {
		c.warnIfShown(fileName, path, "a password")
		s, err = secretIn(b)
	}
	switch {
	case err == errEmptySecret:
		problems.add(c.where(fileName), path+" is empty", "write the password into it, or leave "+fileName+" out")
	case err != nil:
		problems.add(c.where(fileName), err.Error(), fileCure)
	}
	return s
}

func (c *Config) checkListeners(problems *Problems) {
	seen := map[string]string{}
	parse := func(name string, texts []string) []Address {
		list := []Address{}
		for _, text := range texts {
			a, p := parseListen(text)
			if p != nil {
				p.Where = c.where(name)
				*problems = append(*problems, *p)
				continue
			}
			list = append(list, a)
			id := a.identity()
			if strings.HasSuffix(id, ":0") {
				continue // each gets a free port of its own
			}
			if first, twice := seen[id]; twice {
				problems.add(c.where(name), fmt.Sprintf("%s is there twice, first in %s", a, first), "leave one of them out")
			}
			seen[id] = name
		}
		return list
	}
	c.Listeners = parse("listen", c.Listen)
	c.TLSListeners = parse("tls-listen", c.TLSListen)
	if len(c.Listen)+len(c.TLSListen) == 0 {
		problems.add(c.where("listen"), "there is no address to listen on", "name one in listen or tls-listen, such as 127.0.0.1:6380")
	}
}

func (c *Config) checkMasters(problems *Problems) {
	password := c.password("master-password", c.MasterPassword, "master-password-file", c.MasterPasswordFile, problems)
	if c.MasterUser != "" && c.MasterPassword == "" && c.MasterPasswordFile == "" {
		problems.add(c.where("master-user"), "there is a user and no password", "name it in master-password-file, or leave the user out")
	}
	if i := slices.IndexFunc(c.Master, userWithoutURL); i >= 0 {
		// A comma in a password has the same look: all the parts stay hidden.
		problems.add(c.where("master"), fmt.Sprintf("master %d has a user or password, but is no URL", i+1),
			"write redis://user:password@host:port, with a comma in the password as %2C")
		return
	}
	listeners := map[string]bool{}
	for _, a := range append(c.clientListeners(), c.Admin) {
		listeners[a.identity()] = true
	}
	first := map[string]int{}
	for i, text := range c.Master {
		m, p := parseMaster(text)
		if p != nil {
			p.Where = c.where("master")
			*problems = append(*problems, *p)
			continue
		}
		if m.Password == "" {
			m.User, m.Password = c.MasterUser, password
		}
		id := m.identity()
		if j, twice := first[id]; twice {
			problems.add(c.where("master"), fmt.Sprintf("the masters %d and %d are both %s", j+1, i+1, m.Address),
				"leave one of them out: a quorum counts each server once")
		} else {
			first[id] = i
		}
		if slices.ContainsFunc(c.Masters, func(other Master) bool { return other.Name() == m.Name() && other.identity() != id }) {
			problems.add(c.where("master"), fmt.Sprintf("two masters are called %s", m.Name()), "give each a name of its own: proxies tell the masters of a set apart by it")
		}
		if listeners[id] {
			problems.add(c.where("master"), fmt.Sprintf("%s is where the proxy itself listens", m.Address), "name the master's address, or listen elsewhere")
		}
		c.Masters = append(c.Masters, m)
	}
	c.checkNumberOfMasters(problems)
	if c.Command == ChangeMasters {
		c.checkOldMasters(password, problems)
	}
}

func (c *Config) checkNumberOfMasters(problems *Problems) {
	n := len(c.Master)
	switch {
	case n > 0 && c.named("embedded") && c.Embedded > 0:
		problems.add(c.where("embedded"), "masters are named as well", "leave out embedded, which is for trying out, or master")
	case n > 0:
		c.Embedded = 0
	case c.From["master"].Source > File && !c.named("embedded"):
		// A variable that is not set, most likely, and no order to serve from memory.
		problems.add(c.where("master"), "it names no master", "name 3 or 5, or leave it out")
	case c.Embedded == 0:
		problems.add(c.where("master"), "there is no master", "name 3 or 5 in master, or leave embedded at 3 to try it out")
	case c.given("master-user"), c.given("master-password"), c.given("master-password-file"):
		problems.add("master", "there is a user or a password for masters, but no master", "name 3 or 5 in master")
	}
	if n > maxMasters {
		problems.add(c.where("master"), fmt.Sprintf("there are %d masters", n), fmt.Sprintf("name at most %d; 3 or 5 are usual", maxMasters))
	}
	if n = max(n, c.Embedded); n > 0 && n%2 == 0 && n <= maxMasters {
		c.warn("%d masters are an even number: they stand the loss of no more of them than %d would; add one or leave one out", n, n-1)
	}
}

// exposed says which listener other machines can reach without having to prove
// anything, or nil.
func (c *Config) exposed() *Problem {
	if c.Password != "" || c.knowsEverybody() {
		return nil
	}
	const cure = "set a password with requirepass-file, demand client certificates with tls-listen and tls-auth-clients yes, listen on 127.0.0.1, or set protected-mode no"
	const what = "other machines can reach %s, and nobody has to prove who he is there"
	for _, a := range c.Listeners {
		if !a.Local() {
			return &Problem{c.where("listen"), fmt.Sprintf(what, a), cure}
		}
	}
	certificates := c.ServerTLS != nil && c.ServerTLS.ClientAuth == tls.RequireAndVerifyClientCert
	for _, a := range c.TLSListeners {
		if !a.Local() && !certificates {
			return &Problem{c.where("tls-listen"), fmt.Sprintf(what, a), cure}
		}
	}
	if c.hasAdmin() && !c.Admin.Local() && !(certificates && c.AdminTLS == "yes") {
		return &Problem{c.where("admin-listen"), fmt.Sprintf(what, c.Admin),
			"set a password with requirepass-file, demand client certificates with admin-tls and tls-auth-clients yes, listen on 127.0.0.1, or set protected-mode no"}
	}
	return nil
}

// warnOfShownFile warns where the configuration's own file holds a password that
// everybody can read.
func (c *Config) warnOfShownFile() {
	for i := range options {
		o := &options[i]
		holds := o.secret() || o.name == "user" || o.name == "master" && slices.ContainsFunc(c.Masters, func(m Master) bool { return m.Password != "" })
		if c.From[o.name].Source == File && holds {
			c.warnIfShown("config", c.Config, "a password")
			return
		}
	}
}

// warnOfShownPasswords names the passwords that ps shows to everybody on this
// machine.
func (c *Config) warnOfShownPasswords(flags map[string][]string) {
	for i := range options {
		o := &options[i]
		if _, ok := flags[o.name]; ok && o.secret() {
			c.warn("--%s is on the command line, where ps shows it to everybody on this machine; use --%s-file or the variable %s", o.name, o.name, o.env)
		}
	}
	if strings.Contains(strings.Join(flags["user"], " "), " >") {
		c.warn("--user has a password on the command line, where ps shows it to everybody on this machine; write its SHA-256 after a #, or use the variable %s or the file", lookup("user").env)
	}
	for _, text := range splitList(flags["master"]) {
		if m, p := parseMaster(text); p == nil && m.Password != "" {
			c.warn("--master has a password on the command line, where ps shows it to everybody on this machine; use --master-password-file, the variable %s or the file", lookup("master").env)
			return
		}
	}
}
