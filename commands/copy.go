package commands

import (
	"math"

	"redlock-proxy/quorum"
)

// copyKey is COPY, within the database: masters vote on what became of one.
func (s *Session) copyKey(c *Command, args []string) Action {
	elsewhere := false
	for words := args[3:]; len(words) > 0; words = words[1:] {
		switch {
		case sameWord(words[0], "REPLACE"):
		case sameWord(words[0], "DB") && len(words) > 1:
			words = words[1:]
			switch n, ok := parseInt(words[0]); {
			case !ok:
				return refuse(errNotInteger)
			case n < math.MinInt32 || n > math.MaxInt32:
				return refuse(errNotInt32)
			case n < 0 || n >= quorum.Databases:
				return refuse(errDBIndex)
			default:
				elsewhere = n != int64(s.seen.DB)
			}
		default:
			return refuse(errSyntax)
		}
	}
	if elsewhere {
		return refuse(errCopyDB)
	}
	if args[1] == args[2] {
		return refuse(errSameObject)
	}
	return s.byScript(c, args)
}

// withoutDB are the words of a COPY within the database that it is called in.
func withoutDB(args []string) []string {
	words := args[:3:3]
	for rest := args[3:]; len(rest) > 0; rest = rest[1:] {
		if sameWord(rest[0], "DB") {
			rest = rest[1:]
		} else {
			words = append(words, rest[0])
		}
	}
	return words
}
