package conf

import (
	"fmt"
	"slices"
	"strings"
)

// Shells are those for which there is a completion.
var Shells = []string{"bash", "zsh", "fish"}

// chooseShell takes the argument of the subcommand completion.
func (c *Config) chooseShell(arguments []string, problems *Problems) {
	c.Shell = strings.Join(arguments, " ")
	if !slices.Contains(Shells, c.Shell) {
		problems.add("completion", fmt.Sprintf("%q is not a shell that is known here", c.Shell), "write "+oneOf(Shells))
	}
}

// Completions is what completes command lines of this program in a shell, which must be one of
// Shells.
func Completions(shell string) string {
	switch shell {
	case "bash":
		return bashCompletion(toldFlags(), toldCommands())
	case "zsh":
		return zshCompletion(toldFlags(), toldCommands())
	case "fish":
		return fishCompletion(toldFlags(), toldCommands())
	}
	panic("conf: there is no completion for " + shell)
}

// toldFlag is a flag as completions and the manual page tell of it.
type toldFlag struct {
	name, help  string
	placeholder string   // "" if it has no value
	choices     []string // all its values, if these are few
	file        bool     // its value is a path
}

// toldCommand is a subcommand, with the flags that it alone has.
type toldCommand struct {
	name, help string
	words      []string // its argument is one of these, if it has one
	flags      []toldFlag
}

// toldFlags are the options, and what all subcommands have besides.
func toldFlags() []toldFlag {
	list := []toldFlag{{name: "help", help: "Show the help."}, {name: "version", help: "Print the version."}}
	for i := range options {
		o := &options[i]
		list = append(list, toldFlag{o.name, o.help, o.placeholder, o.choices, o.placeholder == "PATH"})
	}
	return list
}

// toldCommands are all of them in the order of the help.
func toldCommands() (list []toldCommand) {
	told, _, _ := trace(nil)
	for _, c := range told.Model.Children {
		t := toldCommand{name: c.Name, help: c.Help}
		if commandOf(c.Name) == Completion {
			t.words = Shells
		}
		for _, f := range c.Flags {
			flag := toldFlag{name: f.Name, help: f.Help}
			if !f.IsBool() {
				flag.placeholder = f.FormatPlaceHolder()
			}
			t.flags = append(t.flags, flag)
		}
		list = append(list, t)
	}
	return list
}

// sentence is the first sentence of a help, without its end.
func sentence(help string) string {
	text, _, _ := strings.Cut(help, ". ")
	return strings.TrimSuffix(text, ".")
}

// flagNames are flags as they are written, for those that want is true of.
func flagNames(flags []toldFlag, want func(toldFlag) bool) (names []string) {
	for _, f := range flags {
		if want(f) {
			names = append(names, "--"+f.name)
		}
	}
	return names
}

func anyFlag(toldFlag) bool { return true }
