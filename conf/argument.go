package conf

import (
	"slices"
	"strings"
)

// argumentProblem is what is wrong with the arguments from args[n] on, and the arguments with which
// reading goes on. These are fewer, or have a subcommand in the place of what was misspelt, so that
// its flags are known.
func argumentProblem(err error, args []string, n int) (p Problem, next []string) {
	p = Problem{"command line", err.Error(), "see --help"}
	if n >= len(args) {
		return p, nil
	}
	argument := args[n]
	if name, value, ok := flagOf(args[n:]); ok {
		if cure := redisCure(name, value); cure != "" && lookup(name) == nil {
			p.What, p.Cure = "--"+name+" is an option of Redis, and none of this proxy", cure
			return p, withoutFlag(args, n)
		}
		return p, without(args, n)
	}
	switch command := meantCommand(argument); {
	case mayBeSecret(args):
		p.What = "unexpected argument (not shown, as it may be a part of a password)"
	case namesCommand(args[:n]):
	case redisFile(argument):
		p.Cure = redisFileCure
	case command == ShowHelp.String():
		p.Cure = "write --help"
	case command != "" && command != argument: // which stands where no command can
		p.What, p.Cure = "there is no command "+argument, "did you mean "+command+"?"
		next = slices.Clone(args)
		next[n] = command
		return p, next
	}
	return p, without(args, n)
}

// flagOf is a flag that args begin with, and what seems to be its value.
func flagOf(args []string) (name, value string, ok bool) {
	text, ok := strings.CutPrefix(args[0], "--")
	if !ok {
		return "", "", false
	}
	name, value, given := strings.Cut(text, "=")
	if !given && len(args) > 1 && !strings.HasPrefix(args[1], "-") {
		value = args[1]
	}
	return name, value, true
}

// namesCommand tells that a subcommand is named already.
func namesCommand(args []string) bool {
	return slices.ContainsFunc(args, func(a string) bool { return slices.Contains(commandNames(), a) })
}

// without leaves out of args the n-th, which could not be understood, and its
// value if it seems to have one.
func without(args []string, n int) []string {
	drop := 1
	isFlag := strings.HasPrefix(args[n], "-") && !strings.Contains(args[n], "=")
	if isFlag && n+1 < len(args) && !strings.HasPrefix(args[n+1], "-") {
		drop = 2
	}
	return slices.Delete(slices.Clone(args), n, n+drop)
}

// withoutFlag leaves out a flag of Redis with all that follows it up to the next one: some have
// several values.
func withoutFlag(args []string, n int) []string {
	end := n + 1
	for end < len(args) && !strings.HasPrefix(args[end], "--") {
		end++
	}
	return slices.Delete(slices.Clone(args), n, end)
}

// mayBeSecret tells that an argument could be a part of a password with a blank in it.
func mayBeSecret(args []string) bool {
	for i := range options {
		flag := "--" + options[i].name
		if options[i].secret() && slices.ContainsFunc(args, func(a string) bool { return strings.HasPrefix(a, flag) }) {
			return true
		}
	}
	return false
}
