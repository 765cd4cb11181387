package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"redlock-proxy/quorum"
	"redlock-proxy/quorum/catchup"
	"redlock-proxy/quorum/clock"
	"redlock-proxy/quorum/marker"
	"redlock-proxy/quorum/master"
)

// changed is a server of the old set, the new one or both.
type changed struct {
	master   master.Master
	old, new bool
	was      string // its name in the old set
	who      marker.Identity
	count    int               // of databases
	log      string            // that it writes, by its marker, if it is durable
	others   map[string]string // which logs the others write, by the same
	parts    [quorum.Databases]part
	nonces   [quorum.Databases]marker.Nonce
}

// changeRun makes a new set of masters of an old one.
type changeRun struct {
	plan
	engine  *Engine // has no lanes: it is what a catch-up asks for its configuration
	servers []*changed
	absent  []string // of the old set
	tell    func(string)
	closed  *bool // a master of the old set is marked for the new one, or may be
}

// ChangeMasters makes the masters of cfg the set that those of old were, so that
// every lock that is held stays held: each of the new ones is given the locks of so
// many of the old ones that no lock can be missing, before any of them may vote. No
// proxy may serve meanwhile; those of the old set that do all the same find no
// quorum any more.
//
// All of the new masters must be there, and of the old ones a blocking minority that
// remembers. If it fails or is ended on the way it can be ordered again, and must
// be: from when the first old master is marked there is no way back. Several may order
// the same at once.
func ChangeMasters(ctx context.Context, old []master.Master, cfg Config, how Changing) error {
	closed := false
	for round := 1; ; round++ {
		err := changeOnce(ctx, old, cfg, how, &closed)
		if round == maxRounds || !errors.Is(err, errMeanwhile) {
			if err != nil && closed {
				err = halfChanged{err}
			}
			return err
		}
		how.Tell(err.Error() + "; tried again")
		clock.Pause(ctx, rand.N(cfg.ProbeInterval))
	}
}

// Changing is how ChangeMasters goes about it.
type Changing struct {
	// EvenSo has it go on although proxies are connected to the old set's masters. They
	// grant nothing more from when these are marked.
	EvenSo bool

	// Tell hears how it goes on.
	Tell func(string)
}

// errMeanwhile is in what went wrong since something has changed after it was looked at.
// The same order succeeds.
var errMeanwhile = errors.New("it was changed meanwhile")

// ErrHalfChanged is what an error is from when a master of the old set is marked for the new
// one, or may be. The same order goes on from there.
var ErrHalfChanged = errors.New("the set is changed in part")

type halfChanged struct{ error }

func (halfChanged) Is(err error) bool { return err == ErrHalfChanged }
func (e halfChanged) Unwrap() error   { return e.error }

// changeOnce notes in closed that there is no way back to the old set.
func changeOnce(ctx context.Context, old []master.Master, cfg Config, how Changing, closed *bool) error {
	tell := how.Tell
	r := &changeRun{
		engine: &Engine{Config: cfg, name: newName()},
		plan:   plan{Terms: cfg.agreement()},
		tell:   tell,
		closed: closed,
	}
	for _, m := range old {
		r.old = append(r.old, m.Name)
	}
	slices.Sort(r.old)
	if err := r.meet(ctx, old); err != nil {
		return err
	}
	if err := r.learnAll(ctx); err != nil {
		return err
	}
	*closed = *closed || slices.ContainsFunc(r.servers, (*changed).closed)
	if r.finished() {
		tell("the set was changed before: there is nothing left to do")
		return nil
	}
	if err := r.enough(); err != nil {
		return err
	}
	if err := r.unserved(ctx, how.EvenSo); err != nil {
		return err
	}
	for _, name := range r.absent {
		tell("master " + name + " of the old set is not there: it keeps its old marker, and the others are enough")
	}
	// The old set goes on until all else is ready.
	for _, s := range slices.SortedFunc(slices.Values(r.servers), inTurn) {
		if err := r.mark(ctx, s, r.begin); err != nil {
			return err
		}
	}
	tell("the old set is closed: its masters are marked for the new one")
	clock.Pause(ctx, r.engine.apparition()) // what a proxy has lost since is undone or put back
	if err := r.fillAll(ctx); err != nil {
		return err
	}
	for _, s := range r.servers {
		if s.old {
			if err := r.mark(ctx, s, r.give); err != nil {
				return err
			}
		}
	}
	for _, s := range r.servers {
		if s.new {
			if err := r.mark(ctx, s, r.admit); err != nil {
				return err
			}
		}
	}
	return nil
}

// of is an error about one master.
func of(m master.Master, err error) error { return fmt.Errorf("master %s: %w", m.Name, err) }

