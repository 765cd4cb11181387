package recognise

import (
	"strings"
	"time"
)

// This file carries out the commands of a script on the assumed key. Lock
// scripts of the two kinds need a handful; any other is not understood, and
// neither is any of these on a second key, or twice.

// effect is what a run did to the key. The zero effect is nothing.
type effect struct {
	op       effectOp
	unit     time.Duration // of the ttl argument
	absolute bool          // the ttl argument is a Unix time
	added    bool          // the ttl argument was added to what was left
	greater  bool          // only if that is longer than what was left
	bySet    bool          // with SET
}

type effectOp uint8

const (
	deleteEffect effectOp = iota + 1
	expireEffect
	persistEffect
	acquireEffect
)

var expiries = map[string]effect{
	"expire":    {op: expireEffect, unit: time.Second},
	"pexpire":   {op: expireEffect, unit: time.Millisecond},
	"expireat":  {op: expireEffect, unit: time.Second, absolute: true},
	"pexpireat": {op: expireEffect, unit: time.Millisecond, absolute: true},
}

// setExpiries are the options of SET that set an expiry.
var setExpiries = map[string]effect{
	"ex":   expiries["expire"],
	"px":   expiries["pexpire"],
	"exat": expiries["expireat"],
	"pxat": expiries["pexpireat"],
}

// command splits the arguments of redis.call into the command's name and
// what follows the key.
func (r *run) command(args []value) (name string, rest []value, ok bool) {
	if len(args) < 2 || args[0].kind != stringKind || !isOneLine(args[0].text) || args[1].kind != keyKind {
		return "", nil, false
	}
	return strings.ToLower(args[0].text), args[2:], bind(&r.bindings.key, args[1].num)
}

// call carries out a command whose result is used.
func (r *run) call(args []value, protected bool) (value, bool) {
	name, rest, ok := r.command(args)
	if !ok || r.effect.op != 0 {
		// What a command finds after the script wrote depends on what the
		// ttl argument was: one in the past deletes the key.
		return value{}, false
	}
	if name == "get" && r.assumed.key == holdsNoString {
		r.raised = !protected
		return value{}, false
	}
	if len(rest) == 0 {
		if v, ok := r.read(name); ok {
			return v, true
		}
		switch name {
		case "del", "unlink":
			return r.write(effect{op: deleteEffect}, numberValue(1))
		case "persist":
			had := int64(0)
			if r.assumed.ttl {
				had = 1
			}
			return r.write(effect{op: persistEffect}, numberValue(had))
		}
		return value{}, false
	}
	switch {
	case protected:
		// A ttl that the command refuses is not the script's end.
		return value{}, false
	case name == "set":
		return r.set(rest)
	}
	return r.expire(name, rest)
}

// read answers the commands that only look at the key.
func (r *run) read(name string) (value, bool) {
	exists := r.assumed.key != absent
	switch {
	case name == "get" && !exists:
		return booleanValue(false), true
	case name == "get":
		return value{kind: heldKind}, true
	case name == "exists" && exists:
		return numberValue(1), true
	case name == "exists":
		return numberValue(0), true
	case name != "pttl" && name != "ttl":
		return value{}, false
	case !exists:
		return numberValue(-2), true
	case !r.assumed.ttl:
		return numberValue(-1), true
	case name == "pttl":
		return value{kind: leftKind}, true
	}
	return value{kind: leftSecondsKind}, true
}

// drop carries out a call whose result is dropped.
func (r *run) drop(e expression) bool {
	if r.effect.op == 0 || r.assumed.takes || e.text != "redis.call" && e.text != "redis.pcall" {
		_, ok := r.function(e)
		return ok
	}
	// Looking at the key after the write changes nothing: so do clients that
	// have the server track the key.
	args, ok := r.args(e)
	if !ok {
		return false
	}
	name, rest, ok := r.command(args)
	if !ok || len(rest) != 0 {
		return false
	}
	_, ok = r.read(name)
	return ok
}

// write does the one thing that a script may do, to the holder's key only.
func (r *run) write(e effect, result value) (value, bool) {
	switch r.assumed.key {
	case absent:
		return numberValue(0), true
	case holdsToken:
		r.effect = e
		return result, true
	}
	return value{}, false
}

// expire carries out EXPIRE key ttl [GT] and its kin.
func (r *run) expire(name string, rest []value) (value, bool) {
	e, known := expiries[name]
	result := numberValue(1)
	if len(rest) == 2 && !e.absolute && rest[1].kind == stringKind && strings.EqualFold(rest[1].text, "gt") {
		e.greater = true
		result = value{kind: greaterKind}
		rest = rest[:1]
	}
	if !known || len(rest) != 1 || !r.ttl(rest[0], &e) {
		return value{}, false
	}
	return r.write(e, result)
}

// ttl takes the argument that a lifetime is set from.
func (r *run) ttl(arg value, e *effect) bool {
	switch arg.kind {
	case sumKind:
		e.added = true
		return e.unit == time.Millisecond && !e.absolute && !e.greater
	case argKind, argNumberKind:
		return bind(&r.bindings.ttl, arg.num)
	}
	return false
}

// set carries out SET key token PX ttl [XX] on a key that holds the token,
// which sets the expiry and nothing else.
func (r *run) set(rest []value) (value, bool) {
	if r.assumed.key != holdsToken {
		return value{}, false
	}
	if equal, ok := r.equal(rest[0], value{kind: heldKind}); !ok || !equal {
		return value{}, false
	}
	var e effect
	existing := false
	for rest = rest[1:]; len(rest) > 0; rest = rest[1:] {
		if rest[0].kind != stringKind {
			return value{}, false
		}
		option := strings.ToLower(rest[0].text)
		if option == "xx" && !existing {
			existing = true
			continue
		}
		expiry, known := setExpiries[option]
		if !known || e.op != 0 || len(rest) < 2 || !r.ttl(rest[1], &expiry) {
			return value{}, false
		}
		e = expiry
		e.bySet = true
		rest = rest[1:]
	}
	if e.op == 0 {
		return value{}, false
	}
	return r.write(e, value{kind: statusKind, text: "OK"})
}
