package members

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"redlock-proxy/quorum"
	"redlock-proxy/quorum/clock"
	"redlock-proxy/quorum/marker"
	"redlock-proxy/quorum/master"
)

// Bootstrapping is how Bootstrap goes about it.
type Bootstrapping struct {
	// NoLocksHeld is the operator's word that nobody holds a lock on the masters: those
	// of which none has voted yet may do so at once then. Else they do when a proxy has
	// seen max-ttl pass.
	NoLocksHeld bool

	// Wait is how long masters are waited for that cannot be reached. Zero: not at all.
	Wait time.Duration

	// Tell, if not nil, hears what was found and done.
	Tell func(string)
}

// Bootstrap marks a set of masters, so that proxies which are configured with the same
// terms let them vote. It can be repeated: what stands of the set stays, and what lacks
// is completed, also of a first start that a proxy has begun, or of a bootstrap that was
// cut off. Where a master votes there is nothing to do but to finish that. It refuses if one
// of them cannot be reached, is another's by its terms, or is another of them under a second
// name. What it has done by then is the last line of the error.
func Bootstrap(ctx context.Context, set master.Set, how Bootstrapping) error {
	if how.Tell == nil {
		how.Tell = func(string) {}
	}
	members, err := assemble(ctx, &set, how)
	defer func() {
		for _, m := range members {
			m.gate.Close()
		}
	}()
	if err != nil {
		return fmt.Errorf("%w\n%s", err, soFar(nil))
	}
	if len(members) == 1 {
		return bootstrapAlone(members[0], how)
	}
	how.Tell(outages(members, set.MaxTTL))
	for range maxRounds {
		done, err := bootstrapRound(members, &set, how)
		if err != nil {
			return fmt.Errorf("%w\n%s", err, soFar(members))
		}
		if done {
			return nil
		}
	}
	return fmt.Errorf("the masters are being marked by others all the time; try again\n%s", soFar(members))
}

// bootstrapAlone looks whether a master that is to be alone may be: it needs no marker, and
// is to have none.
func bootstrapAlone(m *member, how Bootstrapping) error {
	texts, err := m.markers()
	if err != nil {
		return of(m.name, err)
	}
	for _, text := range texts {
		if text != "" {
			return of(m.name, marker.OfASet(text))
		}
	}
	how.Tell("one master alone needs no marker, and has none")
	return nil
}

// maxRounds is how often markers may turn out to be others than what was read.
const maxRounds = 16

// assemble connects to all masters. The connections are the caller's to close, whatever
// the error says.
func assemble(ctx context.Context, set *master.Set, how Bootstrapping) (members []*member, err error) {
	told := false
	for began := time.Now(); ; clock.Pause(ctx, set.ConnectTimeout) {
		members, err = reachAll(ctx, set)
		if err == nil || time.Since(began) >= how.Wait || ctx.Err() != nil {
			return members, err
		}
		for _, m := range members {
			m.gate.Close()
		}
		if !told {
			told = true
			how.Tell(err.Error() + "\nwaiting for up to " + how.Wait.String())
		}
	}
}

func reachAll(ctx context.Context, set *master.Set) (members []*member, err error) {
	var problems []error
	names := make(map[string]string) // by run id
	for _, i := range marker.InOrder(set.Names()) {
		dialing, cancel := context.WithTimeout(ctx, set.ConnectTimeout+quorum.Databases*set.MasterTimeout)
		m, err := reach(dialing, set.Masters[i])
		cancel()
		if err == nil {
			members = append(members, m)
			if twin := names[m.who.RunID]; twin != "" {
				err = marker.Twin(twin)
			}
			names[m.who.RunID] = m.name
		}
		if err != nil {
			problems = append(problems, of(set.Masters[i].Name, err))
		}
	}
	return members, errors.Join(problems...)
}

