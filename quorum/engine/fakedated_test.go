package engine

import (
	"strconv"
	"strings"
	"time"

	"redlock-proxy/quorum/decide"
	"redlock-proxy/quorum/journal"
)

// undate takes its date from what is dated, and tells what the master answers if that is
// over.
func (m *fakeMaster) undate(args []string) (rest []string, reply string) {
	if len(args) < 2 || !strings.HasPrefix(args[0], "EVAL") || !isDated(args[1]) {
		return args, ""
	}
	last := len(args) - 1
	date, _ := strconv.ParseFloat(args[last], 64)
	if float64(m.now())/float64(time.Millisecond) > date {
		return args[:last], integer(decide.SaysLate)
	}
	return args[:last], ""
}

// isDated tells of a script, by its text or hash, that it is.
func isDated(name string) bool {
	if strings.HasPrefix(name, journal.DatedText) {
		return true
	}
	for _, s := range known {
		if s.SHA == name {
			return strings.HasPrefix(s.Text, journal.DatedText)
		}
	}
	return false
}
