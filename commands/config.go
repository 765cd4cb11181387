package commands

import (
	"fmt"
	"maps"
	"redlock-proxy/commands/glob"
	"slices"
	"strings"
)

// Setting is what CONFIG SET gives an option.
type Setting struct{ Name, Value string }

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
		if len(word) > glob.MaxLength {
			return refuse(longPattern)
		}
		pattern := lower(word)
		if !strings.ContainsAny(pattern, "*?[") {
			tell(pattern, word)
			continue
		}
		glob := glob.New(pattern)
		for _, name := range slices.Sorted(maps.Keys(settings)) {
			if glob.Match(name) {
				tell(name, name)
			}
		}
	}
	return Action{Reply: Map(pairs...)}
}

func (s *Session) configSet(c *Command, args []string) Action {
	if len(args)%2 != 0 {
		return refuse(errSyntax)
	}
	var settings []Setting
	for pair := range slices.Chunk(args[2:], 2) {
		settings = append(settings, Setting{strings.Clone(pair[0]), strings.Clone(pair[1])})
	}
	return Action{Effect: ConfigSetEffect{Settings: settings}}
}

func (s *Session) configRewrite(c *Command, args []string) Action {
	return Action{Effect: ConfigRewriteEffect{}}
}

func (s *Session) configResetStat(c *Command, args []string) Action {
	return Action{Effect: ConfigResetStatEffect{}}
}

// UnknownOption answers a CONFIG SET of what is no option.
func UnknownOption(name string) Reply {
	return Error(oneLine(fmt.Sprintf(errNoOption, quoted(name, len(name)))))
}

// OptionRefused answers a CONFIG SET whose value cannot be, and why.
func OptionRefused(name, why string) Reply {
	return Error(oneLine(fmt.Sprintf(errOptionRefused, quoted(name, len(name)), why)))
}

// NotRewritten answers a CONFIG REWRITE that has failed.
func NotRewritten(why string) Reply { return Error(oneLine(errNotRewritten + why)) }

// NoConfigFile answers a CONFIG REWRITE where there is nothing to write to.
var NoConfigFile = Error(errNoConfigFile)
