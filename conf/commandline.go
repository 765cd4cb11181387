package conf

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/alecthomas/kong"
)

// Kong reads the command line and writes the help here; what a value means, and all other
// sources, are this package's own. What it is worth: a parser and a help of ours that come to
// the same, byte for byte in the help, were tried, and are 144 lines more. Beside them it costs
// 0.3 MB of a binary of 11.9, and 0.3 to 1.1 ms of a start of 4.7.

// commandLine is what was read from the arguments.
type commandLine struct {
	command  Command
	values   map[string][]string // by option, in the order given
	given    []string            // all flags, those of subcommands too, that are not said to be false
	help     string              // if command is ShowHelp
	problems Problems
}

// recorder takes the texts of options as they are. Kong would stop at the
// first value that it does not like; here they wait until all sources are read.
type recorder map[string][]string

func (r recorder) Decode(ctx *kong.DecodeContext, _ reflect.Value) error {
	text := ctx.Scan.Peek().String()
	if ctx.Scan.Peek().Type == kong.UntypedToken && isDashed(text) {
		ctx.Scan.Pop()
	} else if err := ctx.Scan.PopValueInto("value", &text); err != nil {
		return fmt.Errorf("it needs a value")
	}
	r[ctx.Value.Name] = append(r[ctx.Value.Name], text)
	return nil
}

// isDashed tells that an argument is a value that begins with a dash, as -1 or a password may, and
// not a flag of ours, of which -h alone has one.
func isDashed(argument string) bool {
	return strings.HasPrefix(argument, "-") && !strings.HasPrefix(argument, "--") && argument != "-h"
}

// parseArgs reads the command line. An argument that cannot be understood is a
// problem, and what follows it is read all the same.
func parseArgs(args []string) commandLine {
	var cl commandLine
	for {
		ctx, values, help := trace(args)
		cl.values = values
		if ctx.Error == nil {
			cl.finish(ctx, help)
			return cl
		}
		rest := ctx.Path[len(ctx.Path)-1].Remainder()
		p, next := argumentProblem(ctx.Error, args, len(args)-len(rest))
		cl.problems = append(cl.problems, p)
		args = next
	}
}

// trace lets kong read args once. Defaults and variables are not kong's part.
func trace(args []string) (*kong.Context, recorder, *strings.Builder) {
	values := recorder{}
	help := &strings.Builder{}
	opts := []kong.Option{
		kong.Name("redlock-proxy"),
		kong.Description(description),
		kong.Writers(help, help),
		kong.ConfigureHelp(kong.HelpOptions{FlagsLast: true, WrapUpperBound: 100}),
		kong.ValueFormatter(formatHelp),
		kong.ExplicitGroups(kongGroups()),
	}
	for _, t := range []reflect.Type{stringType, listType, secretType, intType, shareType, durationType} {
		opts = append(opts, kong.TypeMapper(t, values))
	}
	k, err := kong.New(&grammar{}, opts...)
	if err != nil {
		panic("conf: the tags of Options are wrong: " + err.Error())
	}
	ctx, err := kong.Trace(k, args)
	if err != nil {
		panic("conf: kong.Trace: " + err.Error())
	}
	return ctx, values, help
}

func (cl *commandLine) finish(ctx *kong.Context, help *strings.Builder) {
	cl.command = commandOf(ctx.Command())
	for _, p := range ctx.Path {
		if p.Flag == nil || ctx.FlagValue(p.Flag) == false { // as --no-locks-held=false
			continue
		}
		switch p.Flag.Name {
		case "help":
			cl.command = ShowHelp
			if err := ctx.PrintUsage(false); err != nil {
				panic("conf: the help cannot be written: " + err.Error())
			}
			cl.help = help.String()
			return
		case "version":
			cl.command = ShowVersion
		default:
			cl.given = append(cl.given, p.Flag.Name)
		}
	}
}

func kongGroups() []kong.Group {
	list := make([]kong.Group, len(groups))
	for i, g := range groups {
		list[i] = kong.Group{Key: g.key, Title: g.title + ":"}
	}
	return list
}

// formatHelp is the help of a flag of kong's.
func formatHelp(v *kong.Value) string {
	if o := lookup(v.Name); o != nil {
		return helpOf(o)
	}
	return v.Help
}

// helpOf is an option's help with its default.
func helpOf(o *option) string {
	text := o.help
	if o.def != "" {
		text += " Default " + o.def + "."
	}
	if o.live {
		text += " (SIGHUP)"
	}
	return text
}
