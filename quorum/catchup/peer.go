package catchup

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

// Times are how long what is asked of masters may take. All of them are needed.
type Times struct {
	Connect  time.Duration // until a master is connected to
	Answer   time.Duration // until it has answered
	Decision time.Duration // until what a proxy puts to the masters is decided
	// Apart is how far apart two looks at a master are so that nothing that was put to it by the
	// first is undecided at the second, and what follows from it was carried out.
	Apart time.Duration
	Boot  func() time.Duration // our clock, for what goes on while the machine sleeps
}

// TimesOf are those of a catch-up within a set, whoever runs it.
func TimesOf(s *master.Set) Times {
	return Times{
		Connect:  s.ConnectTimeout,
		Answer:   s.MasterTimeout,
		Decision: s.AcquireTimeout,
		Apart:    s.Apart(),
		Boot:     s.Boot,
	}
}

// Source is a master as it is known to whoever has it take part, in the database that Master
// selects.
type Source struct {
	Master *master.Master
	Nonce  marker.Nonce // under which it votes, or is quarantined
	Clock  clock.Anchor // of its clock; it may be empty
	// Changed is called when its marker was seen to be another. It may be nil.
	Changed func()
}

// peer is a master that takes part, on a connection of its own. One goroutine uses it at a
// time.
type peer struct {
	Source
	times Times
	link  *master.Link
	stop  func() bool // of what interrupts the link when ctx is done

	latest clock.Sample // of its clock

	forbidden forbidden
}

// errPeer says why a master can take no further part.
type errPeer struct {
	name string
	why  error
}

func (e *errPeer) Error() string { return e.name + ": " + e.why.Error() }
func (e *errPeer) Unwrap() error { return e.why }

var (
	// ErrOtherNonce says that a master is not the one that was meant any more.
	ErrOtherNonce = errors.New("its marker has changed")
	// ErrOtherLease says that another run has the target.
	ErrOtherLease = errors.New("another proxy is giving the master its keys")

	errVague = errors.New("it answers too slowly for its clock to be seen")
)

// meet connects to a master.
func (t Times) meet(ctx context.Context, s Source) (*peer, error) {
	dialing, cancel := context.WithTimeout(ctx, t.Connect)
	defer cancel()
	link, err := s.Master.Link(dialing, marker.Identity{}, t.Answer)
	if err != nil {
		return nil, &errPeer{s.Master.Name, errors.New(master.ReasonOf(err))}
	}
	link.Allow(true)
	link.TakeFrom(&s.Master.Rooms.Copies)
	return &peer{
		Source:    s,
		times:     t,
		link:      link,
		stop:      context.AfterFunc(ctx, func() { link.Interrupt() }),
		forbidden: forbidden{keys: newKeySet()},
	}, nil
}

// leave ends the connection.
func (p *peer) leave() {
	p.stop()
	p.link.Close()
}

// ask sends a command, and believes the answer only if the master still was the one
// that was meant when it had carried it out.
func (p *peer) ask(argv []string) (a decide.Answer, err error) {
	answers, err := p.askAll(argv)
	if len(answers) > 0 {
		a = answers[0]
	}
	return a, err
}

// askAll is ask of some commands, one behind the other. An error that a master answers is that
// of the first with one.
func (p *peer) askAll(argvs ...[]string) ([]decide.Answer, error) {
	commands := make([]rueidis.Completed, len(argvs))
	for i, argv := range argvs {
		commands[i] = p.link.Command(argv...)
	}
	answers, proof, err := p.link.Ask(commands...)
	if err == nil {
		err = p.runsTrue(proof.Clock)
	}
	if err != nil {
		return answers, &errPeer{p.Master.Name, errors.New(master.ReasonOf(err))}
	}
	for _, a := range answers {
		if a.Kind == quorum.FailureReply {
			return answers, p.refuses(a)
		}
	}
	if proof.Nonce != p.Nonce {
		return answers, p.changed()
	}
	return answers, nil
}

// garbage says that the master answers what it never should.
func (p *peer) garbage() error { return &errPeer{p.Master.Name, master.ErrGarbage} }

// errAnswer is an error that a master has answered.
type errAnswer struct{ decide.Answer }

func (e errAnswer) Error() string { return e.Str }

// refuses says that the master has answered an error.
func (p *peer) refuses(a decide.Answer) error {
	why := error(errAnswer{a})
	if a.ForbidsKey() {
		why = fmt.Errorf("%w: %w", errForbidsKey, why)
	}
	return &errPeer{p.Master.Name, why}
}

// LacksRight tells of an error of Run, Lay or LayEternal that a master does not let its user do
// what was asked, whatever the key. Of EXEC a master says so in words of its own.
func LacksRight(err error) bool {
	var a errAnswer
	return errors.As(err, &a) && !a.ForbidsKey() && (a.Forbidden() || a.Failed("EXECABORT "))
}

// changed says that the master is not the one that was meant any more. Who keeps it has to
// find that out for himself, and is told at once.
func (p *peer) changed() error {
	if p.Changed != nil {
		p.Changed()
	}
	return &errPeer{p.Master.Name, ErrOtherNonce}
}

// call asks with a script, sent by its hash once the master has it.
func (p *peer) call(s *master.Script, keys, args []string) (decide.Answer, error) {
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
func (p *peer) patiently(s *master.Script, keys, args []string) (a decide.Answer, err error) {
	for wait := time.Millisecond; wait < time.Second; wait *= 2 {
		a, err = p.call(s, keys, args)
		if n := a.LeftOut(); n == 0 || int64(n) > p.Master.Rooms.Copies.Most {
			break
		}
		time.Sleep(wait)
	}
	return a, err
}

// change has the master run a script that writes, if it is the one that is meant.
func (p *peer) change(s *master.Script, keys, args []string) (decide.Answer, error) {
	a, err := p.call(s, append([]string{quorum.MarkerKey, LeaseKey}, keys...), append([]string{string(p.Nonce)}, args...))
	switch {
	case err != nil:
		return a, err
	case a.Kind == quorum.IntegerReply && a.Int == decide.SaysOtherNonce:
		return a, p.changed()
	case a.Kind == quorum.IntegerReply && a.Int == SaysOtherLease:
		return a, ErrOtherLease
	}
	return a, nil
}

// runsTrue is an error if the master's clock has jumped: keys may have expired
// early, and what it does not hold says nothing.
func (p *peer) runsTrue(now clock.Sample) error {
	p.latest = now
	if by := p.Clock.Look(now); by != 0 {
		return fmt.Errorf("its clock has jumped by %v", by.Round(time.Millisecond))
	}
	return nil
}

// lookAgain looks at the master's clock until it was seen sharply, or has been seen three
// times. What it told as left of a ttl may be too little by as much as a slow reply hid of
// a step; the next look shows that.
func (p *peer) lookAgain() (a decide.Answer, err error) {
	for range 3 {
		if a, err = p.ask([]string{"TIME"}); err != nil || !p.latest.Vague(sharpLook) {
			return a, err
		}
	}
	if p.latest.Vague(p.times.Decision) {
		err = &errPeer{p.Master.Name, errVague}
	}
	return a, err
}

// sharpLook is as sharp as expiry is on a master.
const sharpLook = 2 * time.Millisecond
