package commands

import (
	"slices"
	"strings"
	"sync"

	"redlock-proxy/commands/acl"
)

// operating is what @operate is: what harms those who hold locks, or shows what others do.
var operating = strings.Fields(`flushall flushdb keys monitor config|set config|rewrite config|resetstat
	lock|admit lock|drain lock|resume lock|force
	acl|setuser acl|deluser acl|dryrun acl|getuser acl|list acl|load acl|log acl|save acl|users`)

// catalogue is the commands that rights are about: those of the table, at their Index, and behind them
// those that scripts alone may call.
var catalogue = sync.OnceValue(func() *acl.Catalogue {
	var list []acl.Command
	for _, c := range table {
		list = append(list, acl.Command{Name: c.Name, Categories: c.categories()})
	}
	return acl.NewCatalogue(append(list, inScripts...))
})

// categories are Redis's of a command, and ours.
func (c *Command) categories() []string {
	list := strings.Fields(c.Categories)
	switch {
	case slices.Contains(operating, c.Name):
		list = append(list, "operate")
	case c.Name == "info", !slices.Contains(list, "dangerous") && !slices.Contains(list, "admin"):
		list = append(list, "lock")
	}
	return list
}

// standardUser is the user default as long as nobody has said what he may.
var standardUser = sync.OnceValue(func() *acl.User {
	user, err := acl.NewUser(catalogue(), acl.Default).With(catalogue(), []string{"on", "nopass", "allkeys", "allchannels", "+@all", "-@operate"})
	if err != nil {
		panic("commands: " + err.Error())
	}
	return user
})

// user is who the session's client is, as of now: nil if there is no such user any more.
func (s *Session) user() *acl.User {
	if v := s.d.users.Version(); s.rights.user == nil || s.rights.version != v {
		s.rights = rights{version: v, user: s.d.users.Named(s.seen.User)}
		s.rights.scripts = s.rights.user != nil && runsAll(s.rights.user)
	}
	return s.rights.user
}

// become has the session be another user from now on.
func (s *Session) become(name string) { s.seen.User, s.rights = name, rights{} }

// rights is a user as he was looked up.
type rights struct {
	version uint64
	user    *acl.User
	scripts bool // he may call all that scripts may, on all keys and channels
}

// forbidden tells why the session's user may not call this, and is false if he may. Keys and channels are
// looked at only of those who may not use all.
func (s *Session) forbidden(c *Command, args []string) (Action, bool) {
	if c.anyone {
		return Action{}, false
	}
	user := s.user()
	switch {
	case user == nil:
		a := refuse(errNoAuth)
		a.Close = true // as Redis closes the connections of a user that is taken away
		return a, true
	case user.Unbound(c.Index) && (s.rights.scripts || !c.runsScript()):
		return Action{}, false
	}
	denial := s.d.denial(user, c, args)
	if denial == (acl.Denial{}) {
		return Action{}, false
	}
	a := refuse(denialText(user, c, denial))
	a.Forbidden, a.DeniedUser = denial, user.Name
	return a, true
}

// denialText is how a denial reads, as on Redis.
func denialText(user *acl.User, c *Command, denial acl.Denial) string {
	switch {
	case denial.Reason == acl.ByCommand && denial.Object != c.Name:
		return oneLine("NOPERM ACL failure in script: " + denial.Words(user.Name))
	case denial.Reason == acl.ByKey:
		return "NOPERM No permissions to access a key"
	case denial.Reason == acl.ByChannel:
		return "NOPERM No permissions to access a channel"
	}
	return oneLine("NOPERM " + denial.Words(user.Name))
}

// denial is why a user may not make a call of which name and arity are right; the zero value is that he may.
func (d *Dialect) denial(user *acl.User, c *Command, args []string) acl.Denial {
	call := acl.Call{Command: c.Index}
	access := c.access(args)
	if c.KeyFlags != "" {
		for _, key := range c.keys(args) {
			call.Keys = append(call.Keys, acl.Key{Name: key, Access: access})
		}
	}
	switch c.Name {
	case "publish":
		call.Channels = args[1:2]
	case "subscribe":
		call.Channels = args[1:]
	case "psubscribe":
		call.Channels, call.Patterns = args[1:], true
	}
	if denial := user.May(catalogue(), &call); denial != (acl.Denial{}) || !c.runsScript() {
		return denial
	}
	return d.scriptDenial(user, c, args)
}

// reads tells which keys a command that lists some may show the session's user, nil for all: those that he may
// read by it. To Redis names are no secret; here several may share a proxy that have nothing to do with each other.
func (s *Session) reads(c *Command) func(key string) bool {
	user := s.user()
	if user.Unbound(c.Index) {
		return nil
	}
	return func(key string) bool { return user.Reads(c.Index, key) }
}

// access is how a command uses its keys.
func (c *Command) access(args []string) acl.Access {
	a := acl.Access{
		Read:  hasWord(c.KeyFlags, "access"),
		Write: hasWord(c.KeyFlags, "insert") || hasWord(c.KeyFlags, "update") || hasWord(c.KeyFlags, "delete"),
	}
	if c.Name == "set" && !slices.ContainsFunc(args[3:], func(option string) bool { return sameWord(option, "get") }) {
		a.Read = false
	}
	return a
}

// scriptDenial is denial of what a script calls.
func (d *Dialect) scriptDenial(user *acl.User, c *Command, args []string) acl.Denial {
	var sc *script
	switch c.Name {
	case "eval", "eval_ro":
		sc = d.scripts.enter(args[1])
	case "evalsha", "evalsha_ro":
		sc = d.scripts.find(args[1])
	}
	keys, argv, text := []string(nil), []string(nil), "none"
	if sc != nil && sc.fault == "" {
		keys, argv, text = splitKeys(args)
	}
	if text != "" {
		return acl.Denial{} // it will be refused for that
	}
	for _, called := range sc.calls() {
		if denial := callDenial(user, called, keys, argv); denial != (acl.Denial{}) {
			return denial
		}
	}
	return acl.Denial{}
}

// callDenial is denial of one call of a script. The keys are those of the script, which were looked at.
func callDenial(user *acl.User, called scriptCall, keys, argv []string) acl.Denial {
	name, known := called.command.in(keys, argv)
	if !known {
		return callsAll(user)
	}
	place, there := catalogue().Named(lower(name))
	if !there || !slices.Contains(scriptCommands, lower(name)) {
		return acl.Denial{} // no script may call it
	}
	call := acl.Call{Command: place}
	if strings.HasSuffix(lower(name), "publish") {
		channel, known := called.first.in(keys, argv)
		if !known && !user.Unbound(place) {
			return acl.Denial{Reason: acl.ByChannel, Object: "any"}
		}
		call.Channels = []string{channel}
	}
	return user.May(catalogue(), &call)
}

// callsAll is denial of whatever a script may call.
func callsAll(user *acl.User) acl.Denial {
	for _, name := range scriptCommands {
		place, _ := catalogue().Named(name)
		if denial := user.May(catalogue(), &acl.Call{Command: place}); denial != (acl.Denial{}) {
			return denial
		}
	}
	if place, _ := catalogue().Named("publish"); !user.AllChannels(place) {
		return acl.Denial{Reason: acl.ByChannel, Object: "any"}
	}
	return acl.Denial{}
}

// runsAll tells that no script of any kind needs to be looked at for what it calls.
func runsAll(user *acl.User) bool {
	return !slices.ContainsFunc(scriptCommands, func(name string) bool {
		place, _ := catalogue().Named(name)
		return !user.Unbound(place)
	})
}
