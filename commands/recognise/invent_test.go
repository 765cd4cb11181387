package recognise

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// TestNoInventedScriptIsRecognisedWrongly writes scripts at random, with all the
// statements and expressions of Lua, out of what lock scripts are made of. Most are
// variations of one lock script, since nothing else is ever recognised.
func TestNoInventedScriptIsRecognisedWrongly(t *testing.T) {
	searchScripts(t, 300, func(random *rand.Rand) string {
		w := scriptWriter{random: random}
		if random.IntN(6) == 0 {
			w.line("local a, b, c = redis.call('get', KEYS[1]), 0, ARGV[2]")
			w.block(0)
		} else {
			w.lockScript()
		}
		return w.text.String()
	})
}

// scriptWriter writes a script that Lua compiles. Its locals are a, b and c, which
// are declared at the start.
type scriptWriter struct {
	random *rand.Rand
	text   strings.Builder
}

func (w *scriptWriter) pick(of ...string) string { return of[w.random.IntN(len(of))] }

// often is true but in one case of n.
func (w *scriptWriter) often(n int) bool { return w.random.IntN(n) > 0 }

func (w *scriptWriter) line(format string, args ...any) {
	fmt.Fprintf(&w.text, format+"\n", args...)
}

// lockScript writes a compare-and-delete or compare-and-expire, to which something was
// done that may have made it another.
func (w *scriptWriter) lockScript() {
	get := w.pick("redis.call('get', KEYS[1])", "redis.call('GET', KEYS[1])", "redis.pcall('get', KEYS[1])")
	switch w.random.IntN(6) {
	case 0:
		w.line("local a, b, c = %s", get)
	case 1:
		w.line("local a, b, c = 0, 1, %s", w.expr(1))
		w.line("%s = %s", w.pick("a", "a", "a, b", "a, c", "a, b, c"), w.pick(get, get, get+", "+w.expr(1)))
	case 2:
		w.line("local c, b, a = %s, %s, %s", w.expr(1), w.expr(1), get)
	default:
		w.line("local a, b, c = %s, %s, %s", get, w.expr(1), w.expr(1))
	}
	if !w.often(3) {
		w.statement(1)
	}
	action := w.pick("redis.call('del', KEYS[1])", "redis.call('del', KEYS[1])", "redis.call('pexpire', KEYS[1], ARGV[2])", w.command())
	mine := w.chain(w.pick("a == ARGV[1]", "a == ARGV[1]", "ARGV[1] == a", "not (a ~= ARGV[1])"))
	no := w.pick("0", "0", "nil", "false", "''", w.expr(2))
	switch w.random.IntN(6) {
	case 0:
		w.line("if not (%s) then return %s end", mine, no)
		w.maybe()
		w.line("return %s", action)
	case 1:
		w.line("return %s and %s or %s", mine, action, no)
	case 2:
		w.line("b = %s", mine)
		w.line("if b then %s end", action)
		w.line("return %s", w.pick("b and 1 or 0", "b", "1", no))
	case 3:
		w.line("if a %s then return %s end", w.pick("~= ARGV[1]", "== false", "== nil"), no)
		w.line("if %s then", mine)
		w.maybe()
		w.line("return %s end", action)
		w.line("return %s", w.pick(no, "1", "{err = 'LOST it'}"))
	default:
		w.line("if %s then", mine)
		w.maybe()
		w.line("%s", w.pick("return "+action, "return "+action, action))
		if w.often(2) {
			w.line("else")
			w.maybe()
			w.line("return %s", no)
		}
		w.line("end")
		if w.often(2) {
			w.maybe()
			w.line("return %s", no)
		}
	}
}

// maybe writes a statement, or does not.
func (w *scriptWriter) maybe() {
	if !w.often(5) {
		w.statement(1)
	}
}

// chain puts conditions round one.
func (w *scriptWriter) chain(cond string) string {
	for !w.often(3) {
		other := w.pick(w.given(), w.given(), w.cond(1))
		switch w.random.IntN(4) {
		case 0:
			cond = "(" + cond + ") or " + other
		case 1:
			cond = other + " and " + cond
		default:
			cond = "(" + cond + ") and " + other
		}
	}
	return cond
}

// given is a condition on what the call gives, or an expression that hangs on it.
func (w *scriptWriter) given() string {
	what := w.pick("ARGV[2]", "ARGV[2]", "ARGV[3]", "ARGV[1]", "KEYS[2]", "KEYS[1]", "c")
	return w.pick(what, "not "+what, what+" == nil", what+" ~= nil", what+" == false", "("+what+" or 'x')", "type("+what+") == 'string'",
		"#ARGV > 1", "#KEYS == 1", "tonumber("+what+")", "(tonumber(ARGV[2]) or 1) > 0", what+" == '0'", what+" == ''", "next(ARGV)",
		what+" ~= ARGV[1]", "select('#', unpack(ARGV)) == 2", "tostring("+what+") ~= 'nil'", "(ARGV[2] and true)")
}

