package commands

import (
	"fmt"
	"strings"
)

// shebangFlags are the flags of a script's first line: whether it may only read. What
// the others allow is not for a proxy to forbid.
var shebangFlags = map[string]bool{
	"no-writes": true,
	"allow-oom": false, "allow-stale": false, "no-cluster": false, "allow-cross-slot-keys": false,
}

// shebang is the first line of a script if that says what runs it, as of Redis 7.
type shebang struct {
	there bool
	reads bool   // the script may only read
	fault string // what is wrong with the line, "" if nothing is
}

// cutShebang takes the line off, but not its end: an error's line stays what it is.
func cutShebang(text string) (s shebang, body string) {
	if !strings.HasPrefix(text, "#!") {
		return shebang{}, text
	}
	s.there = true
	end := strings.IndexByte(text, '\n')
	if end < 0 {
		s.fault = errShebang
		return s, ""
	}
	words := strings.Fields(text[:end])
	if words[0] != "#!lua" {
		s.fault = fmt.Sprintf(errShebangEngine, words[0])
		return s, ""
	}
	for _, word := range words[1:] {
		flags, ok := strings.CutPrefix(word, "flags=")
		if !ok {
			s.fault = fmt.Sprintf(errShebangOption, word)
			return s, ""
		}
		if flags == "" {
			continue
		}
		for flag := range strings.SplitSeq(flags, ",") {
			reads, known := shebangFlags[flag]
			if !known {
				s.fault = fmt.Sprintf(errShebangFlag, flag)
				return s, ""
			}
			s.reads = s.reads || reads
		}
	}
	return s, text[end:]
}
