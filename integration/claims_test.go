package integration

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"redlock-proxy/commands"
	"redlock-proxy/quorum"
)

func isThere(parts ...string) bool {
	_, err := os.Stat(filepath.Join(parts...))
	return err == nil
}

// A path stands in a document as seen from the top, or from beside the document.
func TestFilesThatDocumentsNameAreThere(t *testing.T) {
	t.Parallel()
	named := regexp.MustCompile("`([A-Za-z0-9_.-]+/[A-Za-z0-9_./-]+\\.[a-z]+)`")
	for path, text := range documents(t) {
		beside := filepath.Dir(path)
		for _, found := range named.FindAllStringSubmatch(text, -1) {
			if !isThere("..", found[1]) && !isThere(beside, found[1]) {
				t.Errorf("%s names %s, which is not there", path, found[1])
			}
		}
	}
}

// A test that a document has run is there, and so are its flags.
func TestOrdersThatDocumentsGiveCanBeCarriedOut(t *testing.T) {
	t.Parallel()
	order := regexp.MustCompile(`go (test|run) [^` + "`" + `\n#]*`)
	orders := 0
	for path, text := range documents(t) {
		for _, found := range order.FindAllString(text, -1) {
			orders++
			if err := canBeCarriedOut(strings.Fields(strings.TrimSuffix(found, "-->"))); err != nil {
				t.Errorf("%s: %s: %v", path, found, err)
			}
		}
	}
	if orders < 20 {
		t.Errorf("only %d orders are looked at", orders)
	}
}

func canBeCarriedOut(words []string) error {
	dir, sources := "", ""
	for i, word := range words[2:] {
		switch before := words[i+1]; {
		case before == "-C" && !isThere("..", word), strings.HasPrefix(word, "./") && !isThere("..", word):
			return fmt.Errorf("there is no %s", word)
		case before == "-C", strings.HasPrefix(word, "./"):
			dir = filepath.Join("..", word)
			files, err := filepath.Glob(dir + "/*.go")
			if err != nil {
				return err
			}
			for _, file := range files {
				b, err := os.ReadFile(file)
				if err != nil {
					return err
				}
				sources += string(b)
			}
		case before == "-run" && words[1] == "test":
			if !regexp.MustCompile(`func Test\w*(` + word + `)\w*\(`).MatchString(sources) {
				return fmt.Errorf("there is no test %s", word)
			}
		case strings.HasPrefix(word, "-") && !slices.Contains([]string{"-C", "-run", "-v", "-timeout", "-short", "-count"}, word):
			if !strings.Contains(sources, `"`+word[1:]+`"`) {
				return fmt.Errorf("there is no flag %s", word)
			}
		}
	}
	if dir == "" {
		return fmt.Errorf("it names no package")
	}
	return nil
}

// Who finds half of it changed in one place, and half of it not in another, believes neither.
func TestNothingStandsInTwoDocuments(t *testing.T) {
	t.Parallel()
	const alike = 15
	word := regexp.MustCompile("[\\pL\\pN`'_-]+")
	in := make(map[string]string)
	for path, text := range documents(t) {
		words := word.FindAllString(strings.ToLower(code.ReplaceAllStringFunc(text, func(s string) string {
			if strings.HasPrefix(s, "```") {
				return ""
			}
			return s
		})), -1)
		for i := range max(len(words)-alike+1, 0) {
			run := strings.Join(words[i:i+alike], " ")
			if other, ok := in[run]; ok && other != path {
				t.Errorf("in %s and in %s: %s", other, path, run)
			}
			in[run] = path
		}
	}
}

// From the first document a reader finds all others.
func TestAllDocumentsAreLedTo(t *testing.T) {
	t.Parallel()
	texts := documents(t)
	found := map[string]bool{}
	var follow func(path string)
	follow = func(path string) {
		if _, is := texts[path]; !is || found[path] {
			return
		}
		found[path] = true
		for _, l := range link.FindAllStringSubmatch(texts[path], -1) {
			file, _, _ := strings.Cut(l[1], "#")
			follow(filepath.Join(filepath.Dir(path), file))
		}
	}
	follow("../README.md")
	for path := range texts {
		if !found[path] {
			t.Errorf("nothing leads to %s", path)
		}
	}
}

