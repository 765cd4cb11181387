package commands

import "strings"

// This file compares and adds the values of a run. Each method answers false
// in its last result where what is known does not decide.

// equal is Lua's ==.
func (r *luaRun) equal(a, b luaValue) (equal, ok bool) {
	if a.luaType() != b.luaType() {
		return false, true
	}
	if a.kind > b.kind {
		a, b = b, a
	}
	switch {
	case a.kind == luaNil && b.kind == luaNil:
		return true, true
	case a.kind == luaHeld && b.kind == luaHeld:
		return true, true
	case a.kind == b.kind && (a.kind == luaBoolean || a.kind == luaNum || a.kind == luaStr):
		return a == b, true
	case a.kind == luaArg && b.kind == luaHeld:
		return r.assumed.key == luaHoldsToken, luaBind(&r.bindings.token, a.num)
	case a.kind == luaStr && b.kind == luaArg:
		return r.assumed.adds, a.text == "0" && luaBind(&r.bindings.additive, b.num)
	case a.kind == luaNum && (b.kind == luaLeft || b.kind == luaLeftSecs):
		return false, a.num < 0
	}
	return false, false
}

// less is Lua's < of two numbers.
func (r *luaRun) less(a, b luaValue) (luaValue, bool) {
	switch {
	case a.kind == luaNum && b.kind == luaNum:
		return luaBool(a.num < b.num), true
	case a.kind == luaNum && (b.kind == luaLeft || b.kind == luaLeftSecs):
		return luaBool(true), a.num < 0
	case (a.kind == luaLeft || a.kind == luaLeftSecs) && b.kind == luaNum:
		return luaBool(false), b.num <= 0
	case a == luaInt(0) && b.kind == luaArgNumber:
		r.bindings.persists = true
		return luaBool(r.assumed.expires), true
	}
	return luaValue{}, false
}

// lessOrEqual is Lua's <= of two numbers.
func (r *luaRun) lessOrEqual(a, b luaValue) (luaValue, bool) {
	greater, ok := r.less(b, a)
	return luaBool(!greater.truthy()), ok
}

// add is Lua's +, which makes numbers of strings. Only a ttl argument added to
// what is left of the ttl has a use.
func (r *luaRun) add(a, b luaValue) (luaValue, bool) {
	if a.kind == luaLeft {
		a, b = b, a
	}
	if a.kind != luaArg && a.kind != luaArgNumber || b.kind != luaLeft {
		return luaValue{}, false
	}
	return luaValue{kind: luaSum, num: a.num}, luaBind(&r.bindings.ttl, a.num)
}

// luaErrorReply is redis.error_reply as of Redis 7: a text of one word is not
// taken for an error's code.
func luaErrorReply(text string) (luaValue, bool) {
	text = strings.TrimPrefix(text, "-")
	if text == "" || text[0] == '-' || text[0] == ' ' {
		return luaValue{}, false
	}
	if !strings.Contains(text, " ") {
		text = "ERR " + text
	}
	return luaValue{kind: luaErr, text: text}, true
}