// block writes statements. Its last may be a return.
func (w *scriptWriter) block(depth int) {
	for range w.random.IntN(3) {
		w.statement(depth)
	}
	if w.often(4) {
		w.line("return %s", w.pick(w.expr(1), w.expr(1), w.expr(1), w.expr(1)+", "+w.expr(1), ""))
	}
}

// nested writes a block with what stands before and after it.
func (w *scriptWriter) nested(depth int, before, after string) {
	w.line("%s", before)
	w.line("do")
	w.block(depth + 1)
	w.line("end")
	w.line("%s", after)
}

func (w *scriptWriter) statement(depth int) {
	if depth > 2 {
		w.line("%s", w.command())
		return
	}
	names := w.pick("a", "b", "c", "a, b", "b, c", "c, b, a", "b, b")
	values := w.pick(w.expr(1), w.expr(1), w.expr(1)+", "+w.expr(1), w.command())
	switch w.random.IntN(16) {
	case 0, 1:
		w.line("%s%s = %s", w.pick("", "", "local "), names, values)
	case 2:
		w.line("local %s", names)
	case 3, 4:
		w.line("%s", w.command())
	case 5:
		w.nested(depth, "while "+w.cond(0)+" do", "break end")
	case 6:
		w.nested(depth, "repeat", "until true or "+w.cond(0))
	case 7:
		w.nested(depth, w.pick("for i = 1, 2 do", "for i = 2, 1 do", "for _, b in ipairs(ARGV) do", "for a, c in pairs(KEYS) do"), "end")
	case 8:
		w.nested(depth, w.pick("local function f(a)", "local function f(...) local b = ..."), "end")
		w.line("%s = f(%s)", names, values)
	case 9:
		w.nested(depth, "local f = function(a, b)", "end")
		w.line("f(%s)", values)
	case 10:
		w.nested(depth, "do", "end")
	case 11:
		w.line("local b = %s", w.pick("...", "{...}", "select('#', ...)", "unpack(ARGV)", "unpack(ARGV, 2)", "#ARGV", "ARGV", "KEYS[b]"))
	default:
		w.branch(depth)
	}
}

func (w *scriptWriter) branch(depth int) {
	w.line("if %s then", w.cond(0))
	w.block(depth + 1)
	for !w.often(4) {
		w.line("elseif %s then", w.cond(0))
		w.block(depth + 1)
	}
	if !w.often(2) {
		w.line("else")
		w.block(depth + 1)
	}
	w.line("end")
}

func (w *scriptWriter) cond(depth int) string {
	if depth < 2 && !w.often(4) {
		return w.pick("not ", "") + "(" + w.cond(depth+1) + ")" + w.pick(" and ", " or ", " == ") + w.cond(depth+1)
	}
	return w.pick("a == ARGV[1]", "a == ARGV[1]", "a ~= ARGV[1]", "redis.call('GET', KEYS[1]) == ARGV[1]", "not a", "a == false",
		"a", "a == nil", "redis.call('exists', KEYS[1]) == 1", "redis.call('pttl', KEYS[1]) < 0", "redis.call('ttl', KEYS[1]) >= 0",
		"redis.call('pttl', KEYS[1]) == -1", "ARGV[3] == '0'", "tonumber(ARGV[2]) > 0", "b == 1", "b ~= c", "a == b", w.expr(1), w.given())
}

func (w *scriptWriter) command() string {
	return "redis." + w.pick("call", "call", "pcall") + "(" + w.pick("'del', KEYS[1]", "'unlink', KEYS[1]", "'pexpire', KEYS[1], ARGV[2]",
		"'expire', KEYS[1], ARGV[2]", "'pexpire', KEYS[1], c", "'pexpire', KEYS[1], ARGV[2] + redis.call('pttl', KEYS[1])",
		"'set', KEYS[1], ARGV[1], 'PX', ARGV[2]", "'set', KEYS[1], a, 'XX', 'EX', ARGV[2]", "'get', KEYS[1]", "'pexpireat', KEYS[1], ARGV[2]",
		"'pexpire', KEYS[1], ARGV[2], 'GT'", "'persist', KEYS[1]", "'pttl', KEYS[1]", "'del', KEYS[2]", "'del', KEYS[2] or KEYS[1]",
		"'pexpire', KEYS[1], ARGV[2] or 20000", "'pexpire', KEYS[1], tonumber(ARGV[2])", "'get', unpack(KEYS)", "'del', unpack(KEYS)") + ")"
}

func (w *scriptWriter) expr(depth int) string {
	if depth < 3 && !w.often(5) {
		return "(" + w.expr(depth+1) + w.pick(" and ", " or ", " == ", " + ", " < ", " .. ", " - ") + w.expr(depth+1) + ")"
	}
	if !w.often(4) {
		return w.command()
	}
	return w.pick("0", "1", "-1", "nil", "true", "false", "'OK'", "b", "c", "ARGV[2]", "a == ARGV[1]", "tonumber(ARGV[2])",
		"tostring(a == ARGV[1])", "{ok = 'OK'}", "redis.error_reply('NO LOCK')", "not b", "ARGV[1]:upper()", "('x'):rep(2)", "#ARGV",
		"(function() return a end)()", "ARGV[3]", "KEYS[2]", "#KEYS[1]", "-b", w.given())
}
