package commands

// GlobMatch matches s with one of Redis's patterns: * ? [abc] [^a] [a-z] and \ to
// take the next byte as it is. Where a star does not fit, only the last one is
// tried again, so the work is bounded by the product of the lengths.
func GlobMatch(pattern, s string) bool {
	starPattern, starRest := "", ""
	starred := false
	for len(s) > 0 {
		if len(pattern) > 0 && pattern[0] == '*' {
			pattern = pattern[1:]
			starPattern, starRest, starred = pattern, s, true
			continue
		}
		if rest, ok := matchByte(pattern, s[0]); ok {
			pattern, s = rest, s[1:]
			continue
		}
		if !starred {
			return false
		}
		starRest = starRest[1:]
		pattern, s = starPattern, starRest
	}
	for len(pattern) > 0 && pattern[0] == '*' {
		pattern = pattern[1:]
	}
	return pattern == ""
}

// matchByte matches one byte with the first element of a pattern, which is not a
// star, and gives the rest of the pattern.
func matchByte(pattern string, b byte) (rest string, ok bool) {
	if pattern == "" {
		return "", false
	}
	switch pattern[0] {
	case '?':
		return pattern[1:], true
	case '[':
		return matchSet(pattern[1:], b)
	case '\\':
		if len(pattern) > 1 {
			pattern = pattern[1:]
		}
	}
	return pattern[1:], pattern[0] == b
}

// matchSet matches one byte with what follows a [. As in Redis, a set that is not
// closed ends with the pattern.
func matchSet(pattern string, b byte) (rest string, ok bool) {
	not := len(pattern) > 0 && pattern[0] == '^'
	if not {
		pattern = pattern[1:]
	}
	found := false
	for len(pattern) > 0 && pattern[0] != ']' {
		switch {
		case pattern[0] == '\\' && len(pattern) > 1:
			found = found || pattern[1] == b
			pattern = pattern[2:]
		case len(pattern) > 2 && pattern[1] == '-':
			low, high := min(pattern[0], pattern[2]), max(pattern[0], pattern[2])
			found = found || low <= b && b <= high
			pattern = pattern[3:]
		default:
			found = found || pattern[0] == b
			pattern = pattern[1:]
		}
	}
	if len(pattern) > 0 {
		pattern = pattern[1:]
	}
	return pattern, found != not
}
