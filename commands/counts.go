package commands

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"redlock-proxy/quorum"
)

// What INFO tells of the keys that masters hold is asked of them by INFO, too, which every proxy
// may ask: all databases at once, and in each of those that matter whether the proxy's own key is
// among them.

// KeyspaceRequests are the questions about these databases, each of which is open. All are put, and
// Keyspace makes of the results what there is to tell.
func KeyspaceRequests(dbs []int) []quorum.Request {
	requests := []quorum.Request{{Kind: quorum.Survey, Args: []string{"INFO", "keyspace"}}}
	for _, db := range dbs {
		requests = append(requests, quorum.Request{Kind: quorum.Survey, DB: db, Args: []string{"EXISTS", quorum.MarkerKey}})
	}
	return requests
}

// Keyspace is a line for each of the databases that has keys, as INFO has it: how many a quorum
// holds as many of, and how many with a ttl. Of databases about which too few masters have given an
// answer there is none.
func Keyspace(dbs []int, results []quorum.Result) []string {
	var lines []string
	for i, db := range dbs {
		var keys, expires []int64
		told, marked := results[0], results[1+i]
		for m, a := range told.Answers {
			if m >= len(marked.Answers) || !a.Given || a.Reply.Kind != quorum.BulkReply || !marked.Answers[m].Given {
				continue
			}
			n, mortal := keysIn(a.Reply.Str, db)
			keys, expires = append(keys, max(n-marked.Answers[m].Reply.Int, 0)), append(expires, mortal)
		}
		if len(keys) < told.Needed || len(keys) == 0 {
			continue
		}
		if n := ofQuorum(keys, told.Needed); n > 0 {
			lines = append(lines, fmt.Sprintf("db%d:keys=%d,expires=%d,avg_ttl=0", db, n, min(ofQuorum(expires, told.Needed), n)))
		}
	}
	return lines
}

// ofQuorum is a number that a quorum has as many of.
func ofQuorum(counts []int64, quorum int) int64 {
	slices.Sort(counts)
	return counts[len(counts)-quorum]
}

// keysIn reads a master's line about a database, which it has none of where there are no keys.
func keysIn(info string, db int) (keys, expires int64) {
	for line := range strings.Lines(info) {
		fields, is := strings.CutPrefix(line, fmt.Sprintf("db%d:", db))
		if !is {
			continue
		}
		for field := range strings.SplitSeq(strings.TrimSpace(fields), ",") {
			switch name, value, _ := strings.Cut(field, "="); name {
			case "keys":
				keys, _ = strconv.ParseInt(value, 10, 64)
			case "expires":
				expires, _ = strconv.ParseInt(value, 10, 64)
			}
		}
	}
	return keys, expires
}
