package commands

import (
	"time"

	"redlock-proxy/quorum"
)

// shape is what a recognised script comes to: one Release or Extend of one key.
//
// key is a 1-based index into KEYS; token, ttl and additive are 1-based
// indexes into ARGV.
type shape struct {
	class quorum.Kind // Release or Extend

	// A call that gives fewer KEYS or ARGV than these is not the call that was
	// recognised. They are at least what the shape names.
	keys, args int

	key, token int

	ttl      int           // the argument that holds the ttl, 0 if none
	unit     time.Duration // of the ttl argument
	absolute bool          // the ttl argument is a Unix time in that unit

	additive  int  // the argument that is "0" when the ttl is to be added to what is left, 0 if none
	needsTTL  bool // answers other if the key has no expiry
	orPersist bool // a ttl argument of 0 or less takes the expiry away
	greater   bool // never shortens what is left; not with absolute
	bySet     bool // the script extends by SET, for which a ttl of 0 or less is an error

	// What the client's script would have answered: when it acted, when the
	// key holds another value, when there is no such key; and with greater, when
	// the holder's key lives long enough as it is.
	yes, other, absent, kept Reply
}

// recognise tells what a script comes to, if it is exactly one
// compare-and-delete or one compare-and-expire of one key. Whatever else the
// script might do, in whatever state of the key, makes it unrecognised.
//
// It does not compare texts, of which there are dozens: it carries the script
// out on each state that the key can be in, the token, the value and the ttl
// being symbols, and looks at what was done and answered. This is exact
// because a script has no loops, and because a condition that the state does
// not decide ends the attempt.
//
// It takes for granted what must hold for a call to be served: KEYS and ARGV have
// all that the script looks at, and the ttl argument is a whole number in decimal.
// A key that is no string ends the script with Redis's error, and ours as well.
func recognise(text string) (shape, bool) {
	script, ok := luaParse(text)
	if !ok {
		return shape{}, false
	}
	var b luaBindings
	usual, ok1 := luaOutcomesOf(script, luaAssumption{expires: true}, &b)
	adding, ok2 := luaOutcomesOf(script, luaAssumption{expires: true, adds: true}, &b)
	persisting, ok3 := luaOutcomesOf(script, luaAssumption{}, &b)
	if !ok1 || !ok2 || !ok3 {
		return shape{}, false
	}
	s, ok := usual.shape(b)
	if !ok || adding != usual.adding(b) || persisting != usual.persisting(b, s.needsTTL) {
		return shape{}, false
	}
	return s, true
}

// luaOutcomes are what a script does in each state of its key.
type luaOutcomes struct {
	held, heldForEver, other, absent luaOutcome
}

// luaOutcomesOf carries a script out on each state of its key.
func luaOutcomesOf(script []luaStatement, assumed luaAssumption, b *luaBindings) (o luaOutcomes, ok bool) {
	var otherForEver, noString, noStringForEver luaOutcome
	for _, state := range []struct {
		key     luaKeyState
		ttl     bool
		outcome *luaOutcome
	}{
		{luaHoldsToken, true, &o.held},
		{luaHoldsToken, false, &o.heldForEver},
		{luaHoldsOther, true, &o.other},
		{luaHoldsOther, false, &otherForEver},
		{luaAbsent, false, &o.absent},
		{luaHoldsNoString, true, &noString},
		{luaHoldsNoString, false, &noStringForEver},
	} {
		assumed.key, assumed.ttl = state.key, state.ttl
		if *state.outcome, ok = luaCarryOut(script, assumed, b); !ok {
			return luaOutcomes{}, false
		}
	}
	return o, o.other == otherForEver && noString.raised && noStringForEver.raised
}

// shape tells what the outcomes with the usual arguments come to.
func (o luaOutcomes) shape(b luaBindings) (shape, bool) {
	s := shape{
		keys: b.keys, args: b.args, key: b.key, token: b.token, ttl: b.ttl, additive: b.additive, orPersist: b.persists,
		yes: o.held.result.reply(), other: o.other.result.reply(), absent: o.absent.result.reply(),
	}
	if s.token == 0 || s.token == s.ttl || s.token == s.additive || o.other.effect.op != 0 || o.absent.effect.op != 0 {
		return shape{}, false
	}
	effect := o.held.effect
	if effect.greater {
		s.kept = s.yes
		if o.held.result.kind == luaGreater {
			s.yes, s.kept = Integer(1), Integer(0)
		}
	}
	switch effect.op {
	case luaDeleted:
		s.class = quorum.Release
		return s, s.ttl == 0 && s.additive == 0 && !s.orPersist && o.heldForEver == o.held
	case luaExpires:
		s.class = quorum.Extend
		s.unit, s.absolute, s.greater, s.bySet = effect.unit, effect.absolute, effect.greater, effect.bySet
		s.needsTTL = o.heldForEver != o.held
		return s, !effect.added && s.ttl != s.additive && !(s.additive != 0 && s.orPersist) &&
			(!s.needsTTL || o.heldForEver == o.other)
	}
	return shape{}, false
}

// adding is what an additive extend must come to when it is to add.
func (o luaOutcomes) adding(b luaBindings) luaOutcomes {
	if b.additive != 0 {
		o.held.effect.added = true
	}
	return o
}

// persisting is what an extend must come to when the ttl is 0 or less.
func (o luaOutcomes) persisting(b luaBindings, needsTTL bool) luaOutcomes {
	if b.persists {
		o.held.effect = luaEffect{op: luaPersisted}
		if !needsTTL {
			o.heldForEver.effect = o.held.effect
		}
	}
	return o
}
