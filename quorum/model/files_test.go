package model

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// What a table says and no model knows would pass without a word.
func TestTableAndModelsKnowTheSameSwitches(t *testing.T) {
	known := map[string]bool{}
	files, err := filepath.Glob("*.pml")
	if err != nil || len(files) == 0 {
		t.Fatal("no models", err)
	}
	asked := regexp.MustCompile(`(?m)^#(?:ifdef|ifndef|if) +([A-Z][A-Z0-9_]*)`)
	for _, file := range files {
		for _, m := range asked.FindAllStringSubmatch(read(t, file), -1) {
			known[m[1]] = true
		}
	}
	used := map[string]bool{}
	for _, w := range worlds {
		used = note(t, used, known, w.name, w.defines)
	}
	for _, a := range absences {
		used = note(t, used, known, a.rule, a.defines+" "+a.rule)
	}
	for name := range known {
		if !used[name] {
			t.Errorf("the models ask for %s, and no row of the table defines it", name)
		}
	}
}

func note(t *testing.T, used, known map[string]bool, row, defines string) map[string]bool {
	for _, d := range strings.Fields(defines) {
		name, _, _ := strings.Cut(d, "=")
		if !known[name] {
			t.Errorf("%s defines %s, and no model asks for it", row, name)
		}
		used[name] = true
	}
	return used
}

func TestReadmeTellsOfEachRow(t *testing.T) {
	readme := read(t, "README.md")
	for _, w := range worlds {
		if !strings.Contains(readme, "`"+w.name+"`") {
			t.Errorf("README.md does not tell of the world %s", w.name)
		}
	}
	for _, a := range absences {
		if !strings.Contains(readme, "`"+a.rule+"`") {
			t.Errorf("README.md does not tell of %s", a.rule)
		}
	}
}

func TestEachAbsenceHasItsCounterExample(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		rule := strings.TrimSuffix(filepath.Base(file), ".txt")
		if !slices.ContainsFunc(absences, func(a absence) bool { return a.rule == rule }) {
			t.Errorf("%s belongs to no row of the table", file)
		}
	}
	for _, a := range absences {
		if text := read(t, filepath.Join("testdata", a.rule+".txt")); !strings.Contains(text, "\nbroken: ") {
			t.Errorf("the counter-example without %s has no end", a.rule)
		}
	}
}

func read(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
