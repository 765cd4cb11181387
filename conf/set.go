package conf

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// Setting is a value that an option is given while the proxy runs.
type Setting struct{ Name, Value string }

// Refused says why settings were not taken, in Redis's words where it has some, and without any
// password.
type Refused struct {
	Name    string
	Unknown bool // there is no such option
	Why     string
}

// Error is a line for people.
func (r *Refused) Error() string {
	if r.Unknown {
		return r.Name + ": there is no such option"
	}
	return r.Name + ": " + r.Why
}

// redisNames are options under the names that Redis has for them.
var redisNames = map[string]string{"loglevel": "log-level"}

// redisLevels are Redis's words for log levels, where it has others.
var redisLevels = map[string]string{"verbose": "debug", "notice": "info", "warning": "warn"}

// Set is what c becomes where options that may change while the proxy runs have other values: all
// that are named, or none. The error is a *Refused.
func (c *Config) Set(settings []Setting) (*Config, error) {
	next := *c
	next.From, next.contents = maps.Clone(c.From), maps.Clone(c.contents)
	next.Masters, next.OldMasters, next.Warnings = nil, nil, nil
	options, refused := settable(settings) // all names come before any value, as in Redis
	if refused != nil {
		return nil, refused
	}
	alone := true
	for i, s := range settings {
		o := options[i]
		value, why := o.given(s.Value)
		if why != "" {
			return nil, &Refused{Name: s.Name, Why: why}
		}
		alone = alone && o.group == "process"
		reflect.ValueOf(&next.Options).Elem().Field(o.field).Set(value)
		next.From[o.name] = c.From[o.name].replaced()
	}
	if alone {
		// No file that an option names is looked at for what has nothing to do with it, and what
		// was warned of has been.
		next.Masters, next.OldMasters = c.Masters, c.OldMasters
		return &next, nil
	}
	return c.takeOver(&next, settings)
}

// takeOver is Set of what hangs together with other options.
func (c *Config) takeOver(next *Config, settings []Setting) (*Config, error) {
	var problems Problems
	next.check(&problems)
	if len(problems) > 0 {
		return nil, blamed(settings, problems)
	}
	merged, _, restart, err := Reload(c, next)
	switch {
	case err != nil:
		return nil, blamed(settings, err.(Problems))
	case len(restart) > 0:
		return nil, &Refused{Name: restart[0], Why: "it waits for a restart"}
	}
	return merged, nil
}

// settable are the options that are named, each once, or which of them cannot be set.
func settable(settings []Setting) ([]*option, *Refused) {
	var list []*option
	for _, s := range settings {
		name := strings.ToLower(s.Name)
		if ours, known := redisNames[name]; known {
			name = ours
		}
		o := lookup(name)
		switch {
		case o == nil:
			return nil, &Refused{Name: s.Name, Unknown: true}
		case !o.live:
			return nil, &Refused{Name: s.Name, Why: "can't set immutable config"}
		case slices.Contains(list, o):
			return nil, &Refused{Name: s.Name, Why: "duplicate parameter"}
		}
		list = append(list, o)
	}
	return list, nil
}

// given is the value that a text gives an option, or why it gives none.
func (o *option) given(text string) (reflect.Value, string) {
	if level, known := redisLevels[strings.ToLower(text)]; known && o.name == "log-level" {
		text = level
	}
	value, problem := o.value([]string{text})
	if problem == nil && o.typ == intType && strconv.Itoa(int(value.Int())) != text {
		problem = &Problem{} // +1 and 01 are no numbers to Redis
	}
	if problem != nil {
		return reflect.Value{}, o.refusal(text, problem)
	}
	return value, ""
}

// refusal is what Redis says of such a value.
func (o *option) refusal(text string, p *Problem) string {
	switch {
	case o.typ == intType:
		if n, err := strconv.Atoi(text); err != nil || strconv.Itoa(n) != text {
			return "argument couldn't be parsed into an integer"
		}
		return fmt.Sprintf("argument must be between %s and %s inclusive", o.min, o.max)
	case slices.Equal(o.choices, []string{"yes", "no"}):
		return "argument must be 'yes' or 'no'"
	case o.choices != nil:
		return "argument(s) must be one of the following: " + strings.Join(o.choices, ", ")
	}
	return p.Error()
}

// blamed lays the first problem to the setting that it is about, or else to the first one that hangs
// together with other options.
func blamed(settings []Setting, problems Problems) *Refused {
	p := problems[0]
	i := slices.IndexFunc(settings, func(s Setting) bool { return strings.HasSuffix(p.Where, strings.ToLower(s.Name)) })
	if i < 0 {
		i = slices.IndexFunc(settings, func(s Setting) bool {
			o := lookup(strings.ToLower(s.Name))
			return o != nil && o.group != "process"
		})
	}
	return &Refused{Name: settings[max(i, 0)].Name, Why: p.Error()}
}
