package lua

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// writer writes one program. Its variables are called for what they mostly hold: n1 a
// number, s1 a string, t1 a table, f1 a function, v1 anything.
type writer struct {
	*rand.Rand
	text    strings.Builder
	visible []string
	made    int
	depth   int
	loop    bool // a break may stand here
	varargs bool
}

// A program collects what it shows. Turns of loops and calls burn fuel, so that it ends;
// strings are kept short.
const programHead = `
local out, fuel = {}, 200
local function show(...)
  for i = 1, select('#', ...) do
    local v = select(i, ...)
    if type(v) == 'number' then v = string.format('%.14g', v)
    elseif type(v) == 'table' then
      local s = '{'
      for i = 1, 4 do local e = v[i] s = s .. (type(e) == 'string' and e or type(e)) .. ',' end
      v = s .. type(v.x) .. type(v.y) .. '}'
    elseif type(v) ~= 'string' then v = type(v) .. (v == true and '!' or '') end
    out[#out + 1] = string.sub(v, 1, 150)
  end
end
local function burn() fuel = fuel - 1 if fuel < 0 then show('spent') error('spent', 0) end end
local n1, n2, s1, s2, t1, t2, v1, v2 = 1, 2.5, 'abc', KEYS[1], {1, 'two', x = {y = 3}}, {sub = 'x'}, nil, '7'
local f1, f2 = function(...) burn() return ... end, function(a, b) burn() return b, a end
`

func writeProgram(random *rand.Rand) string {
	w := &writer{Rand: random, visible: strings.Fields("n1 n2 s1 s2 t1 t2 v1 v2 f1 f2"), made: 2}
	w.text.WriteString(programHead)
	// Where an error is caught, all that was shown before it is compared, too.
	caught := w.IntN(3) > 0
	if caught {
		w.line("show(pcall(function()")
	}
	w.block(4 + w.IntN(5))
	if caught {
		w.line("end))")
	}
	w.line("show(n1, n2, s1, s2, t1, t2, v1, v2)")
	w.line("return out")
	return w.text.String()
}

func (w *writer) pick(of ...string) string { return of[w.IntN(len(of))] }

func (w *writer) line(format string, args ...any) { fmt.Fprintf(&w.text, format+"\n", args...) }

// name is a visible variable of a kind, and now and then of any.
func (w *writer) name(kind string) string {
	for range 40 {
		if name := w.visible[w.IntN(len(w.visible))]; name[:1] == kind || w.IntN(60) == 0 {
			return name
		}
	}
	return kind + "1"
}

// fresh is a name for a new variable, which may hide another.
func (w *writer) fresh(kind string) string {
	if w.IntN(4) == 0 {
		return kind + "1"
	}
	w.made++
	return fmt.Sprint(kind, w.made)
}

func (w *writer) kind() string { return w.pick("n", "s", "t", "v", "f") }

// inside writes what has a scope of its own.
func (w *writer) inside(write func()) {
	visible, depth, loop, varargs := w.visible, w.depth, w.loop, w.varargs
	w.visible = append([]string(nil), visible...)
	w.depth++
	write()
	w.visible, w.depth, w.loop, w.varargs = visible, depth, loop, varargs
}

func (w *writer) block(n int) {
	for range n {
		w.statement()
	}
}

func (w *writer) statement() {
	if w.depth > 2 {
		w.simple()
		return
	}
	switch kind := w.IntN(14); kind {
	case 0:
		w.line("if %s then", w.expr("b", 2))
		w.inside(func() { w.block(1 + w.IntN(2)) })
		if w.IntN(2) == 0 {
			w.line("elseif %s then", w.expr("b", 2))
			w.inside(func() { w.block(1) })
		}
		if w.IntN(2) == 0 {
			w.line("else")
			w.inside(func() { w.block(1) })
		}
		w.line("end")
	case 1, 2, 3, 4, 5:
		w.loopOf(kind)
	case 6:
		w.line("do")
		w.inside(func() { w.block(1 + w.IntN(3)) })
		w.line("end")
	case 7:
		w.function()
	case 8, 9:
		w.line("show(pcall(function(...) burn()")
		w.inside(func() {
			w.loop, w.varargs = false, true
			w.block(1 + w.IntN(3))
			w.line("return %s", w.list(2))
		})
		w.line("end, %s))", w.list(2))
	default:
		w.simple()
	}
}

