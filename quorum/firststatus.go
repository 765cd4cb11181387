package quorum

import (
	"fmt"
	"strings"
	"time"
)

// firstLeft is how long it is until the masters of a first start can vote, and which of
// them that waits for: from when the last of these is marked it lasts so long. begun is
// false if it is no first start.
func (e *Engine) firstLeft() (left time.Duration, waits []string, begun bool) {
	now := e.boot()
	for i, s := range e.sights() {
		switch {
		case s.votes:
			return 0, nil, false
		case s.nonce == "":
			begun = begun || s.reached
			waits = append(waits, e.Masters[i].Name)
		default:
			begun = begun || s.first
			left = max(left, e.firstTime()-e.lanes[i].lasted(now))
		}
	}
	if len(waits) > 0 {
		left = e.firstTime()
	}
	return left, waits, begun && !e.alone() && e.barring() == nil
}

// Hindrance says what keeps all masters from voting that is not about one of them: they
// are not marked, or not long enough, or they are others' by their terms. It is "" if
// there is no such thing.
func (e *Engine) Hindrance() string {
	if err := e.barring(); err != nil {
		return "nothing is granted until this proxy is restarted: " + err.Error()
	}
	left, waits, begun := e.firstLeft()
	if !begun {
		return ""
	}
	const atOnce = "or at once after redlock-proxy bootstrap --no-locks-held"
	text := "no master is marked: a new set, or all was lost; "
	switch {
	case !e.FirstStart && len(waits) > 0:
		return text + "run redlock-proxy bootstrap, as first-start is no"
	case len(waits) > 0:
		return text + fmt.Sprintf("locks %v after %s can be marked, too, %s", left.Round(time.Second), strings.Join(waits, " "), atOnce)
	}
	if now, known := e.Now(); known {
		return text + fmt.Sprintf("locks from %s, %s", now.Add(left).Local().Format(time.TimeOnly), atOnce)
	}
	return text + fmt.Sprintf("locks in %v, %s", left.Round(time.Second), atOnce)
}

// firstStatus has the masters of a first start tell how long it lasts.
func (e *Engine) firstStatus(masters []MasterStatus) {
	left, _, begun := e.firstLeft()
	if !begun {
		return
	}
	for i, s := range e.sights() {
		if s.reached && (s.first || s.nonce == "") {
			masters[i].Left = max(left, 0)
		}
	}
}
