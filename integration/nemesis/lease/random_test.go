package lease

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
)

// lock is a single server in invented time that clients speak to over a slow
// and lossy network. Its memory fails as often as forgets says.
type lock struct {
	random  *rand.Rand
	forgets float64
	token   string
	expires Instant
}

func (l *lock) serve(op Op, at Instant) Outcome {
	if at >= l.expires || l.random.Float64() < l.forgets {
		l.token = ""
	}
	const drift = 2 * time.Millisecond
	switch {
	case op.Kind == Acquire && l.token == "":
		l.token, l.expires = op.Token, at.After(op.TTL+drift)
	case op.Kind == Acquire || l.token != op.Token:
		return No
	case op.Kind == Extend:
		l.expires = at.After(op.TTL + drift)
	case op.Kind == Release:
		l.token = ""
	}
	return Yes
}

// contender is a client: its next op, and when that reaches the server.
type contender struct {
	id, turn int
	next     Op
	arrives  Instant
}

// play makes a history of that lock.
func play(random *rand.Rand, forgets float64, clients, length int) []Op {
	l := &lock{random: random, forgets: forgets}
	some := func(most int) time.Duration { return time.Duration(random.IntN(most*1000)) * time.Microsecond }
	all := make([]*contender, clients)
	plan := func(c *contender, after Instant, kind Kind) {
		if kind == Acquire {
			c.turn++
		}
		c.next = Op{Client: c.id, Key: "k", Token: fmt.Sprintf("t%d.%d", c.id, c.turn), Kind: kind, Call: after.After(some(40))}
		if kind == Acquire || kind == Extend {
			c.next.TTL = 20*time.Millisecond + some(80)
		}
		c.arrives = c.next.Call.After(some(15))
	}
	for i := range all {
		all[i] = &contender{id: i}
		plan(all[i], 0, Acquire)
	}
	var history []Op
	for len(history) < length {
		c := all[0]
		for _, other := range all {
			if other.arrives < c.arrives {
				c = other
			}
		}
		op := c.next
		op.Return = c.arrives.After(some(15))
		if fate := random.Float64(); fate < 0.05 {
			op.Outcome = Unknown // it never arrived
		} else if op.Outcome = l.serve(op, c.arrives); fate < 0.1 {
			op.Outcome = Unknown // its answer never did
		}
		history = append(history, op)
		goOn := op.Outcome == Yes || op.Kind == Extend && op.Outcome == Unknown
		switch {
		case !goOn || op.Kind == Release:
			plan(c, op.Return, Acquire)
		case random.IntN(2) == 0:
			plan(c, op.Return, Extend)
		case random.IntN(3) == 0:
			plan(c, op.Return, Read)
		case random.IntN(4) == 0: // abandoned
			plan(c, op.Return, Acquire)
		default:
			plan(c, op.Return, Release)
		}
	}
	return history
}

// TestCorrectLockIsNeverAccused and the one after it differ in the lock's
// memory alone.
func TestCorrectLockIsNeverAccused(t *testing.T) {
	for seed := range uint64(500) {
		history := play(rand.New(rand.NewPCG(seed, 1)), 0, 5, 200)
		if v := Check(history, time.Minute); v.Result != porcupine.Ok {
			t.Fatalf("seed %d: %v", seed, v.Result)
		}
		if d := Doubles(history); len(d) > 0 {
			t.Fatalf("seed %d: %v", seed, d)
		}
		if lost := Lost(history); len(lost) > 0 {
			t.Fatalf("seed %d: lost %v", seed, lost)
		}
	}
}

func TestForgetfulLockIsAlwaysCaught(t *testing.T) {
	caught := 0
	for seed := range uint64(500) {
		history := play(rand.New(rand.NewPCG(seed, 2)), 0.02, 5, 200)
		if len(Doubles(history)) == 0 {
			continue
		}
		caught++
		if v := Check(history, time.Minute); v.Result != porcupine.Illegal {
			t.Fatalf("seed %d: %v, although %v", seed, v.Result, Doubles(history)[0])
		}
	}
	if caught < 300 {
		t.Errorf("of 500 forgetful locks only %d had two holders", caught)
	}
}
