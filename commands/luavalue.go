package commands

// luaValue is what an expression of a script comes to. Most of what a lock
// script handles is not known before it runs, and is known by its origin.
type luaValue struct {
	kind luaValueKind
	text string // luaStr, luaStatus, luaErr
	num  int64  // luaNum; luaBoolean's 0 or 1; the index of luaArg, luaArgNumber, luaSum and luaKey
}

type luaValueKind uint8

// The zero luaValue is nil.
const (
	luaNil luaValueKind = iota
	luaBoolean
	luaNum
	luaStr
	luaStatus    // a table {ok = text}
	luaErr       // a table {err = text}
	luaArg       // the string ARGV[num]
	luaKey       // the string KEYS[num]
	luaHeld      // the string that the key holds
	luaLeft      // what is left of the key's ttl in milliseconds, 0 or more
	luaLeftSecs  // the same in seconds
	luaArgNumber // tonumber(ARGV[num])
	luaSum       // ARGV[num] and luaLeft added
	luaGreater   // what PEXPIRE with GT returned: 0 or 1
)

func luaInt(n int64) luaValue   { return luaValue{kind: luaNum, num: n} }
func luaText(s string) luaValue { return luaValue{kind: luaStr, text: s} }

func luaBool(b bool) luaValue {
	v := luaValue{kind: luaBoolean}
	if b {
		v.num = 1
	}
	return v
}

func (v luaValue) truthy() bool {
	return v.kind != luaNil && !(v.kind == luaBoolean && v.num == 0)
}

// luaType is the type that Lua's type() tells, as far as == looks at it.
type luaType uint8

const (
	luaNilType luaType = iota + 1
	luaBooleanType
	luaNumberType
	luaStringType
	luaTableType
)

func (v luaValue) luaType() luaType {
	switch v.kind {
	case luaNil:
		return luaNilType
	case luaBoolean:
		return luaBooleanType
	case luaStr, luaArg, luaKey, luaHeld:
		return luaStringType
	case luaStatus, luaErr:
		return luaTableType
	}
	return luaNumberType
}

// result is what a script's result is to a client: two results that look the
// same to it are made equal. It is false if the result is not known before the
// script runs.
func (v luaValue) result() (luaValue, bool) {
	switch v.kind {
	case luaBoolean:
		if v.num == 0 {
			return luaValue{}, true
		}
		return luaInt(1), true
	case luaStatus:
		return v, luaOneLine(v.text)
	case luaErr:
		return v, luaOneLine(v.text) && v.text[0] != '-'
	}
	return v, v.kind == luaNil || v.kind == luaNum || v.kind == luaStr || v.kind == luaGreater
}

// reply is what Redis makes of a result.
func (v luaValue) reply() Reply {
	switch v.kind {
	case luaNum:
		return Integer(v.num)
	case luaStr:
		return Bulk(v.text)
	case luaStatus:
		return Simple(v.text)
	case luaErr:
		return Error(v.text)
	}
	return Null
}

// luaOneLine tells whether s is printable ASCII, and not empty: what can be sent
// as a status or error as it is.
func luaOneLine(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return false
		}
	}
	return s != ""
}
