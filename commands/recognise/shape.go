package recognise

import (
	"time"

	"redlock-proxy/quorum"
)

// Shape is what a recognised script comes to: one Release, Extend or Acquire of one key.
//
// Key is a 1-based index into KEYS; Token, TTL and Additive are 1-based
// indexes into ARGV.
type Shape struct {
	Class quorum.Kind // Release, Extend or Acquire

	// A call that gives fewer KEYS or ARGV than these is not the call that was
	// recognised. They are at least what the shape names.
	Keys, Args int

	Key, Token int

	TTL      int           // the argument that holds the ttl, 0 if none
	Unit     time.Duration // of the ttl argument
	Absolute bool          // the ttl argument is a Unix time in that unit

	Additive  int  // the argument that is "0" when the ttl is to be added to what is left, 0 if none
	NeedsTTL  bool // answers Other if the key has no expiry
	OrPersist bool // a ttl argument of 0 or less takes the expiry away, or is that there is to be none
	Greater   bool // never shortens what is left; not with Absolute
	BySet     bool // the script extends by SET, for which a ttl of 0 or less is an error

	// What the client's script would have answered: when it acted, when the
	// key holds another value (of an Acquire any), when there is no such key; and with Greater, when
	// the holder's key lives long enough as it is.
	Yes, Other, Absent, Kept quorum.Reply
}

// shape tells what the outcomes with the usual arguments come to.
func (o outcomes) shape(b bindings) (Shape, bool) {
	s := Shape{
		Keys: b.keys, Args: b.args, Key: b.key, Token: b.token, TTL: b.ttl, Additive: b.additive, OrPersist: b.persists,
		Yes: o.held.result.reply(), Other: o.other.result.reply(), Absent: o.absent.result.reply(),
	}
	if s.Token == 0 || s.Token == s.TTL || s.Token == s.Additive || o.other.effect.op != 0 || o.absent.effect.op != 0 {
		return Shape{}, false
	}
	did := o.held.effect
	if did.greater {
		s.Kept = s.Yes
		if o.held.result.kind == greaterKind {
			s.Yes, s.Kept = numberValue(1).reply(), numberValue(0).reply()
		}
	}
	switch did.op {
	case deleteEffect:
		s.Class = quorum.Release
		return s, s.TTL == 0 && s.Additive == 0 && !s.OrPersist && o.heldForEver == o.held
	case expireEffect:
		s.Class = quorum.Extend
		s.Unit, s.Absolute, s.Greater, s.BySet = did.unit, did.absolute, did.greater, did.bySet
		s.NeedsTTL = o.heldForEver != o.held
		return s, !did.added && s.TTL != s.Additive && !(s.Additive != 0 && s.OrPersist) &&
			(!s.NeedsTTL || o.heldForEver == o.other)
	}
	return Shape{}, false
}

// adding is what an additive extend must come to when it is to add.
func (o outcomes) adding(b bindings) outcomes {
	if b.additive != 0 {
		o.held.effect.added = true
	}
	return o
}

// persisting is what an extend must come to when the ttl is 0 or less.
func (o outcomes) persisting(b bindings, needsTTL bool) outcomes {
	if b.persists {
		o.held.effect = effect{op: persistEffect}
		if !needsTTL {
			o.heldForEver.effect = o.held.effect
		}
	}
	return o
}
