package recognise

// This file carries out a script on one state of its key, with what is not
// known before the call (keys, arguments, the key's value) kept as symbols.
// A condition that the state does not decide, and anything else that is not
// certain, ends the run as not understood.

// assumption is the state of the key and of the arguments in which a
// script is carried out.
type assumption struct {
	key     keyState
	ttl     bool // the key has an expiry
	adds    bool // the argument that may be "0" is
	expires bool // the ttl argument is above 0
	takes   bool // it may be an acquire, see acquire.go
}

type keyState uint8

const (
	absent keyState = iota + 1
	holdsOther
	holdsToken
	holdsNoString
)

// bindings are the indexes that a script has been seen to use, over all its
// runs: 0 where there is none yet. One that is used otherwise than it is bound
// makes the script not understood.
type bindings struct {
	key, token, ttl, additive int
	persists                  bool // whether the ttl is above 0 makes a difference

	// How many KEYS and ARGV it has looked at, for whatever purpose. A run takes
	// each of them for given: one that is not is nil, which may turn any condition.
	keys, args int
}

func bind(slot *int, index int64) bool {
	if *slot == 0 {
		*slot = int(index)
	}
	return *slot == int(index)
}

// outcome is what a script did and answered in one run.
type outcome struct {
	result value
	effect effect
	raised bool
}

type run struct {
	assumed  assumption
	bindings *bindings
	locals   []localValue
	effect   effect
	raised   bool // it has ended with the error that the key holds no string
}

type localValue struct {
	name  string
	value value
}

// carryOut runs a script, false if it is not understood.
func carryOut(script []statement, assumed assumption, b *bindings) (outcome, bool) {
	r := run{assumed: assumed, bindings: b}
	result, _, ok := r.block(script)
	if !ok {
		return outcome{raised: r.raised}, r.raised
	}
	result, ok = result.result()
	return outcome{result: result, effect: r.effect}, ok
}

// block carries out a block and tells whether it returned, and what.
func (r *run) block(block []statement) (result value, returned, ok bool) {
	outside := len(r.locals)
	for _, s := range block {
		result, returned, ok = r.statement(s)
		if !ok || returned {
			return result, returned, ok
		}
	}
	r.locals = r.locals[:outside]
	return value{}, false, true
}

func (r *run) statement(s statement) (result value, returned, ok bool) {
	switch s.op {
	case returnStatement:
		if len(s.values) == 0 {
			return value{}, true, true
		}
		result, ok = r.eval(s.values[0])
		return result, true, ok
	case callStatement:
		return value{}, false, r.drop(s.values[0])
	case assignStatement:
		local := r.local(s.names[0])
		assigned, ok := r.eval(s.values[0])
		if !ok || local == nil {
			return value{}, false, false
		}
		local.value = assigned
		return value{}, false, true
	case localStatement:
		return value{}, false, r.declare(s)
	case ifStatement:
		for _, arm := range s.arms {
			cond, ok := r.eval(arm.cond)
			if !ok {
				return value{}, false, false
			}
			if cond.truthy() {
				return r.block(arm.then)
			}
		}
		return value{}, false, true
	}
	return value{}, false, false
}

func (r *run) declare(s statement) bool {
	// A local is not yet visible in the values that it begins with.
	declared := make([]localValue, len(s.names))
	for i, name := range s.names {
		declared[i].name = name
		if s.values == nil {
			continue
		}
		v, ok := r.eval(s.values[i])
		if !ok {
			return false
		}
		declared[i].value = v
	}
	r.locals = append(r.locals, declared...)
	return true
}

func (r *run) local(name string) *localValue {
	for i := len(r.locals) - 1; i >= 0; i-- {
		if r.locals[i].name == name {
			return &r.locals[i]
		}
	}
	return nil
}

func (r *run) eval(e expression) (value, bool) {
	switch e.op {
	case constantExpression:
		return e.value, true
	case variableExpression:
		local := r.local(e.text)
		if local == nil {
			return value{}, false
		}
		return local.value, true
	case functionExpression:
		return r.function(e)
	case binaryExpression:
		return r.binary(e)
	}
	arg, ok := r.eval(e.args[0])
	if !ok {
		return value{}, false
	}
	switch {
	case e.op == notExpression:
		return booleanValue(!arg.truthy()), true
	case e.op == indexExpression && arg.kind == numberKind && arg.num > 0:
		return r.given(e.text, arg.num), true
	case e.op == tableExpression && arg.kind == stringKind && e.text == "ok":
		return value{kind: statusKind, text: arg.text}, true
	case e.op == tableExpression && arg.kind == stringKind && e.text == "err":
		return value{kind: errorKind, text: arg.text}, true
	}
	return value{}, false
}

// given is KEYS[n] or ARGV[n].
func (r *run) given(list string, n int64) value {
	if list == "KEYS" {
		r.bindings.keys = max(r.bindings.keys, int(n))
		return value{kind: keyKind, num: n}
	}
	r.bindings.args = max(r.bindings.args, int(n))
	return value{kind: argKind, num: n}
}

func (r *run) binary(e expression) (value, bool) {
	left, ok := r.eval(e.args[0])
	if !ok {
		return value{}, false
	}
	if e.text == "and" || e.text == "or" {
		if left.truthy() == (e.text == "or") {
			return left, true
		}
		return r.eval(e.args[1])
	}
	right, ok := r.eval(e.args[1])
	if !ok {
		return value{}, false
	}
	switch e.text {
	case "==", "~=":
		equal, ok := r.equal(left, right)
		return booleanValue(equal == (e.text == "==")), ok
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
func (r *run) function(e expression) (value, bool) {
	args, ok := r.args(e)
	if !ok {
		return value{}, false
	}
	switch e.text {
	case "redis.call", "redis.pcall":
		if r.assumed.takes {
			v, ok := r.take(args)
			return v, ok && e.text == "redis.call"
		}
		return r.call(args, e.text == "redis.pcall")
	}
	if len(args) != 1 {
		return value{}, false
	}
	switch arg := args[0]; {
	case e.text == "tonumber" && arg.kind == argKind:
		// That is a number, because the ttl of a call that is served is one.
		return value{kind: argNumberKind, num: arg.num}, bind(&r.bindings.ttl, arg.num)
	case e.text == "tonumber" && arg.valueType() == numberType:
		return arg, true
	case e.text == "tostring" && arg.kind == booleanKind:
		return stringValue([]string{"false", "true"}[arg.num]), true
	case e.text == "redis.status_reply" && arg.kind == stringKind:
		return value{kind: statusKind, text: arg.text}, true
	case e.text == "redis.error_reply" && arg.kind == stringKind:
		return errorReply(arg.text)
	}
	return value{}, false
}

func (r *run) args(e expression) ([]value, bool) {
	args := make([]value, len(e.args))
	for i := range e.args {
		arg, ok := r.eval(e.args[i])
		if !ok {
			return nil, false
		}
		args[i] = arg
	}
	return args, true
}
