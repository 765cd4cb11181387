package recognise

// This file states the part of Lua that lock scripts are written in, which
// parse.go parses and run.go carries out:
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
	maxBytes  = 4096
	maxDepth  = 32 // of nested blocks and expressions
	maxLocals = 32
	maxArgs   = 16
)

type statement struct {
	op     statementOp
	names  []string // local, assign
	values []expression
	arms   []arm // if; an else is an arm whose condition is true
}

type statementOp uint8

const (
	localStatement statementOp = iota + 1
	assignStatement
	callStatement // values[0] is a call whose result is dropped
	ifStatement
	returnStatement // values is empty for nil
)

type arm struct {
	cond expression
	then []statement
}

type expression struct {
	op    expressionOp
	text  string // the name, operator, function or field
	value value  // of a constant
	args  []expression
}

type expressionOp uint8

const (
	constantExpression expressionOp = iota + 1
	variableExpression
	indexExpression    // KEYS[args[0]] or ARGV[args[0]]
	functionExpression // text(args...); redis.call is "redis.call"
	tableExpression    // {text = args[0]}
	notExpression
	binaryExpression
)

// priorities is how tightly an operator binds; "not" and "-" bind tighter.
var priorities = map[string]int{
	"or": 1, "and": 2,
	"==": 3, "~=": 3, "<": 3, "<=": 3, ">": 3, ">=": 3,
	"+": 4,
}

// globals are the globals that lock scripts use. No local may hide one.
var globals = map[string]bool{"redis": true, "KEYS": true, "ARGV": true, "tonumber": true, "tostring": true}

var functions = map[string]bool{
	"redis.call": true, "redis.pcall": true, "redis.error_reply": true, "redis.status_reply": true,
}