// bootstrapRound looks at all markers and writes what lacks. It returns false if
// something has changed meanwhile, or is to be looked at once more.
func bootstrapRound(members []*member, set *master.Set, how Bootstrapping) (done bool, err error) {
	var list []found
	for _, m := range members {
		texts, err := m.markers()
		if err != nil {
			return false, of(m.name, err)
		}
		list = append(list, foundOf(m.name, m.who, texts))
	}
	p, err := planBootstrap(list, set.Terms(), how.NoLocksHeld)
	if err != nil {
		return false, withdrawAll(members, list, err)
	}
	for i, m := range members {
		m.stage = p.stage(list[i])
	}
	if p.votes || p.complete {
		return p.finish(members, list, set, how)
	}
	for i, m := range members {
		ok, err := m.write(list[i], func(db int) bool { return p.lacks(list[i], db) }, m.first(p, set))
		if !ok || err != nil {
			return false, err
		}
		m.stage = isMarked
	}
	return false, nil // all is read again before anything is told, or admitted
}

// outages says what restarts of the masters cost, by what they keep on disk.
func outages(members []*member, maxTTL time.Duration) string {
	const (
		keepsAll  = ""
		keepsSome = "an AOF that may lack what was answered last (appendfsync is not always)"
		keepsNone = "no AOF"
	)
	by := make(map[string][]string)
	for _, m := range members {
		kind := keepsNone
		switch {
		case m.who.Durable:
			kind = keepsAll
		case m.logs():
			kind = keepsSome
		}
		by[kind] = append(by[kind], m.name)
	}
	var lines []string
	for _, kind := range []string{keepsNone, keepsSome} {
		if names := by[kind]; names != nil {
			lines = append(lines, fmt.Sprintf("%s: %s: a restart of one costs nothing, of a quorum at once no locks for %v or somewhat more", strings.Join(names, " "), kind, maxTTL))
		}
	}
	if names := by[keepsAll]; names != nil {
		lines = append(lines, strings.Join(names, " ")+": every write is on disk before it is answered: a restart costs nothing while so many of the others are there as any quorum shares a master with")
	}
	return strings.Join(lines, "\n")
}

// finish tells what stands where nothing lacks, and lets vote who may. It returns false if
// something has changed meanwhile.
func (p bootstrapPlan) finish(members []*member, list []found, set *master.Set, how Bootstrapping) (done bool, err error) {
	tell := func(format string, args ...any) {
		how.Tell("installation " + p.installation + fmt.Sprintf(format, args...))
	}
	switch begun := strings.Join(p.begun, " "); {
	case p.votes && begun != "" && how.NoLocksHeld:
		for i, m := range members {
			if !slices.Contains(p.begun, m.name) {
				continue
			}
			waits := func(db int) bool { return p.waits(list[i], db) }
			ok, err := m.write(list[i], waits, func(db int) marker.Marker {
				mark := m.voting(p.installation, set)(db)
				mark.Ghosts = true // it may have been given copies already
				return mark
			})
			if !ok || err != nil {
				return false, err
			}
			m.stage = mayVote
		}
		tell(" stands, and not all of its masters were let vote by an order before that was cut off: these may, too, now: %s", begun)
	case p.votes && begun != "":
		tell(" stands, and an order with --no-locks-held was cut off: these may vote, too, after the same order with that word: %s", begun)
	case p.votes:
		tell(" stands, and a master of it votes: nothing is done, whether locks are held or not; what others have lost, proxies find out by themselves, and let them vote when they have caught up or max-ttl has passed")
	case p.proven:
		tell(" stands, and its masters are in quarantine: proxies end that when they have caught up or max-ttl has passed")
	case how.NoLocksHeld:
		for i, m := range members {
			if ok, err := m.write(list[i], func(int) bool { return true }, m.voting(p.installation, set)); !ok || err != nil {
				return false, err
			}
			m.stage = mayVote
		}
		tell(": %d masters are marked, and may vote at once", len(members))
	default:
		tell(": %d masters are marked; they may vote when proxies have seen %v pass, or at once after the same order with --no-locks-held, if nobody holds a lock",
			len(members), set.FirstTime().Round(time.Second))
	}
	return true, nil
}
