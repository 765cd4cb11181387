package commands

import (
	"crypto/rand"
	"encoding/hex"
	"slices"
	"strings"

	"redlock-proxy/commands/acl"
	"redlock-proxy/quorum"
)

// setOfWords is a reply of such words.
func setOfWords(list []string) []Reply { return describeAll(list, Bulk) }

func (s *Session) aclWhoAmI(c *Command, args []string) Action {
	return Action{Reply: Bulk(s.seen.User)}
}

func (s *Session) aclCat(c *Command, args []string) Action {
	switch len(args) {
	case 2:
		return Action{Reply: Array(setOfWords(acl.Categories)...)}
	case 3:
		names, ok := catalogue().Of(lower(args[2]))
		if !ok {
			return refusef("ERR Unknown category '%s'", quoted(args[2], errorWords))
		}
		return Action{Reply: Array(setOfWords(names)...)}
	}
	return s.wrongSubcommand(c, args)
}

// wrongSubcommand is what Redis says where a subcommand is given too much.
func (s *Session) wrongSubcommand(c *Command, args []string) Action {
	return refusef("ERR unknown subcommand or wrong number of arguments for '%s'. Try ACL HELP.", quoted(args[1], errorWords))
}

func (s *Session) aclUsers(c *Command, args []string) Action {
	return Action{Reply: Array(setOfWords(s.d.users.Names())...)}
}

func (s *Session) aclList(c *Command, args []string) Action {
	return Action{Reply: Array(setOfWords(strings.Split(strings.TrimSuffix(s.d.users.Text(), "\n"), "\n"))...)}
}

func (s *Session) aclGetUser(c *Command, args []string) Action {
	user := s.d.users.Named(args[2])
	if user == nil {
		return Action{Reply: Null}
	}
	own, further := user.Rights()
	selectors := describeAll(further, func(r acl.Rights) Reply { return Map(rightsOf(r)...) })
	fields := append([]Reply{
		Bulk("flags"), Set(setOfWords(user.Flags())...),
		Bulk("passwords"), Array(setOfWords(user.Passwords())...),
	}, rightsOf(own)...)
	fields = append(fields, Bulk("selectors"), Array(selectors...))
	if limits := user.Limits.Words(); limits != nil {
		held := user.Use.Held(s.d.lookout.Clock())
		fields = append(fields, Bulk("limits"), Bulk(strings.Join(limits, " ")), Bulk("locks"), Integer(int64(held)))
	}
	return Action{Reply: Map(fields...)}
}

func rightsOf(r acl.Rights) []Reply {
	return []Reply{Bulk("commands"), Bulk(r.Commands), Bulk("keys"), Bulk(r.Keys), Bulk("channels"), Bulk(r.Channels)}
}

func (s *Session) aclSetUser(c *Command, args []string) Action {
	before := s.d.users.Named(args[2])
	if err := s.d.users.Set(args[2], args[3:]); err != nil {
		return refusef("ERR %s", err)
	}
	if before == nil {
		return Action{Reply: OK}
	}
	// What he may hear may be less now: whoever is subscribed comes anew.
	return Action{Effect: UsersChangedEffect{Users: []string{before.Name}, Subscribers: true, Reply: OK}}
}

// ShownRules is a user's name and rules with (redacted) for each password and hash of one.
func ShownRules(words []string) []string {
	shown := slices.Clone(words)
	for i, word := range shown {
		if i > 0 && word != "" && strings.Contains("><#!", word[:1]) {
			shown[i] = word[:1] + "(redacted)"
		}
	}
	return shown
}

func (s *Session) aclDelUser(c *Command, args []string) Action {
	gone, err := s.d.users.Delete(args[2:])
	if err != nil {
		return refusef("ERR %s", err)
	}
	reply := Integer(int64(len(gone)))
	if len(gone) == 0 {
		return Action{Reply: reply}
	}
	return Action{Effect: UsersChangedEffect{Users: gone, Reply: reply}}
}

// aclDryRun tells whether a user may make a call, in Redis's words if not.
func (s *Session) aclDryRun(c *Command, args []string) Action {
	user := s.d.users.Named(args[2])
	if user == nil {
		return refusef("ERR User '%s' not found", quoted(args[2], errorWords))
	}
	words := args[3:]
	called, _ := findCommand(words)
	switch {
	case called == nil:
		return refusef("ERR Command '%s' not found", quoted(words[0], errorWords))
	case !called.arityFits(len(words)) || called.do == nil:
		return wrongArity(called)
	case called.anyone:
		return Action{Reply: OK}
	}
	if denial, _ := s.d.denial(user, called, words); denial != (acl.Denial{}) {
		return Action{Reply: Bulk(denial.Words(user.Name))}
	}
	return Action{Reply: OK}
}

// The bits of a password that ACL GENPASS makes.
const (
	usualPassBits = 256
	mostPassBits  = 4096
)

func (s *Session) aclGenPass(c *Command, args []string) Action {
	bits := int64(usualPassBits)
	if len(args) > 3 {
		return s.wrongSubcommand(c, args)
	}
	if len(args) == 3 {
		n, ok := parseInt(args[2])
		switch {
		case !ok:
			return refuse(errNotInteger)
		case n < 1 || n > mostPassBits:
			return refuse(errGenPass)
		}
		bits = n
	}
	digits := (bits + 3) / 4
	random := make([]byte, (digits+1)/2)
	rand.Read(random) // it never fails
	return Action{Reply: Bulk(hex.EncodeToString(random)[:digits])}
}

