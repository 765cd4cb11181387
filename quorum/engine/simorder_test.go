package engine

import (
	"fmt"
	"math/bits"
	"math/rand/v2"
	"time"

	"redlock-proxy/quorum"
)

// When all faults are over: whichever minority of the masters is away, each lock can be
// had, and a read is as new as the last answered write.

// hadWithoutAny has each lock be acquired and released without each minority there is.
func (s *simulation) hadWithoutAny() {
	n := len(s.world.masters)
	for set := range 1 << n {
		if bits.OnesCount(uint(set)) != (n-1)/2 {
			continue
		}
		var away []int
		for i := range n {
			if set>>i&1 == 1 {
				away = append(away, i)
			}
		}
		s.without(away, s.hadAgain)
	}
}

// without calls f while some masters are away, and has them be back.
func (s *simulation) without(away []int, f func()) {
	for _, i := range away {
		s.world.masters[i].cut()
	}
	time.Sleep(s.world.cfg.ProbeInterval + s.world.cfg.MasterTimeout)
	f()
	for _, i := range away {
		s.world.masters[i].rejoin()
	}
	time.Sleep(time.Second)
}

// readsAreNew has one thing after the other be asked about a key, of whatever proxy and
// with another minority away each time.
func (s *simulation) readsAreNew(r *rand.Rand) {
	n := len(s.world.masters)
	k := &ordered{simulation: s, may: map[string]bool{"": true}}
	for i := range 12 {
		for _, ask := range []func(){func() { k.write(r, fmt.Sprint("w", i)) }, func() { k.read(r) }} {
			s.without(r.Perm(n)[:r.IntN(quorum.QuorumOf(n))], func() { ask(); k.read(r) })
		}
	}
	s.ask(s.engines[0], quorum.Request{Kind: quorum.Remove, Key: k.key()})
}

// ordered is a key of which one thing after the other is asked.
type ordered struct {
	*simulation
	latest string          // what was last to be written
	may    map[string]bool // what the key may hold; "" is nothing
}

func (k *ordered) key() string { return "ordered" }

// is tells that the key can hold nothing else.
func (k *ordered) is(value string) bool { return len(k.may) == 1 && k.may[value] }

// becomes has the key hold a value, or perhaps, if it is not known.
func (k *ordered) becomes(value string, known bool) {
	if known {
		clear(k.may)
	}
	k.may[value] = true
}

func (k *ordered) write(r *rand.Rand, value string) {
	ask := quorum.Request{Key: k.key(), Token: k.latest, TTL: time.Minute}
	switch r.IntN(6) {
	case 0:
		ask.Kind = quorum.Release
	case 1:
		ask.Kind = quorum.Extend
	case 2:
		ask.Kind = quorum.Remove
	case 3:
		ask.Kind, ask.Args, ask.TTLArg, k.latest = quorum.Write, []string{"SET", k.key(), value, "PX", ""}, 4, value
	default:
		ask.Kind, ask.Token = quorum.Acquire, value
	}
	e, _ := k.engine(r.IntN(3))
	d := k.ask(e, ask).Decision
	k.noteOf(k.key(), "kind %d of %s: %v", ask.Kind, value, d)
	won, known := d == quorum.Won, d == quorum.Won || d == quorum.Contended
	switch {
	case ask.Kind == quorum.Acquire && won && !k.may[""], ask.Kind == quorum.Extend && won && !k.may[ask.Token]:
		k.broken(k.key(), "%+v is won, of what can hold %v", ask, k.may)
	case (ask.Kind == quorum.Extend || ask.Kind == quorum.Release) && d == quorum.Contended && k.is(ask.Token) && ask.Token != "":
		k.broken(k.key(), "%+v is refused, of what holds that", ask)
	case ask.Kind == quorum.Acquire && won:
		k.latest = value
		k.becomes(value, true)
	case ask.Kind == quorum.Release && won, ask.Kind == quorum.Remove:
		k.becomes("", known)
	case ask.Kind == quorum.Write:
		k.becomes(value, won)
	case !known: // it may have happened
		k.becomes(ask.Token, false)
		k.becomes("", false)
	}
}

func (k *ordered) read(r *rand.Rand) {
	e, _ := k.engine(r.IntN(3))
	got := k.ask(e, quorum.Request{Kind: quorum.Read, Key: k.key()})
	k.noteOf(k.key(), "reads %v %q", got.Decision, got.Value)
	if got.Decision == quorum.Won && !k.may[got.Value] {
		k.broken(k.key(), "%q is read, of what can hold %v", got.Value, k.may)
	}
}
