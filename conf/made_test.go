package conf

import (
	"flag"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
)

// What is told of the options outside of the program is made from their tags:
//
//	go test ./conf -run Made -update
var update = flag.Bool("update", false, "write anew what is made from the options")

// made compares a file with what it is to be, and writes it with -update.
func made(t *testing.T, path, want string) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(b) == want {
		return
	}
	if !*update {
		t.Errorf("%s is old; cure: go test ./conf -run Made -update", path)
		return
	}
	if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestExampleFileIsMadeFromTheOptions(t *testing.T) {
	b, err := os.ReadFile("redlock-proxy.toml")
	if err != nil {
		t.Fatal(err)
	}
	head, _, _ := strings.Cut(string(b), "# ---- ")
	var file strings.Builder
	file.WriteString(head)
	for _, g := range groups {
		if g.key == "config" {
			continue // the file cannot name another file
		}
		fmt.Fprintf(&file, "# ---- %s ----\n\n", g.title)
		for i := range options {
			if o := &options[i]; o.group == g.key {
				fmt.Fprintf(&file, "%s#%s = %s\n\n", comment(o), o.name, tomlText(o))
			}
		}
	}
	made(t, "redlock-proxy.toml", strings.TrimSuffix(file.String(), "\n"))
}

// comment is an option's help in lines that begin with "# ".
func comment(o *option) string {
	help := o.help
	if o.live {
		help += " (SIGHUP)"
	}
	var lines strings.Builder
	line := "#"
	for word := range strings.FieldsSeq(help) {
		if len([]rune(line))+1+len([]rune(word)) > 90 {
			lines.WriteString(line + "\n")
			line = "#"
		}
		line += " " + word
	}
	return lines.String() + line + "\n"
}

// tomlText is the default as the file has it.
func tomlText(o *option) string {
	switch {
	case o.typ == intType, o.typ == shareType:
		return o.def
	case o.typ == listType && o.def == "":
		return "[]"
	case o.typ == listType:
		return "[" + strconv.Quote(o.def) + "]"
	}
	return strconv.Quote(o.def)
}

func TestReadmeIsMadeFromTheOptions(t *testing.T) {
	b, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	text := between(t, string(b), "commands", commandsTable())
	made(t, "README.md", between(t, text, "options", optionsTables()))
}

// between puts a text where the marks of this name say that it belongs.
func between(t *testing.T, text, name, put string) string {
	t.Helper()
	begin := fmt.Sprintf("<!-- %s: begin; go test ./conf -run Made -update -->\n", name)
	end := fmt.Sprintf("<!-- %s: end -->\n", name)
	head, rest, begins := strings.Cut(text, begin)
	_, tail, ends := strings.Cut(rest, end)
	if !begins || !ends {
		t.Fatalf("no marks of %s; they are\n%s%s", name, begin, end)
	}
	return head + begin + put + end + tail
}

// commandsTable tells of the subcommands and of the flags that they alone have.
func commandsTable() string {
	var table strings.Builder
	table.WriteString("| command | does |\n| --- | --- |\n")
	told, _, _ := trace(nil)
	for _, c := range told.Model.Children {
		fmt.Fprintf(&table, "| `%s` | %s |\n", c.Name, cell(c.Help))
		for _, f := range c.Flags {
			fmt.Fprintf(&table, "| `%s --%s` | %s |\n", c.Name, f.Name, cell(f.Help))
		}
	}
	return table.String()
}

// optionsTables are a table for each heading of the help.
func optionsTables() string {
	var tables strings.Builder
	for _, g := range groups {
		fmt.Fprintf(&tables, "\n### %s\n\n| option | default | may be | |\n| --- | --- | --- | --- |\n", g.title)
		for i := range options {
			if o := &options[i]; o.group == g.key {
				fmt.Fprintf(&tables, "| `%s` | %s | %s | %s |\n", o.name, quoted(o.def), mayBe(o), cell(brief(o)))
			}
		}
	}
	return tables.String() + "\n"
}

// brief is the first sentence of an option's help.
func brief(o *option) string {
	text, _, _ := strings.Cut(o.help, ". ")
	text = strings.TrimSuffix(text, ".")
	if o.live {
		text += " (SIGHUP)"
	}
	return text
}

func mayBe(o *option) string {
	switch {
	case o.choices != nil:
		return "`" + strings.Join(o.choices, "`, `") + "`"
	case o.max != "":
		return o.min + " to " + o.max
	case o.typ == listType:
		return "several"
	}
	return ""
}

func quoted(text string) string {
	if text == "" {
		return ""
	}
	return "`" + text + "`"
}

// cell is a text as it may stand in a table.
func cell(text string) string { return strings.ReplaceAll(text, "|", `\|`) }
