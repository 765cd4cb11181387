package commands

import (
	"fmt"
	"strings"

	"redlock-proxy/commands/acl"
)

func (s *Session) clientList(c *Command, args []string) Action {
	var filter ClientFilter
	switch {
	case len(args) == 2:
	case len(args) == 4 && sameWord(args[2], "type"):
		var text string
		if filter.Type, text = parseClientType(args[3]); text != "" {
			return refuse(text)
		}
	case len(args) > 3 && sameWord(args[2], "id"):
		for _, word := range args[3:] {
			id, ok := parseInt(word)
			if !ok {
				return refuse(errListID)
			}
			filter.IDs = append(filter.IDs, id)
		}
	default:
		return refuse(errSyntax)
	}
	return Action{Effect: ClientListEffect{Filter: filter}}
}

// clientKill: the old form names one address, and spares not even the client that
// asks.
func (s *Session) clientKill(c *Command, args []string) Action {
	if len(args) == 3 {
		return Action{Effect: ClientKillEffect{Filter: ClientFilter{Addr: address(args[2])}, Old: true}}
	}
	filter := ClientFilter{SkipMe: true}
	for words := args[2:]; len(words) > 0; words = words[2:] {
		if len(words) == 1 {
			return refuse(errSyntax)
		}
		if text := filter.set(s.d.users, words[0], words[1]); text != "" {
			return refuse(text)
		}
	}
	return Action{Effect: ClientKillEffect{Filter: filter}}
}

// set takes in one condition of CLIENT KILL, or says what is wrong with it. The
// last one of a kind counts.
func (f *ClientFilter) set(users *acl.Users, option, value string) (text string) {
	switch lower(option) {
	case "id":
		id, ok := parseInt(value)
		if !ok || id < 1 {
			return errKillID
		}
		f.IDs = []int64{id}
	case "type":
		f.Type, text = parseClientType(value)
	case "addr":
		f.Addr = address(value)
	case "laddr":
		f.LAddr = address(value)
	case "user":
		if users.Named(value) == nil {
			return oneLine(fmt.Sprintf("ERR No such user '%s'", quoted(value, len(value))))
		}
		f.User = strings.Clone(value)
	case "skipme":
		switch lower(value) {
		case "yes":
			f.SkipMe = true
		case "no":
			f.SkipMe = false
		default:
			return errSyntax
		}
	case "maxage":
		age, ok := parseInt(value)
		if !ok {
			return errMaxAge
		}
		if age < 1 {
			return errMaxAgeSmall
		}
		f.MaxAge = age
	default:
		return errSyntax
	}
	return text
}

// address is one that a filter asks for. None at all would be any.
func address(word string) string {
	if word == "" {
		return "nobody's"
	}
	return word
}

func parseClientType(word string) (kind, text string) {
	switch kind = lower(word); kind {
	case "normal", "master", "replica", "pubsub":
		return kind, ""
	case "slave":
		return "replica", ""
	}
	return "", oneLine(fmt.Sprintf("ERR Unknown client type '%s'", quoted(word, len(word))))
}
