package engine

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"redlock-proxy/quorum"
)

// A master that is busy with a script answers nobody. It is none that came through a proxy,
// where a script has so many steps: so whoever asks the master for locks by itself has to do
// without it.

// unbusy has the master end the script, unless that has written, and tells which it was.
func (g *gate) unbusy(busy string) error {
	asked := time.Now()
	killed, err := g.ask([]string{"SCRIPT", "KILL"})
	if err != nil {
		return err
	}
	if killed[0].kind == quorum.FailureReply {
		return fmt.Errorf("%s SCRIPT KILL is answered: %s", busy, killed[0].str)
	}
	took := time.Since(asked)
	// It ends at its next hundred thousand instructions, which take a master a while that has
	// much else to do.
	var told []answer
	for range 80 {
		if told, err = g.ask([]string{"TIME"}, []string{"SLOWLOG", "GET", "16"}); err != nil {
			return err
		}
		if !told[0].failed("BUSY") && !told[1].failed("BUSY") {
			break
		}
		time.Sleep(5 * time.Millisecond)
	}
	return fmt.Errorf("%s It was told SCRIPT KILL%s", busy, ranThen(told[0], told[1], time.Since(asked), took))
}

// literal is a string in a script, whole or cut off.
var literal = regexp.MustCompile(`"[^"]*"?|'[^']*'?`)

// ranThen tells the script and the client of what of a SLOWLOG ran when a master was asked to
// end it: so long ago by the master's time, and was that long about its answer. Of the script
// it leaves out the arguments and strings, which may hold a token. It tells nothing where it
// may have been one script as well as another.
func ranThen(now, slow answer, ago, took time.Duration) string {
	if len(now.elems) != 2 {
		return ""
	}
	seconds, err := strconv.ParseInt(now.elems[0].str, 10, 64)
	micros, err2 := strconv.ParseInt(now.elems[1].str, 10, 64)
	if err != nil || err2 != nil {
		return ""
	}
	asked := time.Unix(seconds, 1000*micros).Add(-ago)
	found := ""
	for _, entry := range slow.elems {
		if len(entry.elems) < 5 || len(entry.elems[3].elems) < 2 {
			continue
		}
		words := entry.elems[3].elems
		// The second in which it ended.
		ended := time.Unix(entry.elems[1].int, 0)
		began := ended.Add(-time.Duration(entry.elems[2].int) * time.Microsecond)
		if !strings.HasPrefix(strings.ToUpper(words[0].str), "EVAL") || ended.Before(asked.Truncate(time.Second)) || began.After(asked.Add(took)) {
			continue
		}
		if found != "" {
			return ""
		}
		found = fmt.Sprintf(", and it ran %s %.80q of client %s", words[0].str, literal.ReplaceAllString(words[1].str, "'…'"), entry.elems[4].str)
	}
	return found
}
