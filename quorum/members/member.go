package members

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"redlock-proxy/quorum"
	"redlock-proxy/quorum/marker"
	"redlock-proxy/quorum/master"
)

// member is a master as Bootstrap speaks to it.
type member struct {
	name  string
	gate  *master.Gate
	who   marker.Identity
	stage stage
	steps []string // in which it was given first markers
}

func reach(ctx context.Context, m master.Master) (*member, error) {
	gate, who, err := m.Meet(ctx)
	if err != nil {
		return nil, err
	}
	return &member{name: m.Name, gate: gate, who: who}, nil
}

// first makes the markers that say that nobody was known to vote when they were written.
func (m *member) first(p bootstrapPlan, cfg *Set) func(db int) marker.Marker {
	step := marker.NewInstallation()
	m.steps = append(m.steps, step)
	return func(db int) marker.Marker {
		mark := m.voting(p.installation, cfg)(db)
		mark.Nonce, mark.Loss, mark.First, mark.Sworn = marker.NewNonce(true), step, true, p.sworn
		mark.Why = "bootstrap has marked it, and locks may be held"
		if p.sworn {
			mark.Why = "bootstrap --no-locks-held has not let it vote yet: give the same order again"
		}
		return mark
	}
}

// voting makes the markers by which a master may vote.
func (m *member) voting(installation string, cfg *Set) func(db int) marker.Marker {
	return func(db int) marker.Marker {
		return marker.Marker{
			Nonce: marker.NewNonce(false), Installation: installation, Member: m.name, DB: db, Terms: cfg.Terms(),
			RunID: m.who.RunID, Durable: m.who.Logs(), Rewrites: m.who.Rewrites, Evicted: m.who.Evicted, Replication: m.who.Replication,
		}
	}
}

// write puts markers into those databases that are chosen, where what was found still
// stands; otherwise it returns false. Where nothing was found at all it does so in one
// step.
func (m *member) write(found found, choose func(db int) bool, next func(db int) marker.Marker) (ok bool, err error) {
	was := m.stage
	m.stage = notKnown
	if ok, err = m.put(found, choose, next); ok {
		m.stage = was
	}
	return ok, err
}

func (m *member) put(found found, choose func(db int) bool, next func(db int) marker.Marker) (ok bool, err error) {
	if found.blank() {
		args := []string{"", "0", fmt.Sprintf("%q:%q", "installation", next(0).Installation), ""}
		for db := range found.marks {
			args = append(args, next(db).String())
		}
		answers, err := m.gate.Ask([]string{"SELECT", "0"}, master.LossScript.Eval(quorum.MarkerKey, args...))
		if err == nil && answers[1].Kind == quorum.FailureReply {
			err = errors.New(answers[1].Str)
		}
		if err != nil {
			return false, fmt.Errorf("master %s: %w", m.name, err)
		}
		return answers[1].Str == args[4], nil
	}
	for db := range found.marks {
		if !choose(db) {
			continue
		}
		read, mark := found.marks[db].Nonce, next(db)
		mark.Was = read
		answers, err := m.gate.Ask(
			[]string{"SELECT", strconv.Itoa(db)},
			master.MarkScript.Eval(quorum.MarkerKey, string(read), mark.String()))
		if err == nil && answers[1].Kind == quorum.FailureReply {
			err = errors.New(answers[1].Str)
		}
		switch {
		case err != nil:
			return false, fmt.Errorf("master %s: %w", m.name, err)
		case answers[1].Str != mark.String():
			return false, nil
		}
	}
	return true, nil
}

// logs tells that the master has an AOF. One that will not tell has none.
func (m *member) logs() bool {
	answers, err := m.gate.Ask([]string{"CONFIG", "GET", "appendonly"})
	return err == nil && len(answers[0].Elems) == 2 && answers[0].Elems[1].Str == "yes"
}

// markers are what stands in each database.
func (m *member) markers() (texts []string, err error) {
	for len(texts) < quorum.Databases {
		answers, err := m.gate.Ask([]string{"SELECT", strconv.Itoa(len(texts))}, []string{"GET", quorum.MarkerKey})
		switch {
		case err != nil:
			return nil, err
		case answers[0].Kind == quorum.FailureReply && len(texts) > 0 && strings.Contains(answers[0].Str, "DB index"):
			return texts, nil
		case answers[0].Kind == quorum.FailureReply:
			return nil, errors.New(answers[0].Str)
		case answers[1].Kind == quorum.FailureReply:
			return nil, errors.New(answers[1].Str)
		}
		texts = append(texts, answers[1].Str)
	}
	return texts, nil
}
