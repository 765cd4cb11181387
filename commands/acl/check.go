package acl

import "slices"

// Access is how a command uses a key: as the key's flags say. The zero value uses nothing of it, as EXISTS
// does, so that any right to the key will do.
type Access struct{ Read, Write bool }

// Key is one that a command is called on.
type Key struct {
	Name string
	Access
}

// Call is something that a user wants to do.
type Call struct {
	Command  int   // its place in the catalogue
	Also     []int // the commands of a script
	Keys     []Key
	Channels []string
	Patterns bool // the channels are patterns, each of which must be one of the user's own

	AnyChannel bool // it is not known which
}

// Reason is why a call is denied.
type Reason uint8

const (
	ByCommand Reason = iota + 1
	ByKey
	ByChannel
	ByPassword // of AUTH
	ByLimit    // of how much he may take
)

// String is the word that ACL LOG has for it.
func (r Reason) String() string {
	return [...]string{"", "command", "key", "channel", "auth", "limit"}[r]
}

// Denial is why a user may not do something; the zero value is that he may.
type Denial struct {
	Reason Reason
	Object string // the command, key or channel
}

// Words are how Redis tells a user's denial.
func (d Denial) Words(user string) string {
	switch d.Reason {
	case ByKey, ByChannel:
		return "User " + user + " has no permissions to access the '" + d.Object + "' " + d.Reason.String()
	}
	return "User " + user + " has no permissions to run the '" + d.Object + "' command"
}

// Unbound tells that the user may call this command on all keys and channels, so that nobody needs to look
// which they are. It is on the way of each command.
func (u *User) Unbound(command int) bool {
	s := u.selectors[0]
	return s.allKeys && s.allChannels && s.may.has(command)
}

// MayOnAll tells that the user may call this command on all keys, by whatever right.
func (u *User) MayOnAll(command int) bool {
	return slices.ContainsFunc(u.selectors, func(s *selector) bool { return s.allKeys && s.may.has(command) })
}

// MayAnywhere tells that the user may do this on whatever keys, by one of his selectors.
func (u *User) MayAnywhere(c *Catalogue, call *Call) bool {
	return slices.ContainsFunc(u.selectors, func(s *selector) bool { return s.allKeys && s.allows(c, call) == Denial{} })
}

// May tells whether the user may do this: one of his selectors must allow all of it. Of several denials the one
// is told that came furthest.
func (u *User) May(c *Catalogue, call *Call) Denial {
	var worst Denial
	for _, s := range u.selectors {
		d := s.allows(c, call)
		if d == (Denial{}) {
			return d
		}
		if d.Reason > worst.Reason {
			worst = d
		}
	}
	return worst
}

func (s *selector) allows(c *Catalogue, call *Call) Denial {
	if !s.may.has(call.Command) {
		return Denial{ByCommand, c.Name(call.Command)}
	}
	for _, also := range call.Also {
		if !s.may.has(also) {
			return Denial{ByCommand, c.Name(also)}
		}
	}
	for _, k := range call.Keys {
		if !s.allowsKey(k) {
			return Denial{ByKey, k.Name}
		}
	}
	if call.AnyChannel && !s.allChannels {
		return Denial{ByChannel, "any"}
	}
	for _, channel := range call.Channels {
		if !s.allowsChannel(channel, call.Patterns) {
			return Denial{ByChannel, channel}
		}
	}
	return Denial{}
}

func (s *selector) allowsKey(k Key) bool {
	return s.allKeys || slices.ContainsFunc(s.keys, func(p keyPattern) bool {
		return (p.read || !k.Read) && (p.write || !k.Write) && p.glob.Match(k.Name)
	})
}

func (s *selector) allowsChannel(channel string, pattern bool) bool {
	return s.allChannels || slices.ContainsFunc(s.channels, func(p *channelPattern) bool {
		return pattern && p.text == channel || !pattern && p.glob.Match(channel)
	})
}

// Reads tells whether the user may read a key by a command, as who lists keys is shown those alone.
func (u *User) Reads(command int, key string) bool {
	return slices.ContainsFunc(u.selectors, func(s *selector) bool {
		return s.may.has(command) && s.allowsKey(Key{key, Access{Read: true}})
	})
}

// Hears tells whether the user may use a channel by whatever command.
func (u *User) Hears(channel string) bool {
	return slices.ContainsFunc(u.selectors, func(s *selector) bool { return s.allowsChannel(channel, false) })
}
