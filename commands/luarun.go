package commands

// This file carries out a script on one state of its key, with what is not
// known before the call (keys, arguments, the key's value) kept as symbols.
// A condition that the state does not decide, and anything else that is not
// certain, ends the run as not understood.

// luaAssumption is the state of the key and of the arguments in which a
// script is carried out.
type luaAssumption struct {
	key     luaKeyState
	ttl     bool // the key has an expiry
	adds    bool // the argument that may be "0" is
	expires bool // the ttl argument is above 0
}

type luaKeyState uint8

const (
	luaAbsent luaKeyState = iota + 1
	luaHoldsOther
	luaHoldsToken
	luaHoldsNoString
)

// luaBindings are the indexes that a script has been seen to use, over all its
// runs: 0 where there is none yet. One that is used otherwise than it is bound
// makes the script not understood.
type luaBindings struct {
	key, token, ttl, additive int
	persists                  bool // whether the ttl is above 0 makes a difference

	// How many KEYS and ARGV it has looked at, for whatever purpose. A run takes
	// each of them for given: one that is not is nil, which may turn any condition.
	keys, args int
}

func luaBind(slot *int, index int64) bool {
	if *slot == 0 {
		*slot = int(index)
	}
	return *slot == int(index)
}

// luaOutcome is what a script did and answered in one run.
type luaOutcome struct {
	result luaValue
	effect luaEffect
	raised bool
}

type luaRun struct {
	assumed  luaAssumption
	bindings *luaBindings
	locals   []luaLocalValue
	effect   luaEffect
	raised   bool // it has ended with the error that the key holds no string
}

type luaLocalValue struct {
	name  string
	value luaValue
}

// luaCarryOut runs a script, false if it is not understood.
func luaCarryOut(script []luaStatement, assumed luaAssumption, bindings *luaBindings) (luaOutcome, bool) {
	r := luaRun{assumed: assumed, bindings: bindings}
	result, _, ok := r.block(script)
	if !ok {
		return luaOutcome{raised: r.raised}, r.raised
	}
	result, ok = result.result()
	return luaOutcome{result: result, effect: r.effect}, ok
}

// block carries out a block and tells whether it returned, and what.
func (r *luaRun) block(block []luaStatement) (result luaValue, returned, ok bool) {
	outside := len(r.locals)
	for _, s := range block {
		result, returned, ok = r.statement(s)
		if !ok || returned {
			return result, returned, ok
		}
	}
	r.locals = r.locals[:outside]
	return luaValue{}, false, true
}

func (r *luaRun) statement(s luaStatement) (result luaValue, returned, ok bool) {
	switch s.op {
	case luaReturn:
		if len(s.values) == 0 {
			return luaValue{}, true, true
		}
		result, ok = r.eval(s.values[0])
		return result, true, ok
	case luaCall:
		return luaValue{}, false, r.drop(s.values[0])
	case luaAssign:
		local := r.local(s.names[0])
		value, ok := r.eval(s.values[0])
		if !ok || local == nil {
			return luaValue{}, false, false
		}
		local.value = value
		return luaValue{}, false, true
	case luaLocal:
		return luaValue{}, false, r.declare(s)
	case luaIf:
		for _, arm := range s.arms {
			cond, ok := r.eval(arm.cond)
			if !ok {
				return luaValue{}, false, false
			}
			if cond.truthy() {
				return r.block(arm.then)
			}
		}
		return luaValue{}, false, true
	}
	return luaValue{}, false, false
}

func (r *luaRun) declare(s luaStatement) bool {
	// A local is not yet visible in the values that it begins with.
	declared := make([]luaLocalValue, len(s.names))
	for i, name := range s.names {
		declared[i].name = name
		if s.values == nil {
			continue
		}
		value, ok := r.eval(s.values[i])
		if !ok {
			return false
		}
		declared[i].value = value
	}
	r.locals = append(r.locals, declared...)
	return true
}

