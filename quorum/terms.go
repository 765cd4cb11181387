package quorum

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// terms are what all proxies before one set of masters must agree on: with
// different ones they could both grant a lock, or protect it for different times.
type terms struct {
	Set            []string `json:"set"` // the masters' names, sorted
	AcquireTimeout int64    `json:"acquire_timeout_ms"`
	MaxTTL         int64    `json:"max_ttl_ms"`
}

func (c *Config) agreement() terms {
	t := terms{AcquireTimeout: c.AcquireTimeout.Milliseconds(), MaxTTL: c.MaxTTL.Milliseconds()}
	for _, m := range c.Masters {
		t.Set = append(t.Set, m.Name)
	}
	slices.Sort(t.Set)
	return t
}

func (t terms) equal(u terms) bool {
	return slices.Equal(t.Set, u.Set) && t.AcquireTimeout == u.AcquireTimeout && t.MaxTTL == u.MaxTTL
}

func (t terms) String() string {
	return fmt.Sprintf("masters %s, acquire-timeout %v, max-ttl %v", strings.Join(t.Set, " "),
		time.Duration(t.AcquireTimeout)*time.Millisecond, time.Duration(t.MaxTTL)*time.Millisecond)
}

// ErrOtherTerms is what an error is where a master belongs to proxies that are
// configured otherwise. Trying again does not help, another configuration does.
var ErrOtherTerms = errors.New("the configuration is not the masters'")

// errOtherTerms tells of a master's marker with other terms than ours. It is never
// overwritten.
type errOtherTerms struct {
	theirs marker
	ours   terms
	name   string // of the master, as it is called here
}

func (e *errOtherTerms) Is(err error) bool { return err == ErrOtherTerms }

func (e *errOtherTerms) Error() string {
	cure := "configure all proxies alike, or make a new set with change-masters"
	if e.theirs.First {
		cure += "; it was only marked for its set so far: if nobody makes or uses that, delete its key " + MarkerKey + " in each database"
	}
	return strings.Join(e.differences(), "; ") + "; " + cure
}

// misspelt tells that the master itself bears another name in its set.
func (e *errOtherTerms) misspelt() bool {
	return slices.Contains(without(e.theirs.Set, e.ours.Set), e.theirs.Member) && slices.Contains(without(e.ours.Set, e.theirs.Set), e.name)
}

// differences says what differs, and nothing else.
func (e *errOtherTerms) differences() (list []string) {
	there := without(e.theirs.Set, e.ours.Set)
	here := without(e.ours.Set, e.theirs.Set)
	if called := e.theirs.Member; e.misspelt() {
		list = append(list, fmt.Sprintf("it is called %s in its set and %s here: if that is the same server, add ?name=%s to its URL", called, e.name, called))
		there, here = without(there, []string{called}), without(here, []string{e.name})
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
		{"acquire-timeout", e.theirs.AcquireTimeout, e.ours.AcquireTimeout},
		{"max-ttl", e.theirs.MaxTTL, e.ours.MaxTTL},
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