// meet finds out which servers there are, and which of them are in both sets,
// under whatever names.
func (r *changeRun) meet(ctx context.Context, old []master.Master) error {
	var problems []error
	names := make(map[string]*changed) // by run id
	for _, m := range r.engine.Masters {
		s := &changed{master: r.engine.withClock(m), new: true}
		err := r.with(ctx, s, func(conn *member) error { s.who = conn.who; return nil })
		if twin := names[s.who.RunID]; err == nil && twin != nil {
			err = marker.Twin(twin.master.Name)
		}
		if err != nil {
			problems = append(problems, of(m, err))
			continue
		}
		names[s.who.RunID] = s
		r.servers = append(r.servers, s)
	}
	for _, m := range old {
		s := &changed{master: r.engine.withClock(m), old: true, was: m.Name}
		if err := r.with(ctx, s, func(conn *member) error { s.who = conn.who; return nil }); err != nil {
			r.absent = append(r.absent, m.Name)
			r.tell(of(m, err).Error())
			continue
		}
		switch same := names[s.who.RunID]; {
		case same == nil:
			names[s.who.RunID] = s
			r.servers = append(r.servers, s)
		case same.old:
			problems = append(problems, of(m, marker.Twin(same.master.Name)))
		default:
			same.old, same.was = true, m.Name
		}
	}
	return errors.Join(problems...)
}

// inTurn is the order in which servers are marked, the same for all who change a set,
// whatever they make of it:
//
//	1: of 1 2 3 one makes 2 3 4, and another 1 3 5
//	2: the first marks 2, as it begins with what it names first, and then 3
//	3: the other marks 1: of neither new set enough can be marked, and the old one is closed
//
// So who finds the first of the old set marked by the other has closed none of it. Those
// that are new to it come before, and are called differently, perhaps.
func inTurn(a, b *changed) int {
	return cmp.Or(
		strings.Compare(a.was, b.was),
		strings.Compare(a.who.RunID, b.who.RunID))
}

// closedIn tells that a server of the old set is marked for the new one in a database, and
// closed that it is in any.
func (s *changed) closedIn(db int) bool {
	p := s.parts[db]
	return s.old && (p == kept || p == begun || p == done)
}

func (s *changed) closed() bool {
	for db := range s.count {
		if s.closedIn(db) {
			return true
		}
	}
	return false
}

// with speaks to a server on a connection of its own.
func (r *changeRun) with(ctx context.Context, s *changed, f func(*member) error) error {
	ctx, cancel := context.WithTimeout(ctx, r.engine.ConnectTimeout+quorum.Databases*r.engine.MasterTimeout)
	defer cancel()
	conn, err := reach(ctx, s.master)
	if err != nil {
		return err
	}
	defer conn.gate.Close()
	if s.who.RunID != "" && s.who.RunID != conn.who.RunID {
		return fmt.Errorf("its process was started anew: %w", errMeanwhile)
	}
	return f(conn)
}

// learnAll reads all markers and judges them.
func (r *changeRun) learnAll(ctx context.Context) error {
	texts := make([][]string, len(r.servers))
	var problems []error
	for i, s := range r.servers {
		err := r.with(ctx, s, func(conn *member) (err error) {
			texts[i], err = conn.markers()
			return err
		})
		s.count = len(texts[i])
		for _, text := range texts[i] {
			if err == nil {
				err = r.learn(text)
			}
		}
		if err == nil && s.count != r.servers[0].count {
			err = fmt.Errorf("it has %d databases, and %s has %d: set databases alike", s.count, r.servers[0].master.Name, r.servers[0].count)
		}
		if err != nil {
			problems = append(problems, of(s.master, err))
		}
	}
	if len(problems) > 0 {
		return errors.Join(problems...)
	}
	if err := r.check(); err != nil {
		return err
	}
	for i := range r.servers {
		for db, text := range texts[i] {
			r.tells(db, text)
		}
	}
	for i, s := range r.servers {
		whole := r.whole(i, texts)
		if m, err := marker.Parse(texts[i][0]); err == nil {
			if s.others = m.Others; m.Durable && (whole || m.RunID == s.who.RunID) {
				s.log = m.DiskLog()
			}
		}
		for db, text := range texts[i] {
			m, is, err := r.judge(text, s.who, db, s.old, whole)
			if err != nil {
				problems = append(problems, of(s.master, fmt.Errorf("database %d: %w", db, err)))
				break
			}
			if s.new {
				is = r.of(is, db, m.Nonce, m.RunID != s.who.RunID)
			}
			s.parts[db], s.nonces[db] = is, marker.NonceOf(text)
		}
	}
	return errors.Join(problems...)
}

