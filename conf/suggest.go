package conf

import (
	"fmt"
	"strings"
)

// suggestion is the cure for a name that is none: the option that was probably
// meant, if one is near.
func suggestion(name string) string {
	wanted := strings.ToLower(strings.ReplaceAll(name, "_", "-"))
	best, bestAt := "", 3
	for i := range options {
		if d := distance(wanted, options[i].name); d < bestAt {
			best, bestAt = options[i].name, d
		}
	}
	if best == "" {
		return "see --help for the names, or leave it out"
	}
	return fmt.Sprintf("did you mean %s?", best)
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
