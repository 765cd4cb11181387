package commands

// This file states the part of Lua that lock scripts are written in, which
// luaparse.go parses and luarun.go carries out:
//
//	block     = { statement [";"] } [ "return" [expr] [";"] ]
//	statement = "local" names [ "=" exprs ] | name "=" expr | call
//	          | "if" expr "then" block { "elseif" expr "then" block } [ "else" block ] "end"
//	          | "do" block "end"
//	expr      = expr operator expr | "not" expr | "-" number | "(" expr ")" | name
//	          | call | list "[" expr "]" | "{" field "=" expr "}" | constant
//	operator  = "or" | "and" | "==" | "~=" | "<" | "<=" | ">" | ">=" | "+"
//
// There are no loops and no functions, so a script that parses also ends.
// What parses here compiles in Lua and means the same there.

// The limits are far above any lock script and below Lua's own.
const (
	luaMaxBytes  = 4096
	luaMaxDepth  = 32 // of nested blocks and expressions
	luaMaxLocals = 32
	luaMaxArgs   = 16
)

type luaStatement struct {
	op     luaStatementOp
	names  []string // local, assign
	values []luaExpr
	arms   []luaArm // if; an else is an arm whose condition is true
}

type luaStatementOp uint8

const (
	luaLocal luaStatementOp = iota + 1
	luaAssign
	luaCall // values[0] is a call whose result is dropped
	luaIf
	luaReturn // values is empty for nil
)

type luaArm struct {
	cond luaExpr
	then []luaStatement
}

type luaExpr struct {
	op    luaExprOp
	text  string   // the name, operator, function or field
	value luaValue // of a constant
	args  []luaExpr
}

type luaExprOp uint8

const (
	luaConstant luaExprOp = iota + 1
	luaVariable
	luaIndex    // KEYS[args[0]] or ARGV[args[0]]
	luaFunction // text(args...); redis.call is "redis.call"
	luaTable    // {text = args[0]}
	luaNot
	luaBinary
)

// luaPriority is how tightly an operator binds; "not" and "-" bind tighter.
var luaPriority = map[string]int{
	"or": 1, "and": 2,
	"==": 3, "~=": 3, "<": 3, "<=": 3, ">": 3, ">=": 3,
	"+": 4,
}

// luaGlobals are the globals that lock scripts use. No local may hide one.
var luaGlobals = map[string]bool{"redis": true, "KEYS": true, "ARGV": true, "tonumber": true, "tostring": true}

var luaFunctions = map[string]bool{
	"redis.call": true, "redis.pcall": true, "redis.error_reply": true, "redis.status_reply": true,
}
