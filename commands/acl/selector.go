package acl

import (
	"slices"
	"strings"

	"redlock-proxy/commands/glob"
)

// selector is a set of commands, with the keys and channels that they may be called on. It is not changed
// once it is a user's.
type selector struct {
	every bool     // +@all is what the rules change; else it is -@all
	rules []string // "+get", "-@dangerous", in the order they were given
	may   bitSet   // the commands that this comes to

	keys     []keyPattern
	channels []*channelPattern

	allKeys, allChannels bool
}

type keyPattern struct {
	text        string
	glob        *glob.Pattern
	read, write bool
}

type channelPattern struct {
	text string
	glob *glob.Pattern
}

// bitSet is a set of commands by their places.
type bitSet []uint64

func (s bitSet) has(i int) bool { return s[i/64]&(1<<(i%64)) != 0 }

func (s bitSet) set(i int, in bool) {
	if in {
		s[i/64] |= 1 << (i % 64)
	} else {
		s[i/64] &^= 1 << (i % 64)
	}
}

func (c *Catalogue) newSelector() *selector {
	return &selector{may: make(bitSet, len(c.commands)/64+1)}
}

func (s *selector) clone() *selector {
	own := *s
	own.rules, own.may = slices.Clone(s.rules), slices.Clone(s.may)
	own.keys, own.channels = slices.Clone(s.keys), slices.Clone(s.channels)
	return &own
}

// all is +@all and -@all.
func (s *selector) all(in bool) {
	s.every, s.rules = in, nil
	for i := range s.may {
		s.may[i] = 0
		if in {
			s.may[i] = ^uint64(0)
		}
	}
}

// command is a rule about commands: a sign, and what it is about in lower case. What an earlier rule said of
// that is told no more.
func (s *selector) command(c *Catalogue, rule string) bool {
	about, in := rule[1:], rule[0] == '+'
	places := c.meant(about)
	if category, is := strings.CutPrefix(about, "@"); places == nil && !(is && slices.Contains(Categories, category)) {
		return false
	}
	s.rules = slices.DeleteFunc(s.rules, func(old string) bool {
		return old[1:] == about || strings.HasPrefix(old[1:], about+"|")
	})
	s.rules = append(s.rules, rule)
	for _, i := range places {
		s.may.set(i, in)
	}
	return true
}

func (s *selector) describeCommands() string {
	return strings.Join(append([]string{sign(s.every) + "@all"}, s.rules...), " ")
}

func sign(in bool) string {
	if in {
		return "+"
	}
	return "-"
}

func (s *selector) describeKeys() string {
	if s.allKeys {
		return "~*"
	}
	var words []string
	for _, k := range s.keys {
		words = append(words, k.String())
	}
	return strings.Join(words, " ")
}

func (k keyPattern) String() string {
	switch {
	case k.read && k.write:
		return "~" + k.text
	case k.read:
		return "%R~" + k.text
	}
	return "%W~" + k.text
}

func (s *selector) describeChannels() string {
	if s.allChannels {
		return "&*"
	}
	var words []string
	for _, p := range s.channels {
		words = append(words, "&"+p.text)
	}
	return strings.Join(words, " ")
}

// describe is the selector in the words that make it anew.
func (s *selector) describe() string {
	var words []string
	if keys := s.describeKeys(); keys != "" {
		words = append(words, keys)
	}
	if !s.allChannels {
		words = append(words, "resetchannels")
	}
	if channels := s.describeChannels(); channels != "" {
		words = append(words, channels)
	}
	return strings.Join(append(words, s.describeCommands()), " ")
}
