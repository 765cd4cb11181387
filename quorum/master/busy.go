package master

import (
	"fmt"
	"regexp"
	"strings"
	"time"

	"redlock-proxy/quorum"
	"redlock-proxy/quorum/decide"
)

// A master that is busy with a script answers nobody. It is none that came through a proxy,
// where a script has so many steps: so whoever asks the master for locks by itself has to do
// without it.

// unbusy has the master end the script, unless that has written, and tells which it was.
func (g *Gate) unbusy(busy string) error {
	asked := time.Now()
	killed, err := g.Ask([]string{"SCRIPT", "KILL"})
	if err != nil {
		return err
	}
	if killed[0].Kind == quorum.FailureReply {
		return fmt.Errorf("%s SCRIPT KILL is answered: %s", busy, killed[0].Str)
	}
	took := time.Since(asked)
	// It ends at its next hundred thousand instructions, which take a master a while that has
	// much else to do.
	var told []decide.Answer
	for range 80 {
		if told, err = g.Ask([]string{"TIME"}, []string{"SLOWLOG", "GET", "16"}); err != nil {
			return err
		}
		if !told[0].Failed("BUSY") && !told[1].Failed("BUSY") {
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
func ranThen(now, slow decide.Answer, ago, took time.Duration) string {
	at, told := TimeOf(now)
	if !told {
		return ""
	}
	asked := at.Add(-ago)
	found := ""
	for _, entry := range slow.Elems {
		if len(entry.Elems) < 5 || len(entry.Elems[3].Elems) < 2 {
			continue
		}
		words := entry.Elems[3].Elems
		// The second in which it ended.
		ended := time.Unix(entry.Elems[1].Int, 0)
		began := ended.Add(-time.Duration(entry.Elems[2].Int) * time.Microsecond)
		if !strings.HasPrefix(strings.ToUpper(words[0].Str), "EVAL") || ended.Before(asked.Truncate(time.Second)) || began.After(asked.Add(took)) {
			continue
		}
		if found != "" {
			return ""
		}
		found = fmt.Sprintf(", and it ran %s %.80q of client %s", words[0].Str, literal.ReplaceAllString(words[1].Str, "'...'"), entry.Elems[4].Str)
	}
	return found
}
