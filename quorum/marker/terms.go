package marker

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"redlock-proxy/quorum"
)

// Terms are what all proxies before one set of masters must agree on: with
// different ones they could both grant a lock, or protect it for different times.
type Terms struct {
	Set            []string `json:"set"` // the masters' names, sorted
	AcquireTimeout int64    `json:"acquire_timeout_ms"`
	MaxTTL         int64    `json:"max_ttl_ms"`
}

// Equal tells that proxies with these terms and with those may serve the same masters.
func (t Terms) Equal(u Terms) bool {
	return slices.Equal(t.Set, u.Set) && t.AcquireTimeout == u.AcquireTimeout && t.MaxTTL == u.MaxTTL
}

func (t Terms) String() string {
	return fmt.Sprintf("masters %s, acquire-timeout %v, max-ttl %v", strings.Join(t.Set, " "),
		time.Duration(t.AcquireTimeout)*time.Millisecond, time.Duration(t.MaxTTL)*time.Millisecond)
}

// OtherTerms tells of a master's marker with other terms than ours. It is never
// overwritten.
type OtherTerms struct {
	Theirs Marker
	Ours   Terms
	Name   string // of the master, as it is called here
}

func (e *OtherTerms) Is(err error) bool { return err == quorum.ErrOtherTerms }

func (e *OtherTerms) Error() string {
	cure := "configure all proxies alike, or make a new set with change-masters"
	if e.Theirs.First {
		cure += "; it was only marked for its set so far: if nobody makes or uses that, delete its key " + quorum.MarkerKey + " in each database"
	}
	return strings.Join(e.differences(), "; ") + "; " + cure
}

// Misspelt tells that the master itself bears another name in its set.
func (e *OtherTerms) Misspelt() bool {
	return slices.Contains(without(e.Theirs.Set, e.Ours.Set), e.Theirs.Member) && slices.Contains(without(e.Ours.Set, e.Theirs.Set), e.Name)
}

// differences says what differs, and nothing else.
func (e *OtherTerms) differences() (list []string) {
	there := without(e.Theirs.Set, e.Ours.Set)
	here := without(e.Ours.Set, e.Theirs.Set)
	if called := e.Theirs.Member; e.Misspelt() {
		list = append(list, fmt.Sprintf("it is called %s in its set and %s here: if that is the same server, add ?name=%s to its URL", called, e.Name, called))
		there, here = without(there, []string{called}), without(here, []string{e.Name})
	}
	if len(there) > 0 {
		list = append(list, "its set has "+strings.Join(there, " ")+", which the masters here have not")
	}
	if len(here) > 0 {
		list = append(list, "its set has no "+strings.Join(here, " "))
	}
	for _, d := range []struct {
		option       string
		theirs, ours int64
	}{
		{"acquire-timeout", e.Theirs.AcquireTimeout, e.Ours.AcquireTimeout},
		{"max-ttl", e.Theirs.MaxTTL, e.Ours.MaxTTL},
	} {
		if d.theirs != d.ours {
			list = append(list, fmt.Sprintf("%s is %v on the masters and %v here", d.option,
				time.Duration(d.theirs)*time.Millisecond, time.Duration(d.ours)*time.Millisecond))
		}
	}
	return list
}

// without are the names that are not among others.
func without(names, others []string) (rest []string) {
	for _, name := range names {
		if !slices.Contains(others, name) {
			rest = append(rest, name)
		}
	}
	return rest
}
