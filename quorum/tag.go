package quorum

import "strings"

// Tag is the part of a key's name by which Redis Cluster tells what belongs together: what stands
// between its first { and the next }, if that is anything, and else the whole name. What is asked
// about keys of one tag is ordered as if it were about one key, since a script may use keys that it
// was not given, if they have the tag of one that it was.
func Tag(key string) string {
	open := strings.IndexByte(key, '{')
	if open < 0 {
		return key
	}
	if n := strings.IndexByte(key[open+1:], '}'); n > 0 {
		return key[open+1 : open+1+n]
	}
	return key
}
