package conf

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/BurntSushi/toml"
)

// fileProblem is a mistake in the file: where is "path line 7: key".
func fileProblem(path string, line int, key, what, cure string) Problem {
	where := path
	if line > 0 {
		where += " line " + strconv.Itoa(line)
	}
	if key != "" {
		where += ": " + key
	}
	return Problem{where, what, cure}
}

// readFile reads the TOML file and gives the texts of each option in it, and
// its line.
func readFile(path string) (values map[string][]string, lines map[string]int, problems Problems) {
	b, err := readRegular(path, maxFile)
	if err != nil {
		return nil, nil, Problems{{"config", err.Error(), fileCure}}
	}
	return parseFile(path, string(b))
}

func parseFile(path, text string) (values map[string][]string, lines map[string]int, problems Problems) {
	entries := map[string]toml.Primitive{}
	md, err := toml.Decode(text, &entries)
	if err != nil {
		return nil, nil, Problems{syntaxProblem(path, text, err)}
	}
	values, lines = map[string][]string{}, map[string]int{}
	for _, key := range md.Keys() {
		name := key[0]
		o := lookup(name)
		switch {
		case o == nil && len(key) == 1:
			problems = append(problems, fileProblem(path, lineOf(text, name), name, "there is no such option", suggestion(name)))
			continue
		case o == nil || len(key) > 1:
			continue // named already, as the table that holds it
		case name == "config":
			problems = append(problems, fileProblem(path, lineOf(text, name), name, "the file cannot name another file", "leave it out"))
			continue
		}
		entry := fileEntry{option: o}
		if err := md.PrimitiveDecode(entries[name], &entry); err != nil {
			problems = append(problems, typeProblem(path, o, err))
			continue
		}
		values[name], lines[name] = entry.texts, lineOf(text, name)
	}
	return values, lines, problems
}

// syntaxProblem says where the file is not TOML. The parser's own words may
// quote the file, so they are left out where they could quote a password.
func syntaxProblem(path, text string, err error) Problem {
	var pe toml.ParseError
	if !errors.As(err, &pe) {
		return Problem{path, err.Error(), "correct the file"}
	}
	lines := strings.Split(text, "\n")
	n := pe.Position.Line
	what := pe.Message
	for i := range options {
		if options[i].secret() && n >= 1 && n <= len(lines) && strings.Contains(lines[n-1], options[i].name) {
			what = "this is not TOML (the line is not shown, as it may hold a password)"
		}
	}
	return fileProblem(path, n, "", what, `write name = "value", name = number or name = ["value", "value"]`)
}

// typeProblem is a wrong type, with the line that the decoder knows.
func typeProblem(path string, o *option, err error) Problem {
	what, cure := err.Error(), ""
	line := 0
	var pe toml.ParseError
	if errors.As(err, &pe) {
		what, line = pe.Message, pe.Position.Line
	}
	what, cure, _ = strings.Cut(what, "; ")
	return fileProblem(path, line, o.name, what, cure)
}

// fileEntry is the value of a known key. It checks the type, so that the
// decoder adds the line to what is wrong.
type fileEntry struct {
	option *option
	texts  []string
}

func (e *fileEntry) UnmarshalTOML(data any) error {
	switch v := data.(type) {
	case string:
		e.texts = []string{v}
		if e.option.typ == intType || e.option.typ == shareType {
			return fmt.Errorf("this is text; write the number without quotes")
		}
		return nil
	case int64:
		return e.number(v)
	case float64:
		if e.option.typ == shareType {
			e.texts = []string{strconv.FormatFloat(v, 'g', -1, 64)}
			return nil
		}
	case bool:
		if e.option.choices != nil {
			return fmt.Errorf("this is true or false; write %s in quotes", oneOf(e.option.choices))
		}
	case []any:
		return e.list(v)
	}
	return fmt.Errorf("this is %s; %s", tomlType(data), e.expected())
}

func (e *fileEntry) number(n int64) error {
	switch {
	case e.option.typ == intType, e.option.typ == shareType, e.option.typ == durationType && n == 0:
		e.texts = []string{strconv.FormatInt(n, 10)}
		return nil
	case e.option.typ == durationType:
		return fmt.Errorf(`this number has no unit; write "%dms" for milliseconds or "%ds" for seconds`, n, n)
	}
	return fmt.Errorf("this is a number; %s", e.expected())
}

func (e *fileEntry) list(items []any) error {
	if e.option.typ != listType {
		return fmt.Errorf("this is a list; %s", e.expected())
	}
	e.texts = []string{}
	for _, item := range items {
		s, ok := item.(string)
		if !ok {
			return fmt.Errorf("the list holds %s; %s", tomlType(item), e.expected())
		}
		e.texts = append(e.texts, s)
	}
	return nil
}

// expected says how a value of the option's type is written.
func (e *fileEntry) expected() string {
	switch e.option.typ {
	case intType:
		return "write a whole number"
	case shareType:
		return "write a number, such as " + e.option.def
	case durationType:
		return `write a duration in quotes, such as "250ms"`
	case listType:
		return `write texts in a list, such as ["a", "b"]`
	}
	return "write text in quotes"
}

func tomlType(v any) string {
	switch v.(type) {
	case string:
		return "text"
	case int64:
		return "a number"
	case float64:
		return "a number with a fraction"
	case bool:
		return "true or false"
	case map[string]any:
		return "a table"
	case []any, []map[string]any:
		return "a list"
	}
	return "a date or time"
}

// lineOf finds the line that sets a key, or 0. The decoder knows the lines of
// values only.
func lineOf(text, key string) int {
	set := regexp.MustCompile(`^\s*\[*\s*["']?` + regexp.QuoteMeta(key) + `["']?\s*[=.\]]`)
	for i, line := range strings.Split(text, "\n") {
		if set.MatchString(line) {
			return i + 1
		}
	}
	return 0
}
