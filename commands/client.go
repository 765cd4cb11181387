package commands

import "strings"

// isClientWord tells whether a name can stand in a line of CLIENT LIST.
func isClientWord(s string) bool {
	for i := range len(s) {
		if s[i] < '!' || s[i] > '~' {
			return false
		}
	}
	return true
}

func (s *Session) clientID(c *Command, args []string) Action {
	return Action{Reply: Integer(s.seen.ID)}
}

func (s *Session) clientGetName(c *Command, args []string) Action {
	if s.seen.Name == "" {
		return Action{Reply: Null}
	}
	return Action{Reply: Bulk(s.seen.Name)}
}

func (s *Session) clientSetName(c *Command, args []string) Action {
	if !isClientWord(args[2]) {
		return refuse(errClientName)
	}
	s.seen.Name = strings.Clone(args[2])
	return Action{Reply: OK}
}

func (s *Session) clientSetInfo(c *Command, args []string) Action {
	var field *string
	switch lower(args[2]) {
	case "lib-name":
		field = &s.seen.LibName
	case "lib-ver":
		field = &s.seen.LibVer
	default:
		return refusef("ERR Unrecognized option '%s'", quoted(args[2], len(args[2])))
	}
	if !isClientWord(args[3]) {
		return refusef("ERR %s cannot contain spaces, newlines or special characters.", args[2])
	}
	*field = strings.Clone(args[3])
	return Action{Reply: OK}
}

func (s *Session) clientInfo(c *Command, args []string) Action {
	return Action{Effect: ClientInfoEffect{}}
}

// clientReply answers ON alone: the others ask for silence, and get it at once.
func (s *Session) clientReply(c *Command, args []string) Action {
	switch lower(args[2]) {
	case "on":
		s.silent, s.skipping = false, false
	case "off":
		s.silent = true
	case "skip":
		s.skipNext = !s.silent
		return Action{Reply: OK, Muted: true}
	default:
		return refuse(errSyntax)
	}
	return Action{Reply: OK}
}

// clientNoEvict is answered OK in any case, but protects none but operators: else any client could
// take so much that others are cut off.
func (s *Session) clientNoEvict(c *Command, args []string) Action {
	a := parseSwitch(args[2], &s.seen.NoEvict)
	s.seen.NoEvict = s.seen.NoEvict && s.d.Operates(s.seen.User)
	return a
}

// clientNoTouch is remembered for CLIENT LIST: masters see no client's reads.
func (s *Session) clientNoTouch(c *Command, args []string) Action {
	return parseSwitch(args[2], &s.seen.NoTouch)
}

func parseSwitch(word string, on *bool) Action {
	switch lower(word) {
	case "on":
		*on = true
	case "off":
		*on = false
	default:
		return refuse(errSyntax)
	}
	return Action{Reply: OK}
}
