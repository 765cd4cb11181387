package commands

import (
	"maps"
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

// configGet tells each setting that any of the patterns matches, once. As in Redis
// one that is asked for by its name is told by the name that the client used.
func (s *Session) configGet(c *Command, args []string) Action {
	var pairs []Reply
	told := make(map[string]bool)
	var settings map[string]string
	if s.d.options.Settings != nil {
		settings = s.d.options.Settings()
	}
	tell := func(name, as string) {
		if value, ok := settings[name]; ok && !told[name] {
			told[name] = true
			pairs = append(pairs, Bulk(as), Bulk(value))
		}
	}
	for _, word := range args[2:] {
		if len(word) > maxPattern {
			return refuse(longPattern)
		}
		pattern := lower(word)
		if !strings.ContainsAny(pattern, "*?[") {
			tell(pattern, word)
			continue
		}
		glob := NewGlob(pattern)
		for _, name := range slices.Sorted(maps.Keys(settings)) {
			if glob.Match(name) {
				tell(name, name)
			}
		}
	}
	return Action{Reply: Map(pairs...)}
}

func (s *Session) configRefused(c *Command, args []string) Action {
	return refusef(errConfigRefused, strings.ToUpper(c.word()))
}

// help is the HELP of every container.
func (s *Session) help(c *Command, args []string) Action {
	lines := []Reply{Simple(strings.ToUpper(c.parent.Name) + " <subcommand> [<arg> [value] [opt] ...]. Subcommands are:")}
	for _, sub := range c.parent.Subcommands {
		d := sub.doc()
		lines = append(lines, Simple(strings.TrimSpace(strings.ToUpper(sub.word())+" "+d.Synopsis)), Simple("    "+d.Summary))
	}
	return Action{Reply: Array(lines...)}
}
