package lua

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"redlock-proxy/integration"
)

// The tests here write programs at random, in all of Lua's grammar, and ask a real Redis
// whether what is printed of them does the same.
var (
	programs = flag.Int("programs", 400, "how many programs each test writes")
	seed     = flag.Uint64("seed", 1, "what the tests begin with")
)

func TestWhatIsPrintedMeansTheSame(t *testing.T) {
	m := newMaster(t)
	random := rand.New(rand.NewPCG(*seed, 0))
	errors := 0
	for range *programs {
		text := writeProgram(random)
		if strings.HasPrefix(m.checkMeans(t, text), "!") {
			errors++
		}
		if t.Failed() {
			t.Fatalf("again: go test ./commands/lua -run '^%s$' -seed %d -programs %d", t.Name(), *seed, *programs)
		}
	}
	// Programs are to end well and badly.
	if errors < *programs/20 || errors > *programs*19/20 {
		t.Errorf("%d of %d programs end in an error", errors, *programs)
	}
}

// TestSpoiltProgramsAreReadAsRedisReadsThem takes tokens out of programs, and puts others in.
func TestSpoiltProgramsAreReadAsRedisReadsThem(t *testing.T) {
	m := newMaster(t)
	random := rand.New(rand.NewPCG(*seed, 1))
	more := strings.Fields("and break do else elseif end false for function goto if in local nil not or repeat return then true until while " +
		"+ - * / % ^ # == ~= <= >= < > = ( ) { } [ ] ; : , . .. ... 1 0x 1e 'a' \" [[ ]] -- a b KEYS redis string.sub")
	read := 0
	for range *programs {
		tokens, err := Lex(writeProgram(random))
		if err != nil {
			t.Fatal(err)
		}
		var b strings.Builder
		b.WriteString("return function(...) ")
		length := min(len(tokens), 40)
		start := random.IntN(len(tokens) - length + 1)
		spoilt := start + random.IntN(length)
		for i, token := range tokens[start : start+length] {
			if i += start; i == spoilt {
				b.WriteString(more[random.IntN(len(more))])
				if random.IntN(2) == 0 {
					continue
				}
			}
			b.WriteString(" " + token.Source)
			if random.IntN(10) == 0 {
				b.WriteString("\n")
			}
		}
		if m.checkCompiles(t, b.String()+" end") {
			read++
		}
		tokens[spoilt].Source = more[random.IntN(len(more))]
		b.Reset()
		for _, token := range tokens {
			b.WriteString(" " + token.Source)
		}
		if m.checkCompiles(t, b.String()) {
			read++
		}
		if t.Failed() {
			t.Fatalf("again: go test ./commands/lua -run '^%s$' -seed %d -programs %d", t.Name(), *seed, *programs)
		}
	}
	if read < *programs/20 {
		t.Errorf("%d of %d spoilt programs are read", read, 2**programs)
	}
}

// TestMixedScriptsAreReadAsOthersReadThem asks Redis and another parser about scripts that are
// mixed of those that are known.
func TestMixedScriptsAreReadAsOthersReadThem(t *testing.T) {
	m := newMaster(t)
	mixer := integration.NewMixer(*seed, slices.Concat(attacks(t), lockScripts(t)))
	read := 0
	for range *programs {
		text := mixer.Script()
		if m.checkCompiles(t, text) {
			read++
			checkPrint(t, text)
		}
		if t.Failed() {
			t.Fatalf("again: go test ./commands/lua -run '^%s$' -seed %d -programs %d", t.Name(), *seed, *programs)
		}
	}
	if read < *programs/4 {
		t.Errorf("%d of %d mixed scripts are read", read, *programs)
	}
}

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
	switch w.IntN(14) {
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