func (r *luaRun) local(name string) *luaLocalValue {
	for i := len(r.locals) - 1; i >= 0; i-- {
		if r.locals[i].name == name {
			return &r.locals[i]
		}
	}
	return nil
}

func (r *luaRun) eval(e luaExpr) (luaValue, bool) {
	switch e.op {
	case luaConstant:
		return e.value, true
	case luaVariable:
		local := r.local(e.text)
		if local == nil {
			return luaValue{}, false
		}
		return local.value, true
	case luaFunction:
		return r.function(e)
	case luaBinary:
		return r.binary(e)
	}
	arg, ok := r.eval(e.args[0])
	if !ok {
		return luaValue{}, false
	}
	switch {
	case e.op == luaNot:
		return luaBool(!arg.truthy()), true
	case e.op == luaIndex && arg.kind == luaNum && arg.num > 0:
		return r.given(e.text, arg.num), true
	case e.op == luaTable && arg.kind == luaStr && e.text == "ok":
		return luaValue{kind: luaStatus, text: arg.text}, true
	case e.op == luaTable && arg.kind == luaStr && e.text == "err":
		return luaValue{kind: luaErr, text: arg.text}, true
	}
	return luaValue{}, false
}

// given is KEYS[n] or ARGV[n].
func (r *luaRun) given(list string, n int64) luaValue {
	if list == "KEYS" {
		r.bindings.keys = max(r.bindings.keys, int(n))
		return luaValue{kind: luaKey, num: n}
	}
	r.bindings.args = max(r.bindings.args, int(n))
	return luaValue{kind: luaArg, num: n}
}

func (r *luaRun) binary(e luaExpr) (luaValue, bool) {
	left, ok := r.eval(e.args[0])
	if !ok {
		return luaValue{}, false
	}
	if e.text == "and" || e.text == "or" {
		if left.truthy() == (e.text == "or") {
			return left, true
		}
		return r.eval(e.args[1])
	}
	right, ok := r.eval(e.args[1])
	if !ok {
		return luaValue{}, false
	}
	switch e.text {
	case "==", "~=":
		equal, ok := r.equal(left, right)
		return luaBool(equal == (e.text == "==")), ok
	case "<":
		return r.less(left, right)
	case ">":
		return r.less(right, left)
	case "<=":
		return r.lessOrEqual(left, right)
	case ">=":
		return r.lessOrEqual(right, left)
	}
	return r.add(left, right)
}

// function carries out a function whose result is used.
func (r *luaRun) function(e luaExpr) (luaValue, bool) {
	args, ok := r.args(e)
	if !ok {
		return luaValue{}, false
	}
	switch e.text {
	case "redis.call", "redis.pcall":
		return r.call(args, e.text == "redis.pcall")
	}
	if len(args) != 1 {
		return luaValue{}, false
	}
	switch arg := args[0]; {
	case e.text == "tonumber" && arg.kind == luaArg:
		// That is a number, because the ttl of a call that is served is one.
		return luaValue{kind: luaArgNumber, num: arg.num}, luaBind(&r.bindings.ttl, arg.num)
	case e.text == "tonumber" && arg.luaType() == luaNumberType:
		return arg, true
	case e.text == "tostring" && arg.kind == luaBoolean:
		return luaText([]string{"false", "true"}[arg.num]), true
	case e.text == "redis.status_reply" && arg.kind == luaStr:
		return luaValue{kind: luaStatus, text: arg.text}, true
	case e.text == "redis.error_reply" && arg.kind == luaStr:
		return luaErrorReply(arg.text)
	}
	return luaValue{}, false
}

func (r *luaRun) args(e luaExpr) ([]luaValue, bool) {
	args := make([]luaValue, len(e.args))
	for i := range e.args {
		arg, ok := r.eval(e.args[i])
		if !ok {
			return nil, false
		}
		args[i] = arg
	}
	return args, true
}
