package commands

import (
	"bytes"
	"encoding/json"
	"io"
	"testing"
)

func TestEveryCommandHasItsProseAndNothingElseHas(t *testing.T) {
	for _, c := range Table() {
		switch d := docs()[c.Name]; {
		case d == nil:
			t.Errorf("%s has no entry in docs.json", c.Name)
		case d.Summary == "", d.Group == "", d.Since == "":
			t.Errorf("%s lacks something in docs.json: %+v", c.Name, *d)
		}
	}
	for name := range docs() {
		if rowNamed(name) == nil {
			t.Errorf("docs.json has an entry for %s, which is no command", name)
		}
	}
}

// Of two entries of one name the first would be lost without a word, as would a field whose
// name is written wrongly.
func TestNothingInTheProseIsLost(t *testing.T) {
	entries := json.NewDecoder(bytes.NewReader(docsFile))
	entries.DisallowUnknownFields()
	seen := make(map[string]bool)
	if _, err := entries.Token(); err != nil {
		t.Fatal(err)
	}
	for entries.More() {
		name, err := entries.Token()
		if err != nil {
			t.Fatal(err)
		}
		if seen[name.(string)] {
			t.Errorf("docs.json has two entries for %s", name)
		}
		seen[name.(string)] = true
		var d doc
		if err := entries.Decode(&d); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
	if _, err := entries.Token(); err != nil {
		t.Fatal(err)
	}
	if _, err := entries.Token(); err != io.EOF {
		t.Errorf("behind the last entry: %v", err)
	}
}
