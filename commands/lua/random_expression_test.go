package lua

import (
	"fmt"
	"strings"
)

func (w *writer) target() string {
	switch w.IntN(4) {
	case 0:
		return w.name(w.kind())
	case 1:
		return w.name("t") + w.pick(".x", ".y", ".sub", ".x.y")
	case 2:
		return w.name("t") + "[ " + w.expr(w.pick("n", "s"), 1) + "]"
	}
	return w.name("t") + w.pick("[1]", "['x']", "['rep']", "[#"+w.name("t")+" + 1]")
}

func (w *writer) list(depth int) string {
	var list []string
	for range 1 + w.IntN(3) {
		list = append(list, w.expr(w.kind(), depth))
	}
	if w.varargs && w.IntN(3) == 0 {
		list[len(list)-1] = w.pick("...", "...", "(...)", "select('#', ...)", "select(2, ...)")
	}
	return strings.Join(list, ", ")
}

func (w *writer) call(depth int) string {
	switch w.IntN(6) {
	case 0:
		return fmt.Sprintf("%s(%s)", w.name("f"), w.list(depth-1))
	case 1:
		return w.name("f") + w.pick("'a'", "{1, x = 2}", "[[x]]", "()")
	case 2:
		// Lua looks a method up before it evaluates its arguments, and what is printed does
		// behind that: so they do nothing here, and raise nothing.
		return fmt.Sprintf("%s:%s(%s, %s)", w.name("t"), w.pick("x", "y", "upper", "m", "sub"), w.leaf("n"), w.leaf(w.kind()))
	case 3:
		return fmt.Sprintf("%s.%s(%s)", w.name("t"), w.pick("x", "y", "sub"), w.list(depth-1))
	case 4:
		return fmt.Sprintf("f1(%s)", w.list(depth-1))
	}
	return fmt.Sprintf("pcall(%s, %s)", w.name("f"), w.list(depth-1))
}

func (w *writer) expr(kind string, depth int) string {
	if depth <= 0 || w.IntN(5) == 0 {
		return w.leaf(kind)
	}
	switch w.IntN(25) {
	case 0:
		return w.call(depth)
	case 1:
		return "(" + w.expr(kind, depth-1) + ")"
	case 2:
		return w.expr("b", depth-1) + " and " + w.expr(kind, depth-1) + " or " + w.expr(kind, depth-1)
	case 3:
		return w.target()
	}
	a := func(kind string) string { return w.expr(kind, depth-1) }
	switch kind {
	case "n":
		switch w.IntN(8) {
		case 0:
			return "-" + w.pick(" ", " - ") + a("n")
		case 1:
			return "#" + w.pick(w.name("s"), w.name("t"), "('"+"x'"+")")
		case 2:
			return "tonumber(" + a("s") + w.pick("", ", 16") + ")"
		case 3:
			return w.pick("math.floor", "math.abs", "string.len", "select") + "(" + a("n") + ")"
		}
		return a("n") + " " + w.pick("+", "-", "*", "/", "%", "^") + " " + a("n")
	case "s":
		return w.str(depth)
	case "t":
		return w.table(depth)
	case "f":
		if w.IntN(2) == 0 {
			return w.pick("type", "string.len", "math.abs", "f1", "select")
		}
		return "function(...) burn() return " + w.pick("...", "select('#', ...), ...", "arg", a("v")+", ...") + " end"
	case "b":
		if w.IntN(4) == 0 {
			return "not " + a(w.kind())
		}
		kind := w.pick("n", "s")
		return a(kind) + " " + w.pick("<", "<=", ">", ">=", "==", "~=") + " " + a(kind)
	}
	return a(w.pick("n", "s", "t", "f", "b"))
}

// str writes an expression that is a string.
func (w *writer) str(depth int) string {
	a := func(kind string) string { return w.expr(kind, depth-1) }
	switch w.IntN(9) {
	case 0:
		return w.pick("string.sub", "string.upper", "string.rep") + "(" + a("s") + w.pick("", ", 2", ", 1, 3") + ")"
	case 1:
		return "(" + a("s") + "):" + w.pick("upper()", "sub(2)", "rep(2)", "byte(1, 3)", "find('b', 1, true)", "len()", "nosuch()")
	case 2:
		return "table.concat({" + a("s") + ", " + a("n") + "}, " + w.pick("','", "''", w.name("s")) + ")"
	case 3:
		return "string.format('%s %5.1f', " + a("s") + ", " + a("n") + ")"
	case 4:
		return "type(" + a(w.kind()) + ")"
	}
	joined := a("s")
	for range 1 + w.IntN(2)*w.IntN(14) {
		joined += " .. " + w.expr(w.pick("s", "s", "n"), w.IntN(depth))
	}
	return "string.sub(" + joined + ", 1, 40)"
}

func (w *writer) table(depth int) string {
	var b strings.Builder
	b.WriteString("{")
	for i := range w.IntN(5) {
		if i > 0 {
			b.WriteString(w.pick(", ", "; "))
		}
		switch w.IntN(4) {
		case 0:
			b.WriteString(w.pick("x", "y", "sub", "goto") + " = " + w.expr(w.kind(), depth-1))
		case 1:
			b.WriteString("[ " + w.expr(w.pick("n", "s"), 1) + "] = " + w.expr(w.kind(), depth-1))
		case 2:
			b.WriteString(w.call(depth - 1))
		default:
			b.WriteString(w.expr(w.kind(), depth-1))
		}
	}
	if b.Len() > 1 && w.IntN(3) == 0 {
		b.WriteString(w.pick(",", ";"))
	}
	return b.String() + "}"
}

func (w *writer) leaf(kind string) string {
	if w.IntN(2) == 0 && kind != "b" {
		return w.name(kind)
	}
	switch kind {
	case "n":
		return w.pick("1", "2", "3", "10", "0x1F", "1e2", ".5", "5.", "3e-2", "'4'", "n2")
	case "s":
		return w.pick(`'a'`, `"b\n"`, `'\65\066z'`, `"\"\\"`, `'\q\t\0001'`, "[[long]]", "[==[a]]b]==]", `''`, "'12'", "1", "KEYS[1]", "ARGV[1]", "ARGV[2]")
	case "t":
		return w.pick("{}", "{1, 2, 3}", "KEYS", "ARGV", "{x = 1}")
	case "f":
		return w.pick("f1", "f2", "type")
	case "b":
		return w.pick("true", "false", "nil", "n1 == 1", "v1")
	}
	return w.pick("nil", "true", "1", "'x'", "{}", "v1")
}
