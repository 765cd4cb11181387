package commands

import (
	"crypto/sha256"
	"crypto/subtle"
	"math"
	"strings"

	"redlock-proxy/commands/acl"
	"redlock-proxy/quorum"
)

func (s *Session) ping(c *Command, args []string) Action {
	if len(args) > 2 {
		return wrongArity(c)
	}
	text := strings.Join(args[1:], "")
	switch {
	case s.listening():
		// Of the form of a message, so that nobody takes it for anything else.
		return Action{Reply: Array(Bulk("pong"), Bulk(text))}
	case len(args) == 1:
		return Action{Reply: Simple("PONG")}
	}
	return Action{Reply: Bulk(text)}
}

func (s *Session) echo(c *Command, args []string) Action {
	return Action{Reply: Bulk(args[1])}
}

func (s *Session) quit(c *Command, args []string) Action {
	return Action{Reply: OK, Close: true}
}

// reset makes the session as new, but for what the client said of its library.
func (s *Session) reset(c *Command, args []string) Action {
	s.silent = false // its own reply may be one to be skipped all the same
	s.forgetTransaction()
	s.caching, s.prefixes = false, nil
	gone := s.forgetSubscriptions()
	s.seen = Snapshot{
		ID: s.seen.ID, Proto: 2, Authed: s.d.Open(),
		LibName: s.seen.LibName, LibVer: s.seen.LibVer,
	}
	s.become(s.d.standard())
	if gone.Channels != nil || gone.Patterns != nil {
		gone.Reply = Simple("RESET")
		return Action{Effect: gone}
	}
	return Action{Reply: Simple("RESET")}
}

func (s *Session) selectDB(c *Command, args []string) Action {
	switch n, ok := parseInt(args[1]); {
	case !ok:
		return refuse(errNotInteger)
	case n < math.MinInt32 || n > math.MaxInt32:
		return refuse(errNotInt32)
	case n < 0 || n >= quorum.Databases:
		return refuse(errDBIndex)
	default:
		return Action{Effect: SelectEffect{DB: int(n)}}
	}
}

// Selected is the server's answer to a SelectEffect: the database is ready, or
// the masters do not have it, in their words.
func (s *Session) Selected(e SelectEffect, err error) Reply {
	if err != nil {
		return Error(err.Error())
	}
	s.seen.DB = e.DB
	return OK
}

func (s *Session) auth(c *Command, args []string) Action {
	user, given := acl.Default, args[len(args)-1]
	switch {
	case len(args) > 3:
		return refuse(errSyntax)
	case len(args) == 2 && s.d.needsNoPassword():
		return refuse(errNoPassword)
	case len(args) == 3:
		user = args[1]
	}
	admitted := s.d.admits(user, given)
	if admitted == nil {
		return denied(c, user)
	}
	s.become(admitted)
	s.seen.Authed = true
	return Action{Reply: OK}
}

func denied(c *Command, user string) Action {
	a := refuse(errWrongPass)
	a.Denied, a.DeniedUser, a.Forbidden = true, user, acl.Denial{Reason: acl.ByPassword, Object: c.verb}
	return a
}

// longestPassword is how long a wrong password may be that is compared. Longer ones cost
// more than they need to, unless the right one is as long.
const longestPassword = acl.MaxPassword

// admits is the user of this name, if he may come with a password, or nil. The user default may with the
// option's as well, if there is one, and then not without any. It compares digests, so that the time it takes tells
// neither where nor by how much a password is wrong.
func (d *Dialect) admits(name, given string) *acl.User {
	user, password := d.users.Named(name), ""
	if name == acl.Default {
		password = d.password()
	}
	if user == nil || !user.Enabled || !d.knows(user, password, given) {
		return nil
	}
	return user
}

// knows tells whether what was given is a user's password, of which the option's may be one.
func (d *Dialect) knows(user *acl.User, password, given string) bool {
	switch {
	case password == "" && user.NoPass:
		return true
	case len(given) > max(longestPassword, len(password)):
		return false
	case password == "" || !user.NoPass && user.Admits(given):
		return user.Admits(given)
	}
	right := d.right.Load()
	if right == nil || right.password != password {
		right = &digested{password, sha256.Sum256([]byte(password))}
		d.right.Store(right)
	}
	digest := sha256.Sum256([]byte(given))
	return subtle.ConstantTimeCompare(digest[:], right.digest[:]) == 1
}

// needsNoPassword tells that the user default has none.
func (d *Dialect) needsNoPassword() bool {
	user := d.users.Named(acl.Default)
	return user.NoPass && d.password() == ""
}

// Open tells that whoever connects is the user default at once.
func (d *Dialect) Open() bool {
	user := d.users.Named(acl.Default)
	return user.Enabled && user.NoPass && d.password() == ""
}

// digested is a password with its digest, so that this is made once.
type digested struct {
	password string
	digest   [sha256.Size]byte
}

func (s *Session) hello(c *Command, args []string) Action {
	next, as := s.seen, s.as
	if len(args) > 1 {
		proto, ok := parseInt(args[1])
		if !ok {
			return refuse(errProtoNotInteger)
		}
		if proto != 2 && proto != 3 {
			return refuse(errNoProto)
		}
		next.Proto = int(proto)
		text, user := s.helloOptions(args[2:], &next, &as)
		if text != "" {
			// As in Redis, the options before the wrong one have been taken.
			s.become(as)
			s.seen.Name, s.seen.Authed = next.Name, next.Authed
			if text == errWrongPass {
				return denied(c, user)
			}
			return refuse(text)
		}
	}
	if !next.Authed && !s.d.Open() {
		return refuse(errHelloNoAuth)
	}
	s.seen = next
	s.become(as)
	return Action{Reply: Map(
		Bulk("server"), Bulk("redis"),
		Bulk("version"), Bulk(s.d.options.Version),
		Bulk("proto"), Integer(int64(s.seen.Proto)),
		Bulk("id"), Integer(s.seen.ID),
		Bulk("mode"), Bulk("standalone"),
		Bulk("role"), Bulk("master"),
		Bulk("modules"), Array(),
	)}
}

// helloOptions reads AUTH and SETNAME into next, or says what is wrong with them, and of a wrong password
// whose it is.
func (s *Session) helloOptions(words []string, next *Snapshot, as **acl.User) (text, denied string) {
	for len(words) > 0 {
		switch option := lower(words[0]); {
		case option == "auth" && len(words) > 2:
			admitted := s.d.admits(words[1], words[2])
			if admitted == nil {
				return errWrongPass, words[1]
			}
			next.Authed, *as = true, admitted
			words = words[3:]
		case option == "setname" && len(words) > 1:
			if !isClientWord(words[1]) {
				return errClientName, ""
			}
			next.Name = strings.Clone(words[1])
			words = words[2:]
		default:
			return oneLine("ERR Syntax error in HELLO option '" + quoted(words[0], len(words[0])) + "'"), ""
		}
	}
	return "", ""
}
