package commands

import (
	"slices"
	"strings"
)

func (s *Session) timeNow(c *Command, args []string) Action { return Action{Effect: TimeEffect{}} }

func (s *Session) info(c *Command, args []string) Action {
	var sections []string
	for _, word := range args[1:] {
		if word = lower(word); !slices.Contains(sections, word) {
			sections = append(sections, word)
		}
	}
	return Action{Effect: InfoEffect{Sections: sections}}
}

// role has no replicas to tell of, and no offset of theirs.
func (s *Session) role(c *Command, args []string) Action {
	return Action{Reply: Array(Bulk("master"), Integer(0), Array())}
}

func (s *Session) cluster(c *Command, args []string) Action { return refuse(errNoCluster) }

// help is the HELP of every container.
func (s *Session) help(c *Command, args []string) Action {
	lines := []Reply{Simple(strings.ToUpper(c.parent.Name) + " <subcommand> [<arg> [value] [opt] ...]. Subcommands are:")}
	for _, sub := range c.parent.Subcommands {
		d := sub.doc()
		lines = append(lines, Simple(strings.TrimSpace(strings.ToUpper(sub.word())+" "+d.Synopsis)), Simple("    "+d.Summary))
	}
	return Action{Reply: Array(lines...)}
}
