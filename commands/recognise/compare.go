package recognise

import "strings"

// This file compares and adds the values of a run. Each method answers false
// in its last result where what is known does not decide.

// equal is Lua's ==.
func (r *run) equal(a, b value) (equal, ok bool) {
	if a.valueType() != b.valueType() {
		return false, true
	}
	if a.kind > b.kind {
		a, b = b, a
	}
	switch {
	case a.kind == nilKind && b.kind == nilKind:
		return true, true
	case a.kind == heldKind && b.kind == heldKind:
		return true, true
	case a.kind == b.kind && (a.kind == booleanKind || a.kind == numberKind || a.kind == stringKind):
		return a == b, true
	case a.kind == argKind && b.kind == heldKind:
		return r.assumed.key == holdsToken, bind(&r.bindings.token, a.num)
	case a.kind == stringKind && b.kind == argKind:
		return r.assumed.adds, a.text == "0" && bind(&r.bindings.additive, b.num)
	case a.kind == numberKind && (b.kind == leftKind || b.kind == leftSecondsKind):
		return false, a.num < 0
	}
	return false, false
}

// less is Lua's < of two numbers.
func (r *run) less(a, b value) (value, bool) {
	switch {
	case a.kind == numberKind && b.kind == numberKind:
		return booleanValue(a.num < b.num), true
	case a.kind == numberKind && (b.kind == leftKind || b.kind == leftSecondsKind):
		return booleanValue(true), a.num < 0
	case (a.kind == leftKind || a.kind == leftSecondsKind) && b.kind == numberKind:
		return booleanValue(false), b.num <= 0
	case a == numberValue(0) && b.kind == argNumberKind:
		r.bindings.persists = true
		return booleanValue(r.assumed.expires), true
	}
	return value{}, false
}

// lessOrEqual is Lua's <= of two numbers.
func (r *run) lessOrEqual(a, b value) (value, bool) {
	greater, ok := r.less(b, a)
	return booleanValue(!greater.truthy()), ok
}

// add is Lua's +, which makes numbers of strings. Only a ttl argument added to
// what is left of the ttl has a use.
func (r *run) add(a, b value) (value, bool) {
	if a.kind == leftKind {
		a, b = b, a
	}
	if a.kind != argKind && a.kind != argNumberKind || b.kind != leftKind {
		return value{}, false
	}
	return value{kind: sumKind, num: a.num}, bind(&r.bindings.ttl, a.num)
}

// errorReply is redis.error_reply as of Redis 7: a text of one word is not
// taken for an error's code.
func errorReply(text string) (value, bool) {
	text = strings.TrimPrefix(text, "-")
	if text == "" || text[0] == '-' || text[0] == ' ' {
		return value{}, false
	}
	if !strings.Contains(text, " ") {
		text = "ERR " + text
	}
	return value{kind: errorKind, text: text}, true
}