func (s *Session) aclLog(c *Command, args []string) Action {
	switch {
	case len(args) > 3:
		return s.wrongSubcommand(c, args)
	case len(args) == 2:
		return Action{Effect: ACLLogEffect{Count: usualACLLog}}
	case sameWord(args[2], "reset"):
		return Action{Effect: ACLLogResetEffect{}}
	}
	n, ok := parseInt(args[2])
	if !ok {
		return refuse(errNotInteger)
	}
	return Action{Effect: ACLLogEffect{Count: max(n, 0)}}
}

const usualACLLog = 10

func (s *Session) aclLoad(c *Command, args []string) Action { return Action{Effect: ACLLoadEffect{}} }

func (s *Session) aclSave(c *Command, args []string) Action { return Action{Effect: ACLSaveEffect{}} }

// SetUsers makes of lines that begin with the word user the users there are, and says who is another one now.
// The user default is as he was made if none of the lines is his.
func (d *Dialect) SetUsers(text string) (changed []string, err error) {
	list, err := catalogue().Parse(text)
	if err != nil {
		return nil, err
	}
	return d.users.Replace(append([]*acl.User{standardUser()}, list...)), nil
}

// CheckUsers is what SetUsers would find wrong.
func CheckUsers(text string) error {
	_, err := catalogue().Parse(text)
	return err
}

// SomebodyOperates tells whether there is one among such users who may give orders.
func SomebodyOperates(text string) bool { return NewDialect(Options{Users: text}).SomebodyOperates() }

// UsersText is all users in the words that SetUsers reads.
func (d *Dialect) UsersText() string { return d.users.Text() }

// NoACLFile is the answer where there is no file of users, ACLNotSaved where it cannot be written, and
// ACLFileWrong where what is in it cannot be.
var (
	NoACLFile   = Error(errNoACLFile)
	ACLNotSaved = Error(errACLNotSaved)
)

func ACLFileWrong(err error) Reply {
	return Error(oneLine("ERR " + err.Error() + ". WARNING: ACL errors detected, no change to the previously active ACL rules was performed"))
}

// Certified has the session be the first of these names, which its client has shown a certificate of,
// that is a user who may come so.
func (s *Session) Certified(names []string) {
	if user := s.d.users.Named(s.d.Certified(names)); user != nil {
		s.become(user)
		s.seen.Authed = true
	}
}

// Certified is the first of the names that is a user who may come by a certificate, "" if none is.
func (d *Dialect) Certified(names []string) string {
	for _, name := range names {
		if user := d.users.Named(name); user != nil && user.Enabled && user.Certificate {
			return user.Name
		}
	}
	return ""
}

// Knows tells whether a user of this name has this password, at another door than the clients' own.
func (d *Dialect) Knows(user, password string) bool { return d.admits(user, password) != nil }

// HasUser tells whether there is a user of this name.
func (d *Dialect) HasUser(name string) bool { return d.users.Named(name) != nil }

// Operates tells whether a user may give orders, and Looks whether he may look into all locks.
func (d *Dialect) Operates(user string) bool { return d.MayOnAll(user, "lock|force") }

func (d *Dialect) Looks(user string) bool { return d.MayOnAll(user, "lock|list") }

// Looking tells, as of each call of what it gives, whether who is the user of this name now may still look into all
// locks: he, and not who gets his name later.
func (d *Dialect) Looking(user string) (still func() bool) {
	as := d.users.Named(user)
	return func() bool {
		now := d.users.Named(user)
		return as != nil && now != nil && now.Is(as) && d.Looks(user)
	}
}

// MayOnAll tells whether a user may call a command on all keys, by the name of its row.
func (d *Dialect) MayOnAll(user, command string) bool {
	place, _ := catalogue().Named(command)
	u := d.users.Named(user)
	return u != nil && u.MayOnAll(place)
}

// MayListen tells whether the session's user may hear all that it listens to, as of now. Where nobody's rights
// have changed since its command was judged that is known.
func (s *Session) MayListen() bool {
	if s.rights.user != nil && s.rights.version == s.d.users.Version() {
		return true
	}
	user := s.user()
	if user == nil {
		return false
	}
	mayNot := func(command string, call acl.Call) bool {
		call.Command, _ = catalogue().Named(command)
		return user.May(catalogue(), &call) != (acl.Denial{})
	}
	// Each name is judged by itself: he may have asked for them by several commands, each by another right.
	channels, patterns := s.Subscriptions()
	return !(s.seen.Monitors && mayNot("monitor", acl.Call{}) ||
		slices.ContainsFunc(channels, func(name string) bool {
			name, _ = quorum.ChannelOf(name)
			return mayNot("subscribe", acl.Call{Channels: []string{name}})
		}) ||
		slices.ContainsFunc(patterns, func(name string) bool {
			return mayNot("psubscribe", acl.Call{Channels: []string{name}, Patterns: true})
		}))
}

// KnowsOf tells whether the session's user may be told that there is a channel.
func (s *Session) KnowsOf(channel string) bool {
	user := s.user()
	return user != nil && user.Hears(channel)
}

// SomebodyOperates tells whether there is a user who may give orders.
func (d *Dialect) SomebodyOperates() bool { return slices.ContainsFunc(d.users.Names(), d.Operates) }
