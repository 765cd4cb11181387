package journal

import (
	_ "embed"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// helpersText is long, as each function of Redis's Lua that may not be trusted has another in its
// place; what a script needs of them is sent, see helpers.
//
//go:embed helpers.lua
var helpersText string

// helpers are what clients' scripts know, by name.
var helpers = readHelpers(helpersText)

// library is sections of Lua, each of which stands behind those that it needs.
type library struct {
	names    []string // in the order of the text
	sections map[string]section
	alone    string // the commands, where nothing else counts
}

type section struct {
	needs []string
	text  string
}

func readHelpers(text string) library {
	l := library{sections: map[string]section{}}
	parts := strings.Split(text, "\n--- ")
	raw := map[string]string{}
	for _, part := range parts[1:] {
		head, text, _ := strings.Cut(part, "\n")
		name, needs, _ := strings.Cut(head, ":")
		raw[name] = text
		l.names = append(l.names, name)
		l.sections[name] = section{strings.Fields(needs), OneLine(text)}
	}
	l.alone = OneLine(strings.Replace(raw["commands"], "-- what counts\n", raw["bounds"], 1)) + " "
	// What a string's functions are is made at once where one is asked for by a name that
	// only the call knows.
	l.sections["strings"] = section{[]string{"counted"}, l.group("strings", func(name string) bool { return strings.HasPrefix(name, "string_") })}
	return l
}

// group is a function that makes all helpers of some kind.
func (l library) group(function string, of func(name string) bool) string {
	var names []string
	for _, name := range l.names {
		if of(name) {
			names = append(names, name)
		}
	}
	done := function + "done"
	return "local " + done + " local function " + function + "() if " + done + " then return end " + done + " = true " + l.text(names, "bounds", "counted") + " end"
}

// all is the text that makes each helper when it is first asked for, and those of its kind.
func (l library) all() string {
	kinds := []string{"string_", "table_", "math_", "bit_", "redis_", "cjson_", "cmsgpack_", "struct_"}
	text := l.text([]string{"bounds", "counted"})
	choose := ""
	for i, kind := range kinds {
		f := "make" + strconv.Itoa(i)
		text += l.group(f, func(name string) bool { return strings.HasPrefix(name, kind) }) + " "
		choose += "string.sub(n,1," + strconv.Itoa(len(kind)) + ")=='" + kind + "' and " + f + " or "
	}
	text += l.group("makeothers", func(name string) bool {
		return !slices.ContainsFunc(kinds, func(kind string) bool { return strings.HasPrefix(name, kind) })
	})
	// rawget: what there is none of must not be asked for without end.
	return text + " h = setmetatable({}, {__index = function(t, n) local make = " + choose + "makeothers make() return rawget(t, n) end})"
}

// of is the text that makes what is named, where there is such a thing: what Redis lacks
// is nil. What counts is made at the first command that needs it, if nothing else does.
func (l library) of(names []string) string {
	rest := l.text(names, "bounds", "commands")
	switch {
	case counting.MatchString(rest):
		return "h = {} " + l.text(append([]string{"bounds"}, names...))
	case slices.Contains(names, "redis_call") || slices.Contains(names, "redis_pcall"):
		return "h = {} " + l.alone + rest
	}
	return "h = {} " + rest
}

// counting is what is made by the section of bounds.
var counting = regexp.MustCompile(`\b(made|read|room|interned)\b`)

func (l library) text(names []string, there ...string) string {
	var b strings.Builder
	var add func(name string)
	add = func(name string) {
		s, known := l.sections[name]
		if !known || slices.Contains(there, name) {
			return
		}
		there = append(there, name)
		for _, n := range s.needs {
			add(n)
		}
		b.WriteString(s.text + " ")
	}
	for _, name := range names {
		add(name)
	}
	return b.String()
}
