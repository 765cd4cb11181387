package main

import (
	"fmt"
	"os"
	"strings"
)

// The lines between which the matrix stands in the README.
const (
	matrixBegins = "<!-- fault matrix: begin; go run -C integration/nemesis . -matrix -readme ../README.md -->\n"
	matrixEnds   = "<!-- fault matrix: end -->\n"
)

// intoReadme puts a text between the marks, instead of what stands there.
func intoReadme(path, text string) error {
	old, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	updated, err := replaceMatrix(string(old), text)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return os.WriteFile(path, []byte(updated), 0o644)
}

func replaceMatrix(old, text string) (string, error) {
	head, rest, begins := strings.Cut(old, matrixBegins)
	_, tail, ends := strings.Cut(rest, matrixEnds)
	if !begins || !ends {
		return "", fmt.Errorf("no marks of the matrix; it belongs between\n%s%s", matrixBegins, matrixEnds)
	}
	return head + matrixBegins + text + matrixEnds + tail, nil
}