// loopOf writes a loop of one of the five kinds.
func (w *writer) loopOf(kind int) {
	switch kind {
	case 1:
		w.made++
		turns := fmt.Sprint("turns", w.made)
		w.line("local %s = 0 while %s < 3 and %s do %s = %s + 1 burn()", turns, turns, w.expr("b", 2), turns, turns)
		w.turns("end")
	case 2:
		w.made++
		turns := fmt.Sprint("turns", w.made)
		w.line("local %s = 0 repeat %s = %s + 1 burn()", turns, turns, turns)
		w.inside(func() {
			w.loop = true
			w.block(1 + w.IntN(2))
			kind, name := w.kind(), fmt.Sprint("c", w.made)
			w.line("local %s = %s", name, w.expr(kind, 2))
			w.line("until %s > 2 or %s or %s", turns, name, w.expr("b", 1))
		})
	case 3:
		name := w.fresh("n")
		step := w.pick("", ", 1", ", 2", ", -1", ", "+w.expr("n", 1))
		w.line("for %s = %s, %s%s do burn()", name, w.expr("n", 1), w.expr("n", 1), step)
		w.visibleIn(name)
	case 4:
		name, index := w.fresh("v"), w.fresh("n")
		w.line("for %s, %s in ipairs(%s) do burn()", index, name, w.expr("t", 2))
		w.visibleIn(index, name)
	case 5:
		name := w.fresh("s")
		w.line("for %s in string.gmatch(%s, %s) do burn()", name, w.expr("s", 2), w.pick(`'.'`, `"%w+"`, `'(%d)'`))
		w.visibleIn(name)
	}
}

func (w *writer) visibleIn(names ...string) {
	w.inside(func() {
		w.visible = append(w.visible, names...)
		w.loop = true
		w.block(1 + w.IntN(2))
		w.ending()
	})
	w.line("end")
}

func (w *writer) turns(end string) {
	w.inside(func() {
		w.loop = true
		w.block(1 + w.IntN(2))
		w.ending()
	})
	w.line("%s", end)
}

// ending may end a block before its end.
func (w *writer) ending() {
	switch w.IntN(8) {
	case 0:
		w.line("if %s then break end", w.expr("b", 1))
	case 1:
		w.line("break;")
	}
}

func (w *writer) function() {
	name := w.fresh("f")
	parameters, varargs, params := "", w.IntN(2) == 0, []string(nil)
	for range w.IntN(3) {
		params = append(params, w.fresh(w.kind()))
	}
	parameters = strings.Join(params, ", ")
	if varargs {
		parameters = strings.Join(append(append([]string(nil), params...), "..."), ", ")
	}
	local := false
	switch w.IntN(5) {
	case 0, 1:
		local = true
		w.visible = append(w.visible, name)
		w.line("local function %s(%s) burn()", name, parameters)
	case 2:
		local = true
		w.line("local %s %s = function(%s) burn()", name, name, parameters)
	case 3:
		w.line("function %s.%s(%s) burn()", w.name("t"), w.pick("x", "y", "sub", "len"), parameters)
	default:
		w.line("function %s:%s(%s) burn()", w.name("t"), w.pick("x", "y", "upper", "m"), parameters)
		params = append(params, "self")
	}
	if local {
		w.visible = append(w.visible, name)
	}
	w.inside(func() {
		w.visible = append(w.visible, params...)
		w.loop, w.varargs = false, varargs
		if varargs && w.IntN(3) == 0 {
			w.varargs = false
			w.line("show(arg)")
		}
		w.block(1 + w.IntN(3))
		w.line("return %s", w.list(2))
	})
	w.line("end")
}

func (w *writer) simple() {
	switch w.IntN(12) {
	case 0, 1:
		kind := w.kind()
		name := w.fresh(kind)
		w.line("local %s = %s", name, w.expr(kind, 3))
		w.visible = append(w.visible, name)
	case 2:
		a, b := w.fresh("n"), w.fresh("v")
		w.line("local %s, %s = %s", a, b, w.list(2))
		w.visible = append(w.visible, a, b)
	case 3, 4:
		kind := w.kind()
		w.line("%s = %s;", w.name(kind), w.expr(kind, 3))
	case 5:
		// Where a field cannot be assigned to, Lua has assigned already what stands to the right
		// of it, and what is printed has assigned no variable: so there are none beside fields.
		a, b := w.target(), w.target()
		for strings.ContainsAny(a, ".[") != strings.ContainsAny(b, ".[") {
			b = w.target()
		}
		w.line("%s, %s = %s", a, b, w.list(2))
	case 6:
		w.line("%s = %s", w.target(), w.expr(w.kind(), 2))
	case 7:
		w.line("show(%s)", w.list(3))
	case 8:
		w.line("%s", w.call(2))
	case 9:
		w.line("local z = %s (%s)(%s)", w.pick("1", "'x'", "s1 < 'x'", "s1 .. 'y'", "-'3'", "{}", "nil"), w.name("f"), w.list(1))
	default:
		w.line("show(%s)", w.expr(w.pick("n", "s", "b", "t"), 3))
	}
	if w.IntN(150) == 0 {
		w.line("%s", w.pick("show(nosuch)", "nosuch = 1", "local v1 v1, nosuch = 1, 2", "error('no')", "function nosuch() end", "tostring = nil", "error({err = 'no'})"))
	}
}
