package engine

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/redis/rueidis"

	"redlock-proxy/quorum"
	"redlock-proxy/quorum/clock"
	"redlock-proxy/quorum/decide"
	"redlock-proxy/quorum/marker"
	"redlock-proxy/quorum/master"
)

// party is a master that takes part in a catch-up, on a connection of the
// catch-up's own: a source, or the one that is given keys. One goroutine uses it
// at a time.
type party struct {
	name  string
	lane  *lane
	link  *master.Link
	nonce marker.Nonce // under which it was known when the catch-up began
	stop  func() bool  // of what closes the link when the catch-up is to end

	clock  clock.Anchor
	latest clock.Sample // of its clock

	forbidden
}

// errParty says why a master can take no further part.
type errParty struct {
	name string
	why  error
}

func (e *errParty) Error() string { return e.name + ": " + e.why.Error() }
func (e *errParty) Unwrap() error { return e.why }

var (
	errOtherNonce = errors.New("its marker has changed")
	errOtherLease = errors.New("another proxy is giving the master its keys")
	errVague      = errors.New("it answers too slowly for its clock to be seen")
)

// meet connects to a master.
func (e *Engine) meet(ctx context.Context, s source) (*party, error) {
	l := s.lane
	dialing, cancel := context.WithTimeout(ctx, e.ConnectTimeout)
	defer cancel()
	k, err := l.master.Link(dialing, marker.Identity{}, e.MasterTimeout)
	if err != nil {
		return nil, &errParty{l.master.Name, errors.New(master.ReasonOf(err))}
	}
	k.Allow(true)
	k.TakeFrom(&l.master.Rooms.Copies)
	return &party{
		name:      l.master.Name,
		lane:      l,
		link:      k,
		nonce:     s.nonce,
		clock:     s.clock,
		stop:      context.AfterFunc(ctx, func() { k.Interrupt() }),
		forbidden: forbidden{noted: newNoted()},
	}, nil
}

func (p *party) leave() {
	p.stop()
	p.link.Close()
}

// ask sends a command, and believes the answer only if the master still was the one
// that was meant when it had carried it out.
func (p *party) ask(argv []string) (a decide.Answer, err error) {
	answers, err := p.askAll(argv)
	if len(answers) > 0 {
		a = answers[0]
	}
	return a, err
}

// askAll is ask of some commands, one behind the other. An error that a master answers is that
// of the first with one.
func (p *party) askAll(argvs ...[]string) ([]decide.Answer, error) {
	commands := make([]rueidis.Completed, len(argvs))
	for i, argv := range argvs {
		commands[i] = p.link.Command(argv...)
	}
	results, proof, err := p.link.Exchange(commands)
	answers := p.link.ReadAll(results)
	if err == nil {
		err = p.runsTrue(proof.Clock)
	}
	if err != nil {
		return answers, &errParty{p.name, errors.New(master.ReasonOf(err))}
	}
	for _, a := range answers {
		if a.Kind == quorum.FailureReply {
			return answers, p.refuses(a)
		}
	}
	if proof.Nonce != p.nonce {
		return answers, p.changed()
	}
	return answers, nil
}

// errAnswer is an error that a master has answered.
type errAnswer struct{ decide.Answer }

func (e errAnswer) Error() string { return e.Str }

func (p *party) refuses(a decide.Answer) error {
	why := error(errAnswer{a})
	if a.ForbidsKey() {
		why = fmt.Errorf("%w: %w", errForbidsKey, why)
	}
	return &errParty{p.name, why}
}

// lacksRight tells that a master does not let its user do what was asked, whatever the key. Of
// EXEC it says so in words of its own.
func lacksRight(err error) bool {
	var a errAnswer
	return errors.As(err, &a) && !a.ForbidsKey() && (a.Forbidden() || a.Failed("EXECABORT "))
}

// changed says that the master is not the one that was meant any more. Its lane has to
// find that out for itself, and does so at once.
func (p *party) changed() error {
	p.lane.rouseNow()
	return &errParty{p.name, errOtherNonce}
}

// call asks with a script, sent by its hash once the master has it.
func (p *party) call(s *master.Script, keys, args []string) (decide.Answer, error) {
	name, text := "EVAL", s.Text
	if p.link.Knows(s.SHA) {
		name, text = "EVALSHA", s.SHA
	}
	argv := make([]string, 0, 3+len(keys)+len(args))
	argv = append(argv, name, text, strconv.Itoa(len(keys)))
	argv = append(argv, keys...)
	argv = append(argv, args...)
	a, err := p.ask(argv)
	if a.Failed("NOSCRIPT") {
		argv[0], argv[1] = "EVAL", s.Text
		return p.ask(argv)
	}
	return a, err
}

// patiently calls again for the least that can be asked for, as others may have taken the room
// that the answer needs.
func (p *party) patiently(s *master.Script, keys, args []string) (a decide.Answer, err error) {
	for wait := time.Millisecond; wait < time.Second; wait *= 2 {
		a, err = p.call(s, keys, args)
		if n := a.LeftOut(); n == 0 || int64(n) > p.lane.master.Rooms.Copies.Most {
			break
		}
		time.Sleep(wait)
	}
	return a, err
}