// commands/README.md tells of each command that there is.
func TestDocumentTellsOfEachCommand(t *testing.T) {
	t.Parallel()
	text := documents(t)["../commands/README.md"]
	_, rest, _ := strings.Cut(text, "| command | what the masters are asked | the reply |\n| --- | --- | --- |\n")
	rows, _, _ := strings.Cut(rest, "\n\n")
	told := make(map[string]bool)
	for row := range strings.Lines(rows) {
		for _, quoted := range regexp.MustCompile("`[^`]+`").FindAllString(strings.Split(row, " | ")[0], -1) {
			told[strings.ToLower(regexp.MustCompile(`[A-Z_]+`).FindString(quoted))] = true
		}
	}
	for _, c := range commands.Table() {
		if !strings.Contains(c.Name, "|") && !told[c.Name] {
			t.Errorf("it does not tell of %s", strings.ToUpper(c.Name))
		}
	}
}

// conf/README.md tells of each state that a master can be in, and what documents name as
// fields of LOCK MASTERS and INFO is told by these.
func TestDocumentsNameTheFieldsThatThereAre(t *testing.T) {
	t.Parallel()
	texts := documents(t)
	running := texts["../conf/README.md"]
	for s := quorum.Down; s <= quorum.Drained; s++ {
		if !strings.Contains(running, "\n| `"+s.String()+"` | ") {
			t.Errorf("conf/README.md has no row for a master that is %s", s)
		}
	}
	_, p := startQuorum(t, 3, "--admin-listen", "127.0.0.1:0")
	c := dial(t, p.Addr)
	first, _ := c.do("LOCK", "MASTERS").([]any)
	summary, _ := first[0].([]any)
	fields, _ := first[1].([]any)
	shown := regexp.MustCompile(`(?m)^(?:2\) | {3}) ?(\d+)\) "([a-z-]+)"$`).FindAllStringSubmatch(running, -1)
	for _, field := range shown {
		if n, _ := strconv.Atoi(field[1]); n%2 == 1 && (n > len(fields) || fields[n-1] != field[2]) {
			t.Errorf("conf/README.md shows the field %s at %s, and LOCK MASTERS tells %v", field[2], field[1], fields)
		}
	}
	if len(summary) < 2 || summary[0] != "summary" {
		t.Errorf("LOCK MASTERS begins with %v", summary)
	}
	info := c.text("INFO", "everything")
	_, metrics := adminOf(t, p).get("/metrics")
	named := 0
	for path, text := range texts {
		for _, m := range regexp.MustCompile("`(redlock_[a-z_]+)`").FindAllStringSubmatch(text, -1) {
			named++
			if !strings.Contains(metrics, "\n# HELP "+m[1]+" ") {
				t.Errorf("%s names %s, which is no metric", path, m[1])
			}
			info += "\n" + m[1] + ":"
		}
		for _, f := range regexp.MustCompile("`([a-z]+(?:_[a-z]+)+)`").FindAllStringSubmatch(text, -1) {
			named++
			if !strings.Contains(info, "\n"+f[1]+":") {
				t.Errorf("%s names %s, which INFO does not tell", path, f[1])
			}
		}
	}
	if len(shown) < 9 || named < 5 {
		t.Errorf("only %d fields of LOCK MASTERS and %d of INFO are looked at", len(shown), named)
	}
}

// commands/README.md names the versions of clients that are pinned, where they are not the
// system's.
func TestDocumentNamesTheVersionsOfClientsThatRun(t *testing.T) {
	t.Parallel()
	text := documents(t)["../commands/README.md"]
	for language, pinned := range map[string][]string{
		"Go": {"go/go.mod"}, "Node": {"node/package.json"}, "Java": {"java/pom.xml"}, "Rust": {"rust/Cargo.toml"},
		"Python": {"python/requirements-redis5.txt", "python/requirements-redis8.txt"},
	} {
		pins := ""
		for _, file := range pinned {
			b, err := os.ReadFile(filepath.Join("clients", file))
			must(t, err)
			pins += string(b)
		}
		row := regexp.MustCompile(`(?m)^\| ` + language + ` \| (.*) \|`).FindStringSubmatch(text)
		if row == nil {
			t.Errorf("no row of %s", language)
			continue
		}
		for _, version := range regexp.MustCompile(`\d+\.\d+\.\d+[a-z0-9.-]*`).FindAllString(row[1], -1) {
			if !strings.Contains(pins, version) {
				t.Errorf("%s: %s is pinned nowhere", language, version)
			}
		}
	}
}
