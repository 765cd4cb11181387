package members

import (
	"context"
	"fmt"
	"strconv"

	"redlock-proxy/quorum"
	"redlock-proxy/quorum/marker"
	"redlock-proxy/quorum/master"
)

// member is a master as Bootstrap and Change speak to it: at its gate.
type member struct {
	name  string
	gate  *master.Gate
	who   marker.Identity
	stage stage
	steps []string // in which it was given first markers; see marker.Marker.Loss
}

// reach connects to a master. Its gate is the caller's to close.
func reach(ctx context.Context, m master.Master) (*member, error) {
	gate, who, err := m.Meet(ctx)
	if err != nil {
		return nil, err
	}
	return &member{name: m.Name, gate: gate, who: who}, nil
}

// first makes the markers that say that nobody was known to vote when they were written.
func (m *member) first(p bootstrapPlan, set *master.Set) func(db int) marker.Marker {
	step := marker.NewInstallation()
	m.steps = append(m.steps, step)
	return func(db int) marker.Marker {
		mark := m.voting(p.installation, set)(db)
		mark.Nonce, mark.Loss, mark.First, mark.Sworn = marker.NewNonce(true), step, true, p.sworn
		mark.Why = "bootstrap has marked it, and locks may be held"
		if p.sworn {
			mark.Why = "bootstrap --no-locks-held has not let it vote yet: give the same order again"
		}
		return mark
	}
}

// voting makes the markers by which a master may vote.
func (m *member) voting(installation string, set *master.Set) func(db int) marker.Marker {
	return func(db int) marker.Marker {
		return marker.Marker{
			Nonce: marker.NewNonce(false), Installation: installation, Member: m.name, DB: db, Terms: set.Terms(),
			RunID: m.who.RunID, Durable: m.who.Logs(), Rewrites: m.who.Rewrites, Evicted: m.who.Evicted, Replication: m.who.Replication,
		}
	}
}

// write puts markers into those databases that are chosen, where what was found still
// stands; otherwise it returns false. Where nothing was found at all it does so in one
// step. What was written is not known until it has succeeded.
func (m *member) write(f found, choose func(db int) bool, next func(db int) marker.Marker) (ok bool, err error) {
	was := m.stage
	m.stage = notKnown
	if f.blank() {
		ok, err = m.writeAll(f, next)
	} else {
		ok, err = m.replace(f, choose, next)
	}
	if err != nil {
		err = of(m.name, err)
	}
	if ok {
		m.stage = was
	}
	return ok, err
}

// writeAll puts a marker into each database, none of which has one.
func (m *member) writeAll(f found, next func(db int) marker.Marker) (ok bool, err error) {
	args := []string{"", "0", fmt.Sprintf("%q:%q", "installation", next(0).Installation), ""}
	for db := range f.marks {
		args = append(args, next(db).String())
	}
	stands, err := m.run(0, master.LossScript, args...)
	return err == nil && stands == args[4], err
}

// replace replaces the markers of some databases, or puts one where there was none.
func (m *member) replace(f found, choose func(db int) bool, next func(db int) marker.Marker) (ok bool, err error) {
	for db := range f.marks {
		if !choose(db) {
			continue
		}
		read, mark := f.marks[db].Nonce, next(db)
		mark.Was = read
		stands, err := m.run(db, master.MarkScript, string(read), mark.String())
		if err != nil || stands != mark.String() {
			return false, err
		}
	}
	return true, nil
}

// run runs a script on the marker of a database, and returns what it answers.
func (m *member) run(db int, script *master.Script, args ...string) (text string, err error) {
	answers, err := m.gate.Ask([]string{"SELECT", strconv.Itoa(db)}, script.Eval(quorum.MarkerKey, args...))
	if err != nil {
		return "", err
	}
	return answers[1].Str, answers[1].Err()
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
		case answers[0].NoSuchDatabase() && len(texts) > 0:
			return texts, nil
		case answers[0].Err() != nil:
			return nil, answers[0].Err()
		case answers[1].Err() != nil:
			return nil, answers[1].Err()
		}
		texts = append(texts, answers[1].Str)
	}
	return texts, nil
}
