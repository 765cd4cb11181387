package integration

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	link    = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	heading = regexp.MustCompile(`(?m)^#+ (.*)$`)
	code    = regexp.MustCompile("(?s)```.*?```|`[^`\n]*`")
)

// documents are all READMEs and their like, by path.
func documents(t *testing.T) map[string]string {
	t.Helper()
	texts := make(map[string]string)
	must(t, filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".md" || strings.Contains(path, "node_modules") {
			return err
		}
		b, err := os.ReadFile(path)
		texts[path] = string(b)
		return err
	}))
	return texts
}

// anchors of a document's headings, as they are made of them where it is shown.
func anchors(text string) map[string]bool {
	made := make(map[string]bool)
	for _, h := range heading.FindAllStringSubmatch(text, -1) {
		made[strings.Map(func(r rune) rune {
			switch {
			case r == ' ':
				return '-'
			case r == '-', r == '_', '0' <= r && r <= '9', 'a' <= r && r <= 'z':
				return r
			}
			return -1
		}, strings.ToLower(h[1]))] = true
	}
	return made
}

func TestLinksInDocumentsLeadSomewhere(t *testing.T) {
	t.Parallel()
	links := 0
	for path, text := range documents(t) {
		for _, found := range link.FindAllStringSubmatch(code.ReplaceAllString(text, ""), -1) {
			if strings.Contains(found[1], "://") {
				continue
			}
			links++
			file, anchor, _ := strings.Cut(found[1], "#")
			target := path
			if file != "" {
				target = filepath.Join(filepath.Dir(path), file)
			}
			there, err := os.ReadFile(target)
			if s, statErr := os.Stat(target); statErr == nil && s.IsDir() && anchor == "" {
				continue
			}
			if err != nil || anchor != "" && !anchors(string(there))[anchor] {
				t.Errorf("%s leads to %s, which is not there", path, found[1])
			}
		}
	}
	if links < 20 {
		t.Errorf("only %d links are looked at", links)
	}
}

// Who comes by reads ten kilobytes and not a hundred.
func TestReadmeIsShort(t *testing.T) {
	t.Parallel()
	b, err := os.ReadFile("../README.md")
	must(t, err)
	if len(b) > 10_000 {
		t.Errorf("README.md has %d bytes", len(b))
	}
}
