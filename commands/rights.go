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

// catalogue is the commands that rights are about: those of the table, at their Index.
var catalogue = sync.OnceValue(func() *acl.Catalogue {
	var list []acl.Command
	for _, c := range table {
		list = append(list, acl.Command{Name: c.Name, Categories: c.categories()})
	}
	return acl.NewCatalogue(list)
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

// everybody is a user who may do everything.
var everybody = sync.OnceValue(func() *acl.User {
	user, err := acl.NewUser(catalogue(), "").With(catalogue(), []string{"on", "allkeys", "allchannels", "+@all"})
	if err != nil {
		panic("commands: " + err.Error())
	}
	return user
})

// user is who the session's client is, as of now: nil if there is no such user any more.
func (s *Session) user() *acl.User {
	if s.itself {
		s.rights = rights{user: everybody(), scripts: true}
	} else if v := s.d.users.Version(); s.rights.user == nil || s.rights.version != v {
		s.rights = rights{version: v, user: s.d.users.Named(s.seen.User)}
		if s.rights.user != nil && !s.rights.user.Is(s.as) {
			s.rights.user = nil
		}
		s.rights.scripts = s.rights.user != nil && runsAll(s.rights.user)
	}
	return s.rights.user
}

// become has the session be a user from now on, as he was found: not who may get his name later.
func (s *Session) become(user *acl.User) { s.seen.User, s.as, s.rights = user.Name, user, rights{} }

// standard is the user default.
func (d *Dialect) standard() *acl.User { return d.users.Named(acl.Default) }

// rights is a user as he was looked up.
type rights struct {
	version uint64
	user    *acl.User
	scripts bool // he may call all that scripts may, on all keys and channels
}

// forbidden tells that the session's user may not call this, and a is the answer then. Keys and channels are
// looked at only of those who may not use all.
func (s *Session) forbidden(c *Command, args []string, a *Action) bool {
	s.judged = nil
	if c.anyone {
		return false
	}
	user := s.user()
	switch {
	case user == nil:
		*a = refuse(errNoAuth)
		a.Close = true // as Redis closes the connections of a user that is taken away
		return true
	case user.Unbound(c.Index) && (s.rights.scripts || !c.runsScript()):
		return false
	}
	denial, j := s.d.denial(user, c, args)
	if denial == (acl.Denial{}) {
		s.judged = j
		return false
	}
	*a = refuse(denialText(user, c, denial))
	a.Forbidden, a.DeniedUser = denial, user.Name
	return true
}

// judged is what a user was found to be allowed to call: the script, nil if there was none of that name, as what
// comes under it later he was not judged by; and whether on no keys but those that it is given. Which others it uses
// is known on the masters alone, and what he may use is not.
type judged struct {
	script   *script
	confined bool
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

// denial is why a user may not make a call of which name and arity are right; the zero value is that he may. j is
// what he was found to be allowed, if it runs a script.
func (d *Dialect) denial(user *acl.User, c *Command, args []string) (denial acl.Denial, j *judged) {
	call := acl.Call{Command: c.Index}
	if c.KeyFlags != "" {
		access := c.access(args)
		for i, key := range c.keys(args) {
			if i == 1 && c.SecondKey != "" {
				access = accessBy(c.SecondKey)
			}
			call.Keys = append(call.Keys, acl.Key{Name: key, Access: access})
		}
	}
	switch c.Name {
	case "publish", "spublish":
		call.Channels = args[1:2]
	case "subscribe", "ssubscribe":
		call.Channels = args[1:]
	case "pubsub|numsub", "pubsub|shardnumsub":
		call.Channels = args[2:]
	case "psubscribe":
		call.Channels, call.Patterns = args[1:], true
	}
	if denial = user.May(catalogue(), &call); denial != (acl.Denial{}) || !c.runsScript() {
		return denial, nil
	}
	sc := d.addScript(&call, c, args) // which is not read, nor kept, for whom it is refused already
	return user.May(catalogue(), &call), &judged{sc, !user.MayAnywhere(catalogue(), &call)}
}

// reads tells which keys a command that lists some may show the session's user, nil for all: those that he may
// read by it. To Redis names are no secret; here several may share a proxy that have nothing to do with each other.
func (s *Session) reads(c *Command) func(key string) bool {
	user := s.user()
	if user != nil && user.Unbound(c.Index) {
		return nil
	}
	return func(key string) bool { return user != nil && user.Reads(c.Index, key) } // he may have been taken away just now
}

// accessBy is how a key with such KeyFlags is used.
func accessBy(flags string) acl.Access {
	return acl.Access{
		Read:  hasWord(flags, "access"),
		Write: hasWord(flags, "insert") || hasWord(flags, "update") || hasWord(flags, "delete"),
	}
}

// access is how a command uses its keys, the first of them where they are not used alike. What
// compares a value tells of it.
func (c *Command) access(args []string) acl.Access {
	a := accessBy(c.KeyFlags)
	if c.Name == "set" || c.Name == "delex" {
		a.Read = slices.ContainsFunc(args[-c.Arity:], func(option string) bool { // behind what every such command has
			return len(option) < longestName && slices.Contains([]string{"get", "ifeq", "ifne", "ifdeq", "ifdne"}, lower(option))
		})
	}
	return a
}

// addScript adds what a script calls to its call: one right must allow that altogether. The keys are those that
// it was given.
func (d *Dialect) addScript(call *acl.Call, c *Command, args []string) (sc *script) {
	switch c.Name {
	case "eval", "eval_ro":
		sc = d.scripts.enter(args[1])
	case "evalsha", "evalsha_ro":
		sc = d.scripts.find(args[1])
	}
	if sc == nil || sc.fault != "" {
		return sc // it will be refused for that
	}
	keys, argv, text := splitKeys(args)
	if text != "" {
		return sc
	}
	told := make(map[scriptCall]bool)
	for _, called := range sc.calls() {
		name, known := called.command.in(keys, argv)
		if !known {
			call.Also, call.AnyChannel = scriptPlaces(), true
			break
		}
		if len(name) > longestName || told[called] {
			continue // no command is called so, or it was looked at
		}
		told[called] = true
		if name = lower(name); name == "object" || name == "memory" {
			word, known := called.first.in(keys, argv)
			if !known {
				call.Also, call.AnyChannel = scriptPlaces(), true
				break
			}
			name += "|" + lower(word[:min(len(word), longestName)])
		}
		place, there := catalogue().Named(name)
		if !there || !slices.Contains(scriptCommands, name) {
			continue // no script may call it
		}
		if !slices.Contains(call.Also, place) {
			call.Also = append(call.Also, place)
		}
		if strings.HasSuffix(name, "publish") {
			channel, known := called.first.in(keys, argv)
			if known && len(channel) <= maxChannelName {
				call.Channels = append(call.Channels, channel)
			} else {
				call.AnyChannel = true
			}
		}
	}
	return sc
}

// scriptPlaces are all commands that a script may call.
var scriptPlaces = sync.OnceValue(func() (places []int) {
	for _, name := range scriptCommands {
		place, _ := catalogue().Named(name)
		places = append(places, place)
	}
	return places
})

// runsAll tells that no script of any kind needs to be looked at for what it calls.
func runsAll(user *acl.User) bool {
	return !slices.ContainsFunc(scriptPlaces(), func(place int) bool { return !user.Unbound(place) })
}
