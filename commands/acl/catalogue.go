package acl

import (
	"slices"
	"strings"
)

// Command is one that a rule may name.
type Command struct {
	Name       string // lower case; a subcommand's is "client|list"
	Categories []string
}

// Categories are all that there are, Redis's first and in its order.
var Categories = strings.Fields(`keyspace read write set sortedset list hash string bitmap hyperloglog geo stream pubsub admin
	fast slow blocking dangerous connection transaction scripting lock operate`)

// Catalogue is all commands. A command is named by its place in it.
type Catalogue struct {
	commands []Command
	byName   map[string]int
}

// NewCatalogue keeps the commands, which must not be changed.
func NewCatalogue(commands []Command) *Catalogue {
	c := &Catalogue{commands: commands, byName: make(map[string]int, len(commands))}
	for i := range commands {
		c.byName[commands[i].Name] = i
	}
	return c
}

// Named is the place of a command, whose name is in lower case.
func (c *Catalogue) Named(name string) (place int, ok bool) {
	place, ok = c.byName[name]
	return place, ok
}

// Name is the command's at a place.
func (c *Catalogue) Name(place int) string { return c.commands[place].Name }

// Of are the commands of a category, false if there is no such category.
func (c *Catalogue) Of(category string) (names []string, ok bool) {
	if !slices.Contains(Categories, category) {
		return nil, false
	}
	for i := range c.commands {
		if slices.Contains(c.commands[i].Categories, category) {
			names = append(names, c.commands[i].Name)
		}
	}
	return names, true
}

// meant are the places that a rule names by what stands behind its sign: a category, or a command with all
// its subcommands. There are none if there is no such thing.
func (c *Catalogue) meant(rule string) (places []int) {
	category, is := strings.CutPrefix(rule, "@")
	for i := range c.commands {
		cmd := &c.commands[i]
		switch {
		case is && slices.Contains(cmd.Categories, category), !is && (cmd.Name == rule || strings.HasPrefix(cmd.Name, rule+"|")):
			places = append(places, i)
		}
	}
	return places
}
