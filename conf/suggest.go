package conf

import (
	"fmt"
	"strings"
)

// suggestion is the cure for a name that is none: the option that was probably
// meant, if one is near, or what is there instead of one of Redis's.
func suggestion(name string) string {
	wanted := strings.ToLower(strings.ReplaceAll(name, "_", "-"))
	if cure := redisCure(wanted, ""); cure != "" {
		return cure
	}
	names := make([]string, len(options))
	for i := range options {
		names[i] = options[i].name
	}
	best := nearest(wanted, names)
	if best == "" {
		return "see --help for the names, or leave it out"
	}
	return fmt.Sprintf("did you mean %s?", best)
}

// nearest is the name that was probably meant, "" if none is near.
func nearest(wanted string, names []string) string {
	best, bestAt := "", 3
	for _, name := range names {
		if d := distance(wanted, name); d < bestAt {
			best, bestAt = name, d
		}
	}
	return best
}

// meant are the subcommands that are called otherwise elsewhere.
var meant = map[string]string{"start": "serve", "run": "serve", "server": "serve", "help": "--help", "info": "status", "health": "ready", "init": "bootstrap"}

// meantCommand is the subcommand that was probably meant by a word, "" if none was.
func meantCommand(word string) string {
	word = strings.ToLower(strings.ReplaceAll(word, "_", "-"))
	if command := meant[word]; command != "" {
		return command
	}
	if len(word) < 3 {
		return ""
	}
	return nearest(word, commandNames())
}

// distance is how many letters must be put in, taken out or changed to make b
// of a (Levenshtein).
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j+1]+1, row[j]+1)
		}
	}
	return row[len(b)]
}
