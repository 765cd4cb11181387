package commands

import (
	"strings"
	"time"
)

// This file carries out the commands of a script on the assumed key. Lock
// scripts of the two kinds need a handful; any other is not understood, and
// neither is any of these on a second key, or twice.

// luaEffect is what a run did to the key. The zero luaEffect is nothing.
type luaEffect struct {
	op       luaEffectOp
	unit     time.Duration // of the ttl argument
	absolute bool          // the ttl argument is a Unix time
	added    bool          // the ttl argument was added to what was left
	greater  bool          // only if that is longer than what was left
	bySet    bool          // with SET
}

type luaEffectOp uint8

const (
	luaDeleted luaEffectOp = iota + 1
	luaExpires
	luaPersisted
)

var luaExpiries = map[string]luaEffect{
	"expire":    {op: luaExpires, unit: time.Second},
	"pexpire":   {op: luaExpires, unit: time.Millisecond},
	"expireat":  {op: luaExpires, unit: time.Second, absolute: true},
	"pexpireat": {op: luaExpires, unit: time.Millisecond, absolute: true},
}

// luaSetExpiries are the options of SET that set an expiry.
var luaSetExpiries = map[string]luaEffect{
	"ex":   luaExpiries["expire"],
	"px":   luaExpiries["pexpire"],
	"exat": luaExpiries["expireat"],
	"pxat": luaExpiries["pexpireat"],
}

// luaCommand splits the arguments of redis.call into the command's name and
// what follows the key.
func (r *luaRun) luaCommand(args []luaValue) (name string, rest []luaValue, ok bool) {
	if len(args) < 2 || args[0].kind != luaStr || !luaOneLine(args[0].text) || args[1].kind != luaKey {
		return "", nil, false
	}
	return strings.ToLower(args[0].text), args[2:], luaBind(&r.bindings.key, args[1].num)
}

// call carries out a command whose result is used.
func (r *luaRun) call(args []luaValue, protected bool) (luaValue, bool) {
	name, rest, ok := r.luaCommand(args)
	if !ok || r.effect.op != 0 {
		// What a command finds after the script wrote depends on what the
		// ttl argument was: one in the past deletes the key.
		return luaValue{}, false
	}
	if name == "get" && r.assumed.key == luaHoldsNoString {
		r.raised = !protected
		return luaValue{}, false
	}
	if len(rest) == 0 {
		if value, ok := r.read(name); ok {
			return value, true
		}
		switch name {
		case "del", "unlink":
			return r.write(luaEffect{op: luaDeleted}, luaInt(1))
		case "persist":
			had := int64(0)
			if r.assumed.ttl {
				had = 1
			}
			return r.write(luaEffect{op: luaPersisted}, luaInt(had))
		}
		return luaValue{}, false
	}
	switch {
	case protected:
		// A ttl that the command refuses is not the script's end.
		return luaValue{}, false
	case name == "set":
		return r.set(rest)
	}
	return r.expire(name, rest)
}

// read answers the commands that only look at the key.
func (r *luaRun) read(name string) (luaValue, bool) {
	exists := r.assumed.key != luaAbsent
	switch {
	case name == "get" && !exists:
		return luaBool(false), true
	case name == "get":
		return luaValue{kind: luaHeld}, true
	case name == "exists" && exists:
		return luaInt(1), true
	case name == "exists":
		return luaInt(0), true
	case name != "pttl" && name != "ttl":
		return luaValue{}, false
	case !exists:
		return luaInt(-2), true
	case !r.assumed.ttl:
		return luaInt(-1), true
	case name == "pttl":
		return luaValue{kind: luaLeft}, true
	}
	return luaValue{kind: luaLeftSecs}, true
}

// drop carries out a call whose result is dropped.
func (r *luaRun) drop(e luaExpr) bool {
	if r.effect.op == 0 || e.text != "redis.call" && e.text != "redis.pcall" {
		_, ok := r.function(e)
		return ok
	}
	// Looking at the key after the write changes nothing: so do clients that
	// have the server track the key.
	args, ok := r.args(e)
	if !ok {
		return false
	}
	name, rest, ok := r.luaCommand(args)
	if !ok || len(rest) != 0 {
		return false
	}
	_, ok = r.read(name)
	return ok
}

// write does the one thing that a script may do, to the holder's key only.
func (r *luaRun) write(effect luaEffect, result luaValue) (luaValue, bool) {
	switch r.assumed.key {
	case luaAbsent:
		return luaInt(0), true
	case luaHoldsToken:
		r.effect = effect
		return result, true
	}
	return luaValue{}, false
}

// expire carries out EXPIRE key ttl [GT] and its kin.
func (r *luaRun) expire(name string, rest []luaValue) (luaValue, bool) {
	effect, known := luaExpiries[name]
	result := luaInt(1)
	if len(rest) == 2 && !effect.absolute && rest[1].kind == luaStr && strings.EqualFold(rest[1].text, "gt") {
		effect.greater = true
		result = luaValue{kind: luaGreater}
		rest = rest[:1]
	}
	if !known || len(rest) != 1 || !r.ttl(rest[0], &effect) {
		return luaValue{}, false
	}
	return r.write(effect, result)
}

// ttl takes the argument that a lifetime is set from.
func (r *luaRun) ttl(arg luaValue, effect *luaEffect) bool {
	switch arg.kind {
	case luaSum:
		effect.added = true
		return effect.unit == time.Millisecond && !effect.absolute && !effect.greater
	case luaArg, luaArgNumber:
		return luaBind(&r.bindings.ttl, arg.num)
	}
	return false
}

// set carries out SET key token PX ttl [XX] on a key that holds the token,
// which sets the expiry and nothing else.
func (r *luaRun) set(rest []luaValue) (luaValue, bool) {
	if r.assumed.key != luaHoldsToken {
		return luaValue{}, false
	}
	if equal, ok := r.equal(rest[0], luaValue{kind: luaHeld}); !ok || !equal {
		return luaValue{}, false
	}
	var effect luaEffect
	existing := false
	for rest = rest[1:]; len(rest) > 0; rest = rest[1:] {
		if rest[0].kind != luaStr {
			return luaValue{}, false
		}
		option := strings.ToLower(rest[0].text)
		if option == "xx" && !existing {
			existing = true
			continue
		}
		expiry, known := luaSetExpiries[option]
		if !known || effect.op != 0 || len(rest) < 2 || !r.ttl(rest[1], &expiry) {
			return luaValue{}, false
		}
		effect = expiry
		effect.bySet = true
		rest = rest[1:]
	}
	if effect.op == 0 {
		return luaValue{}, false
	}
	return r.write(effect, luaValue{kind: luaStatus, text: "OK"})
}