// whole tells whether the log that a server has read, if its process is another than that of
// a marker, holds all that it has granted, as far as so many of the old set can tell as any of
// its quorums shares a master with, or a proxy has decided it; see durable.go.
func (r *changeRun) whole(i int, texts [][]string) bool {
	m, err := marker.Parse(texts[i][0])
	if err != nil || m.RunID == r.servers[i].who.RunID {
		return err == nil && m.Whole
	}
	asked := 0
	for j, s := range r.servers {
		by, err := marker.Parse(texts[j][0])
		remembers := by.RunID == s.who.RunID || by.Durable && s.who.Durable
		if j == i || !s.old || err != nil || !remembers || by.Nonce.Provisional() && !by.Holds {
			continue
		}
		if told := by.Others[m.Member]; told != "" && told != m.DiskLog() {
			return false
		}
		asked++
	}
	return asked >= r.needed()
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

// finished tells that all masters of the new set may vote, but for what is left to proxies.
func (r *changeRun) finished() bool {
	return r.all(func(p part) bool { return p == done || p == left })
}

// all tells it of the parts of all servers of the new set.
func (r *changeRun) all(is func(part) bool) bool {
	return !slices.ContainsFunc(r.servers, func(s *changed) bool {
		return s.new && slices.ContainsFunc(s.parts[:s.count], func(p part) bool { return !is(p) })
	})
}

// enough is an error if too few masters of the old set remember what is to be given yet, and those
// that are away may. When there is no way back to the old set, or none of it could tell more,
// the rest is waited for until none of its locks can live: so would proxies.
func (r *changeRun) enough() error {
	if r.all(part.voted) {
		return nil
	}
	for db := range r.servers[0].count {
		var not []string
		remembering, closed := 0, false
		for _, s := range r.servers {
			closed = closed || s.closedIn(db)
			switch {
			case s.old && s.parts[db].source():
				remembering++
			case s.old:
				not = append(not, s.master.Name)
			}
		}
		if remembering >= r.needed() {
			continue
		}
		text := fmt.Sprintf("database %d: %d masters of the old set remember what they granted, %d are needed", db, remembering, r.needed())
		if len(not) > 0 {
			text += "; these may have lost locks: " + strings.Join(not, " ")
		}
		if len(r.absent) > 0 {
			text += "; these are not there: " + strings.Join(r.absent, " ")
		}
		switch {
		case !closed && remembering+len(r.absent) >= r.needed():
			return errors.New(text + "; bring them back, or let a proxy of the old set run until max-ttl has passed")
		case !closed:
			text += fmt.Sprintf("; once the old set is closed, what it may have granted there is waited out for %v", r.engine.quarantineTime().Round(time.Second))
		case len(r.old)-len(r.absent) < r.needed():
			return errors.New(text + "; bring them back, or, if they are gone for good, start empty servers in their place")
		}
		r.tell(text)
	}
	return nil
}

// mark has a server's marker replaced in each database for which next has another.
func (r *changeRun) mark(ctx context.Context, s *changed, next func(*changed, int) (marker.Marker, part)) error {
	return r.with(ctx, s, func(conn *member) error {
		for db := range s.count {
			m, is := next(s, db)
			if is == 0 {
				continue
			}
			answers, err := conn.gate.Ask(
				[]string{"SELECT", strconv.Itoa(db)},
				master.MarkScript.Eval(quorum.MarkerKey, string(s.nonces[db]), m.String()))
			switch {
			case err != nil:
				*r.closed = *r.closed || s.old
				return of(s.master, err)
			case answers[1].Kind == quorum.FailureReply:
				return of(s.master, errors.New(answers[1].Str))
			case answers[1].Str != m.String():
				return of(s.master, fmt.Errorf("its marker in database %d: %w", db, errMeanwhile))
			}
			*r.closed = *r.closed || s.old
			s.parts[db], s.nonces[db] = is, m.Nonce
		}
		return nil
	})
}

// marker is what all markers of the new set have in common.
func (r *changeRun) marker(s *changed, db int, provisional bool) marker.Marker {
	m := marker.Marker{
		Nonce:        marker.NewNonce(provisional),
		Installation: r.into,
		Member:       s.master.Name,
		DB:           db,
		Terms:        r.Terms,
		RunID:        s.who.RunID,
		Durable:      s.who.Logs(),
		Rewrites:     s.who.Rewrites,
		From:         r.from,
		Evicted:      s.who.Evicted,
		Replication:  s.who.Replication,
	}
	if m.Durable {
		m.Log = s.log
	}
	if db == 0 {
		m.Others = s.others
	}
	return m
}

// begin is a server's provisional marker, if it is to get one.
func (r *changeRun) begin(s *changed, db int) (m marker.Marker, is part) {
	provisional, holds := s.parts[db].marks()
	if !provisional {
		return m, 0
	}
	m = r.marker(s, db, true)
	if s.parts[db] == forgetful {
		m.Why = "it may have lost what it granted after change-masters had finished"
		return m, left
	}
	m.Why, m.Changing, m.Holds, is = "change-masters has not finished", true, holds, begun
	if !s.new {
		m.Why = "it has left its set"
	}
	if holds {
		is = kept
	}
	return m, is
}

// give is the provisional marker of a server that holds what has been given.
func (r *changeRun) give(s *changed, db int) (m marker.Marker, is part) {
	if s.parts[db] != kept {
		return m, 0
	}
	m = r.marker(s, db, true)
	m.Why, m.Changing, m.Holds = "change-masters has not finished", true, true
	if r.given[db] == nil {
		for _, other := range r.servers {
			if other.new {
				r.given[db] = append(r.given[db], other.nonces[db])
			}
		}
	}
	m.Given = r.given[db]
	if !s.new {
		m.Why = "it has left its set"
	}
	return m, kept
}

// admit is a server's marker by which it may vote, if it has it not.
func (r *changeRun) admit(s *changed, db int) (m marker.Marker, is part) {
	if s.parts[db].voted() {
		return m, 0
	}
	m = r.marker(s, db, false)
	m.Given = r.given[db]
	return m, done
}

// fillAll gives every master of the new set what those of the old set hold, side by
// side.
func (r *changeRun) fillAll(ctx context.Context) error {
	var wait sync.WaitGroup
	var mu sync.Mutex
	errs := make([]error, len(r.servers))
	tell := r.tell
	r.tell = func(text string) {
		mu.Lock()
		defer mu.Unlock()
		tell(text)
	}
	began := r.engine.boot()
	for i, s := range r.servers {
		if !s.new {
			continue
		}
		wait.Go(func() {
			keys := int64(0)
			for db := range s.count {
				if !s.parts[db].voted() && errs[i] == nil {
					var n int64
					n, errs[i] = r.fill(ctx, s, db, began)
					keys += n
				}
			}
			switch {
			case errs[i] != nil:
			case slices.Contains(s.parts[:s.count], left):
				r.tell(fmt.Sprintf("master %s may have lost what it granted since: proxies let it vote when it has caught up", s.master.Name))
			default:
				r.tell(fmt.Sprintf("master %s holds the locks of the old set: %d keys were given to it", s.master.Name, keys))
			}
		})
	}
	wait.Wait()
	return errors.Join(errs...)
}

// fill gives a server what those of the old set hold in one database. It waits until
// that is so, but no longer than locks within max-ttl can live.
func (r *changeRun) fill(ctx context.Context, s *changed, db int, began time.Duration) (keys int64, err error) {
	var from []catchup.Source
	for _, o := range r.servers {
		if o.old && o.parts[db].source() {
			from = append(from, source(o, db))
		}
	}
	told, wait := "", r.engine.ProbeInterval
	for {
		ends := began + r.engine.quarantineTime()
		left := ends - r.engine.boot()
		var progress catchup.Progress
		err := catchup.Run(ctx, catchup.Target{
			Source:   source(s, db),
			Needed:   r.needed(),
			Closed:   true,
			Last:     left <= 0,
			Lease:    r.engine.name + "/" + newName(),
			Ends:     ends,
			Released: new(catchup.Released),
			Progress: &progress,
		}, from, r.engine.times())
		switch {
		case ctx.Err() != nil:
			return 0, of(s.master, ctx.Err())
		case err == nil:
			return progress.Copied.Load(), nil
		case errors.Is(err, catchup.ErrOtherNonce):
			return 0, of(s.master, fmt.Errorf("database %d: %w: %w", db, errMeanwhile, err))
		case left <= 0:
			r.tell(of(s.master, fmt.Errorf("database %d: it could not be given all locks that outlive max-ttl: %w", db, err)).Error())
			return progress.Copied.Load(), nil
		case err.Error() != told:
			told = err.Error()
			r.tell(of(s.master, fmt.Errorf("database %d: %w; tried again for %v", db, err, left.Round(time.Second))).Error())
		}
		// Of two that order the same each would take the other's place for ever.
		if errors.Is(err, catchup.ErrOtherLease) {
			wait = rand.N(2 * wait)
			wait += r.engine.ProbeInterval
		}
		clock.Pause(ctx, wait)
	}
}

// source is what a catch-up knows a server by.
func source(s *changed, db int) catchup.Source {
	m := s.master
	m.DB = db
	return catchup.Source{Master: &m, Nonce: s.nonces[db]}
}
