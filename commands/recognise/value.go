package recognise

import "redlock-proxy/quorum"

// value is what an expression of a script comes to. Most of what a lock
// script handles is not known before it runs, and is known by its origin.
type value struct {
	kind valueKind
	text string // stringKind, statusKind, errorKind
	num  int64  // numberKind; booleanKind's 0 or 1; the index of argKind, argNumberKind, sumKind and keyKind
}

type valueKind uint8

// The zero value is nil.
const (
	nilKind valueKind = iota
	booleanKind
	numberKind
	stringKind
	statusKind      // a table {ok = text}
	errorKind       // a table {err = text}
	argKind         // the string ARGV[num]
	keyKind         // the string KEYS[num]
	heldKind        // the string that the key holds
	leftKind        // what is left of the key's ttl in milliseconds, 0 or more
	leftSecondsKind // the same in seconds
	argNumberKind   // tonumber(ARGV[num])
	sumKind         // ARGV[num] and what is left, in milliseconds, added
	greaterKind     // what PEXPIRE with GT returned: 0 or 1
)

func numberValue(n int64) value  { return value{kind: numberKind, num: n} }
func stringValue(s string) value { return value{kind: stringKind, text: s} }

func booleanValue(b bool) value {
	v := value{kind: booleanKind}
	if b {
		v.num = 1
	}
	return v
}

func (v value) truthy() bool {
	return v.kind != nilKind && !(v.kind == booleanKind && v.num == 0)
}

// valueType is the type that Lua's type() tells, as far as == looks at it.
type valueType uint8

const (
	nilType valueType = iota + 1
	booleanType
	numberType
	stringType
	tableType
)

func (v value) valueType() valueType {
	switch v.kind {
	case nilKind:
		return nilType
	case booleanKind:
		return booleanType
	case stringKind, argKind, keyKind, heldKind:
		return stringType
	case statusKind, errorKind:
		return tableType
	}
	return numberType
}

// result is what a script's result is to a client: two results that look the
// same to it are made equal. It is false if the result is not known before the
// script runs.
func (v value) result() (value, bool) {
	switch v.kind {
	case booleanKind:
		if v.num == 0 {
			return value{}, true
		}
		return numberValue(1), true
	case statusKind:
		return v, isOneLine(v.text)
	case errorKind:
		return v, isOneLine(v.text) && v.text[0] != '-'
	}
	return v, v.kind == nilKind || v.kind == numberKind || v.kind == stringKind || v.kind == greaterKind
}

// reply is what Redis makes of a result.
func (v value) reply() quorum.Reply {
	switch v.kind {
	case numberKind:
		return quorum.Reply{Kind: quorum.IntegerReply, Int: v.num}
	case stringKind:
		return quorum.Reply{Kind: quorum.BulkReply, Str: v.text}
	case statusKind:
		return quorum.Reply{Kind: quorum.StatusReply, Str: v.text}
	case errorKind:
		return quorum.Reply{Kind: quorum.FailureReply, Str: v.text}
	}
	return quorum.Reply{Kind: quorum.NilReply}
}

// isOneLine tells whether s is printable ASCII, and not empty: what can be sent
// as a status or error as it is.
func isOneLine(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return false
		}
	}
	return s != ""
}