// change has the master run a script that writes, if it is the one that is meant.
func (p *party) change(s *master.Script, keys, args []string) (decide.Answer, error) {
	a, err := p.call(s, append([]string{quorum.MarkerKey, catchUpLease}, keys...), append([]string{string(p.nonce)}, args...))
	switch {
	case err != nil:
		return a, err
	case a.Kind == quorum.IntegerReply && a.Int == saysOtherNonce:
		return a, p.changed()
	case a.Kind == quorum.IntegerReply && a.Int == saysOtherLease:
		return a, errOtherLease
	}
	return a, nil
}

// runsTrue is an error if the master's clock has jumped: keys may have expired
// early, and what it does not hold says nothing.
func (p *party) runsTrue(now clock.Sample) error {
	p.latest = now
	if by := p.clock.Look(now); by != 0 {
		return fmt.Errorf("its clock has jumped by %v", by.Round(time.Millisecond))
	}
	return nil
}

// lookAgain looks at the master's clock until it was seen sharply, or has been seen three
// times. What it told as left of a ttl may be too little by as much as a slow reply hid of
// a step; the next look shows that.
func (p *party) lookAgain() (a decide.Answer, err error) {
	for range 3 {
		if a, err = p.ask([]string{"TIME"}); err != nil || !p.latest.Vague(sharpLook) {
			return a, err
		}
	}
	if p.latest.Vague(p.lane.engine.AcquireTimeout) {
		err = &errParty{p.name, errVague}
	}
	return a, err
}

// sharpLook is as sharp as expiry is on a master.
const sharpLook = 2 * time.Millisecond

// page reads the names of some keys behind a cursor; "0" is both the first and
// the one behind the last page.
func (p *party) page(cursor string) (keys []string, next string, err error) {
	a, err := p.call(pageScript, nil, []string{strconv.Itoa(pageBytes), cursor, strconv.Itoa(pageKeys)})
	if a.LeftOut() > 0 {
		a, err = p.patiently(pageScript, nil, []string{"1", cursor, "1"})
	}
	if err != nil {
		return nil, "", err
	}
	if len(a.Elems) != 2 || a.Elems[0].Kind != quorum.BulkReply {
		return nil, "", &errParty{p.name, master.ErrGarbage}
	}
	for _, e := range a.Elems[1].Elems {
		if !quorum.Private(e.Str) {
			keys = append(keys, e.Str)
		}
	}
	return keys, a.Elems[0].Str, nil
}

// read reads what the master holds of the keys, or of as many of them as one
// answer should hold. Of one that there is no room for, or that our user may not touch,
// it tells that.
func (p *party) read(keys []string) ([]reading, error) {
	return each(p, keys, itself, reading{forbidden: true}, p.readAllowed)
}

func (p *party) readAllowed(keys []string) ([]reading, error) {
	most := []string{strconv.Itoa(pageBytes)}
	a, err := p.call(readingScript, keys, most)
	for a.LeftOut() > 0 && len(keys) > 1 {
		keys = keys[:len(keys)/2]
		a, err = p.call(readingScript, keys, most)
	}
	if a.LeftOut() > 0 {
		a, err = p.patiently(readingScript, keys, most)
	}
	if n := a.LeftOut(); n > 0 {
		return []reading{{leftOut: n}}, nil
	}
	if err != nil {
		return nil, err
	}
	readings, ok := readReadings(a)
	if !ok || len(readings) == 0 || len(readings) > len(keys) {
		return nil, &errParty{p.name, master.ErrGarbage}
	}
	return readings, nil
}

// count asks how many of the keys the master has, whatever they hold: none that it tells of
// if our user may not touch one of them.
func (p *party) count(keys []string) (int, error) {
	a, err := p.ask(append([]string{"EXISTS"}, keys...))
	if errors.Is(err, errForbidsKey) {
		return 0, nil
	}
	if err == nil && a.Kind != quorum.IntegerReply {
		err = &errParty{p.name, master.ErrGarbage}
	}
	return int(a.Int), err
}

// held asks whether the master holds what others were given. What our user may not touch
// is unread.
func (p *party) held(list []given) ([]agreement, error) {
	return each(p, list, nameOfGiven, unread, p.heldAllowed)
}

func (p *party) heldAllowed(list []given) ([]agreement, error) {
	keys, digests := make([]string, len(list)), make([]string, len(list))
	for i, g := range list {
		keys[i], digests[i] = g.key, g.digest
	}
	said := make([]agreement, 0, len(keys))
	for len(said) < len(keys) {
		rest := keys[len(said):]
		a, err := p.call(heldScript, rest, digests[len(said):])
		if err != nil {
			return nil, err
		}
		if len(a.Elems) != 1 || !within(len(a.Elems[0].Str), len(rest)) {
			return nil, &errParty{p.name, master.ErrGarbage}
		}
		for _, letter := range []byte(a.Elems[0].Str) {
			switch letter {
			case '-':
				said = append(said, nowhere)
			case '=':
				said = append(said, agreed)
			default:
				said = append(said, disputed)
			}
		}
	}
	return said, nil
}

// within tells that a script was about some of the keys that it was given, or all.
func within(n, keys int) bool { return n > 0 && n <= keys }

// settled is the answer of a script that looks at some keys, or all: how many it has deleted,
// and looked at.
func (p *party) settled(a decide.Answer, keys int) (deleted, looked int, err error) {
	if len(a.Elems) != 2 || !within(int(a.Elems[1].Int), keys) {
		return 0, 0, &errParty{p.name, master.ErrGarbage}
	}
	return int(a.Elems[0].Int), int(a.Elems[1].Int), nil
}
