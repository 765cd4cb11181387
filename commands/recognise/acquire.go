package recognise

import (
	"strings"

	"redlock-proxy/quorum"
)

// An acquire is SET key token NX in a script's words: with SET … NX, or SETNX, it sets its key where there is none, may
// give what it has just set an expiry, and does nothing else; and it says nil or 0 where the key is there.
//
// The same by other commands is none. Whoever compares the value with his token besides, and sets a key that is not
// there, may extend a lock as well as take it; and whoever sets what EXISTS or GET has not found may fill a cache, count
// what is limited, or set a semaphore up. Nor is one whose no tells the value, or what is left of the ttl: he asks for
// that, or waits by it.

// acquire tells what a script comes to as one.
func acquire(script []statement) (Shape, bool) {
	var b bindings
	usual, ok1 := takingsOf(script, assumption{takes: true, expires: true}, &b)
	persisting, ok2 := takingsOf(script, assumption{takes: true}, &b)
	if !ok1 || !ok2 {
		return Shape{}, false
	}
	did, yes, no := usual.absent.effect, usual.absent.result, usual.other.result
	s := Shape{
		Class: quorum.Acquire, Keys: b.keys, Args: b.args, Key: b.key, Token: b.token, TTL: b.ttl, Unit: did.unit, OrPersist: b.persists,
		Yes: yes.reply(), Other: no.reply(), Absent: yes.reply(),
	}
	if b.persists {
		usual.absent.effect = effect{op: acquireEffect}
	}
	return s, did.op == acquireEffect && persisting == usual && saysNo(no) && !saysNo(yes) &&
		s.Token != s.TTL && b.additive == 0 && (s.TTL == 0) == (s.Unit == 0)
}

// takingsOf carries a script out where there is no key, and where there is one.
func takingsOf(script []statement, assumed assumption, b *bindings) (o outcomes, ok bool) {
	assumed.key = absent
	if o.absent, ok = carryOut(script, assumed, b); !ok {
		return o, false
	}
	assumed.key = holdsOther
	o.other, ok = carryOut(script, assumed, b)
	return o, ok
}

func saysNo(result value) bool { return result == value{} || result == numberValue(0) }

// take carries out a command of what may be an acquire. What it finds it may not look at, but by setting it.
func (r *run) take(args []value) (value, bool) {
	name, rest, ok := r.command(args)
	if !ok || len(rest) == 0 {
		return value{}, false
	}
	if e, known := expiries[name]; known {
		just := r.effect == effect{op: acquireEffect}
		r.effect.unit = e.unit
		return numberValue(1), just && !e.absolute && len(rest) == 1 && r.lasts(rest[0])
	}
	if r.effect.op != 0 || rest[0].kind != argKind || !bind(&r.bindings.token, rest[0].num) {
		return value{}, false
	}
	e := effect{op: acquireEffect}
	yes, no := numberValue(1), numberValue(0)
	switch {
	case name == "set" && r.ifAbsent(rest[1:], &e):
		yes, no = value{kind: statusKind, text: "OK"}, booleanValue(false)
	case name != "setnx" || len(rest) > 1:
		return value{}, false
	}
	if r.assumed.key != absent {
		return no, true
	}
	r.effect = e
	return yes, true
}

// ifAbsent takes the options of a SET, which are to be NX and a ttl at most.
func (r *run) ifAbsent(options []value, e *effect) (nx bool) {
	for ; len(options) > 0; options = options[1:] {
		if options[0].kind != stringKind {
			return false
		}
		option := strings.ToLower(options[0].text)
		if option == "nx" && !nx {
			nx = true
			continue
		}
		expiry, known := setExpiries[option]
		if !known || expiry.absolute || e.unit != 0 || len(options) < 2 || !r.lasts(options[1]) {
			return false
		}
		e.unit = expiry.unit
		options = options[1:]
	}
	return nx
}

// lasts takes the argument that the ttl is.
func (r *run) lasts(ttl value) bool {
	return (ttl.kind == argKind || ttl.kind == argNumberKind) && bind(&r.bindings.ttl, ttl.num)
}
