package members

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"time"

	"redlock-proxy/quorum"
	"redlock-proxy/quorum/clock"
	"redlock-proxy/quorum/decide"
	"redlock-proxy/quorum/doctor"
	"redlock-proxy/quorum/master"
)

// What is known of each master is gathered here for package doctor, by a conversation that changes
// nothing at the master.

const (
	// trips is how many round trips are measured, and between how long passes between the first
	// look at a clock and the last: so much that a clock that runs otherwise shows it.
	trips   = 5
	between = time.Second

	// patience is how many times as long as a proxy it waits for a server that is far, so as to
	// tell how far.
	patience = 4
)

// settings are what is asked for by CONFIG GET: one by one, as before 7.0.
var settings = []string{"appendonly", "appendfsync", "no-appendfsync-on-rewrite", "timeout", "min-replicas-to-write", "maxclients", "bind", "protected-mode"}

// Examine asks all masters of a set at once. What keeps a master from being asked stands in Away.
func Examine(ctx context.Context, set *master.Set) []doctor.Master {
	list := make([]doctor.Master, len(set.Masters))
	var asked sync.WaitGroup
	for i := range set.Masters {
		m := &list[i]
		m.Name = set.Masters[i].Name
		asked.Go(func() {
			if err := examine(ctx, set, &set.Masters[i], m); err != nil {
				m.Away = err.Error()
			}
		})
	}
	asked.Wait()
	return list
}

// errNoINFO is what a server is without the one answer that it cannot do without.
var errNoINFO = errors.New("what it answers to INFO is none")

func examine(ctx context.Context, set *master.Set, at *master.Master, m *doctor.Master) error {
	dialing, cancel := context.WithTimeout(ctx, patience*set.ConnectTimeout)
	defer cancel()
	g, err := at.Knock(dialing)
	if err != nil {
		return err
	}
	defer g.Close()
	g.Within(patience * set.MasterTimeout)
	user := "default"
	if at.Credentials != nil {
		name, password := at.Credentials()
		m.Password = password != ""
		if name != "" {
			user = name
		}
	}
	if err := askInfo(g, m); err != nil {
		return err
	}
	if m.Info["redis_mode"] == "sentinel" || m.Info["loading"] == "1" {
		return nil // it would refuse all else, and for no other reason
	}
	for _, step := range []func(*master.Gate, *doctor.Master) error{readClock, askWatchers, askSettings, measure, askMarks, settle(ctx), readClock} {
		g.Within(between + patience*set.MasterTimeout)
		if err := step(g, m); err != nil {
			return fmt.Errorf("the conversation with it broke: %w", err)
		}
	}
	return askRights(g, m, user)
}

// askInfo is the first question, and is asked by itself: a server that is in protected mode answers
// once, and hangs up.
func askInfo(g *master.Gate, m *doctor.Master) error {
	answers, err := g.Ask([]string{"INFO"})
	switch {
	case err != nil:
		return err
	case answers[0].Err() != nil && !answers[0].Forbidden():
		return answers[0].Err()
	case answers[0].Err() == nil && answers[0].Kind != quorum.BulkReply:
		return errNoINFO
	}
	m.Info = master.Fields(answers[0].Str)
	return nil
}

// askWatchers counts the Sentinels that talk of the master on it.
func askWatchers(g *master.Gate, m *doctor.Master) error {
	answers, err := g.Ask([]string{"PUBSUB", "NUMSUB", "__sentinel__:hello"})
	if err != nil {
		return err
	}
	if w := answers[0].Elems; len(w) == 2 {
		m.Watchers = w[1].Int
	}
	return nil
}

// readClock is one look at the master's clock.
func readClock(g *master.Gate, m *doctor.Master) error {
	sent := time.Now()
	answers, err := g.Ask([]string{"TIME"})
	if err != nil {
		return err
	}
	read := time.Now()
	if e := answers[0].Elems; len(e) == 2 {
		seconds, err := strconv.ParseInt(e[0].Str, 10, 64)
		micros, err2 := strconv.ParseInt(e[1].Str, 10, 64)
		if err == nil && err2 == nil {
			m.Readings = append(m.Readings, doctor.Reading{Sent: sent, Read: read, Theirs: time.Unix(seconds, micros*1000)})
		}
	}
	return nil
}

func askSettings(g *master.Gate, m *doctor.Master) error {
	calls := make([][]string, len(settings))
	for i, name := range settings {
		calls[i] = []string{"CONFIG", "GET", name}
	}
	answers, err := g.Ask(calls...)
	if err != nil {
		return err
	}
	m.Settings = make(map[string]string)
	for i, a := range answers {
		if len(a.Elems) == 2 {
			m.Settings[settings[i]] = a.Elems[1].Str
		}
	}
	return nil
}

// measure takes round trips that the server has nothing to do for, fewer to one that is far.
func measure(g *master.Gate, m *doctor.Master) error {
	for began := time.Now(); len(m.RoundTrips) < trips && time.Since(began) < between; {
		sent := time.Now()
		if _, err := g.Ask([]string{"PING"}); err != nil {
			return err
		}
		m.RoundTrips = append(m.RoundTrips, time.Since(sent))
	}
	return nil
}

// askMarks reads the markers, in one round trip, as those to a master that is far add up. Of a
// master that refuses to show them nothing is known; what it refuses, askRights finds.
func askMarks(g *master.Gate, m *doctor.Master) error {
	var calls [][]string
	for db := range quorum.Databases {
		calls = append(calls, []string{"SELECT", strconv.Itoa(db)}, []string{"GET", quorum.MarkerKey})
	}
	answers, err := g.Ask(calls...)
	if err != nil {
		return err
	}
	for pair := range slices.Chunk(answers, 2) {
		if pair[0].Err() != nil || pair[1].Err() != nil {
			break
		}
		m.Marks = append(m.Marks, pair[1].Str)
	}
	return nil
}

// settle waits until the clock is looked at again.
func settle(ctx context.Context) func(*master.Gate, *doctor.Master) error {
	return func(*master.Gate, *doctor.Master) error {
		clock.Pause(ctx, between)
		return ctx.Err()
	}
}

// askRights has a master carry out doctor's calls, the last of what is asked on this connection.
func askRights(g *master.Gate, m *doctor.Master, user string) error {
	var calls [][]string
	for _, c := range doctor.Dry {
		calls = append(calls, append([]string{"ACL", "DRYRUN", user}, c.Args...))
	}
	for _, c := range doctor.Calls {
		calls = append(calls, c.Args)
	}
	answers, err := g.Ask(calls...)
	if err != nil {
		return err
	}
	m.Calls = make(map[string]string)
	for i, c := range doctor.Dry {
		if text, told := dryRun(answers[i]); told {
			m.Calls[c.Name] = text
		}
	}
	for i, c := range doctor.Calls {
		m.Calls[c.Name] = textOf(answers[len(doctor.Dry)+i])
	}
	return nil
}

func textOf(a decide.Answer) string {
	if err := a.Err(); err != nil {
		return err.Error()
	}
	return ""
}

// dryRun is what ACL DRYRUN comes to; told is false where that is not known to the server, or not
// allowed.
func dryRun(a decide.Answer) (text string, told bool) {
	switch {
	case a.Failed("ERR Command '"):
		return textOf(a), true
	case a.Err() != nil:
		return "", false
	case a.Str == "OK":
		return "", true
	}
	return "NOPERM " + a.Str, true
}
