package lua

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// tick is what stands first in each body.
var tick = regexp.MustCompile(`__t=__t-(\d+) if __t<1 then __x\(\) end`)

var printedRows = []struct{ text, printed, helpers string }{
	{"", "TICK", ""},
	{"return 1", "TICK return 1 ", ""},

	// Names: all of Redis's are helpers, a local is what it is, and KEYS and ARGV are the script's own.
	{"return redis.call('get', KEYS[1])", `TICK return(__h.redis_call("get",KEYS[ 1 ]))`, "redis_call"},
	{"return redis['call'](type)", `TICK return(__h.redis_call(__h.type))`, "redis_call type"},
	{"return math.pi, redis.LOG_WARNING, cjson.null", "TICK return __h.math_pi,__h.redis_LOG_WARNING,__h.cjson_null", "cjson_null math_pi redis_LOG_WARNING"},
	{"return string.foo, string['a b']", `TICK return __h.string_foo,__h["string_a b"]`, ""},
	{"return x", `TICK return(__h.global("x"))`, "global"},
	{"x = f()", `TICK __h.setglobal("x",__h.global("f")())`, "global setglobal"},
	{"local a a, x = 1, 2", `TICK local a __h.setglobal("x", 1 , 2 )`, "setglobal"},
	{"function x() end", `TICK __h.setglobal("x",function() TICK end)`, "setglobal"},
	{"tostring = 1", `TICK __h.setglobal("tostring", 1 )`, "setglobal"},
	{"local redis = redis.call return redis.call", "TICK local redis = __h.redis_call return redis.call", "redis_call"},
	{"do local string = 1 end return string.sub", "TICK do local string = 1 end return __h.string_sub", "string_sub"},
	{"local KEYS = {} KEYS = KEYS.sub", `TICK local KEYS = {} KEYS = __h.index(KEYS,"sub")`, "index"},
	{"local function f(...) return arg end", "TICK local function f(...) TICK return arg end", ""},
	{"return arg", `TICK return(__h.global("arg"))`, "global"},
	{"local goto = 1 return goto", "TICK local goto = 1 return goto", ""},
	{"local t = {__index = 1} return t.__index", "TICK local t = {__index = 1 } return t.__index", ""},

	// Fields: those that a string has are guarded, where they are read.
	{"local a, k return a.x, a.sub, a[1], a['x'], a['sub'], a[k]", `TICK local a,k return a.x,__h.index(a,"sub"),a[ 1 ],a["x"],__h.index(a,"sub"),__h.index(a,k)`, "index"},
	{"local k return KEYS[k], ARGV.sub, ARGV[k][k]", "TICK local k return KEYS[k],ARGV.sub,__h.index(ARGV[k],k)", "index"},
	{"local a, k a.sub, a[k] = 1", `TICK local a,k __h.sets("tt",a,"sub",a,k, 1 )`, "sets"},
	{"local a, k a.rep.sub, a[k][k] = 1", `TICK local a,k __h.sets("tt",__h.index(a,"rep"),"sub",__h.index(a,k),k, 1 )`, "index sets"},
	{"local a return a.len.rep.x.sub", `TICK local a return(__h.index(__h.index(__h.index(a,"len"),"rep").x,"sub"))`, "index"},
	{"local a return a[#a], a[-1], a[a+1]", "TICK local a return a[# a],a[- 1 ],a[__h.number(a) + 1 ]", "number"},
	{"local a for i = 1, 2 do a = a[i] end", "TICK local a for i = 1 , 2 do TICK a = a[i] end", ""},
	{"local a for i = 1, 2 do a = a[i] i = 'rep' end", `TICK local a for i = 1 , 2 do TICK a = __h.index(a,i) i = "rep" end`, "index"},
	{"local a for i = 1, 2 do local i = i a = a[i] end", "TICK local a for i = 1 , 2 do TICK local i = i a = __h.index(a,i) end", "index"},

	{"local a, b a.x = 1 a[b] = b a[1], b = b, 2", `TICK local a,b __h.set(a,"x", 1 ) __h.set(a,b,b) b = __h.sets("tl",a, 1 ,b, 2 )`, "set sets"},
	{"local a, b a[b()], a, b, (a).x = b()", `TICK local a,b a,b = __h.sets("tllt",a,b(),(a),"x",b())`, "sets"},
	{"local a a['" + strings.Repeat("x", 256) + "'] = a['" + strings.Repeat("x", 256) + "']", `TICK local a __h.set(a,"` + strings.Repeat("x", 256) + `",__h.index(a,"` + strings.Repeat("x", 256) + `"))`, "index set"},

	// Calls.
	{"local o return o:f(), o:f(1, 2), o:f'x', o:f{1}", `TICK local o return __h.method(o,"f"),__h.method(o,"f", 1 , 2 ),__h.method(o,"f","x"),__h.method(o,"f",{ 1 })`, "method"},
	{"local o o:f():g()", `TICK local o __h.method(__h.method(o,"f"),"g")`, "method"},
	{"local f f'x' f{} f(f)", `TICK local f f "x" f({}) f(f)`, ""},
	{"local a function a.sub.x(b) end", `TICK local a __h.set(__h.index(a,"sub"),"x",function(b) TICK end)`, "index set"},
	{"local a function a.b:sub(...) end", `TICK local a __h.set(a.b,"sub",function(self,...) TICK end)`, "set"},

	// Operators.
	{"local a return a + 1, 1 - a * 2, -a, - -a, #a % 2, 2 ^ -a", "TICK local a return __h.number(a) + 1 , 1 - __h.number(a) * 2 ,- __h.number(a),- - __h.number(a),# a % 2 , 2 ^ - __h.number(a)", "number"},
	{"local a return (a + a) / (a)", "TICK local a return(__h.number(a) + __h.number(a)) / __h.number((a))", "number"},
	{"return tonumber(ARGV[1]) + 1", "TICK return __h.tonumber(ARGV[ 1 ]) + 1 ", "tonumber"},
	{"local tonumber return tonumber(1) + 1", "TICK local tonumber return __h.number(tonumber( 1 )) + 1 ", "number"},
	{"local a return a < a, a <= a, a > a, a >= a, a == a, a ~= a", "TICK local a return __h.less(a,a),__h.lessequal(a,a),__h.greater(a,a),__h.greaterequal(a,a),a == a,a ~= a", "greater greaterequal less lessequal"},
	{"local a return a < 1, #a > a, not a < a", "TICK local a return a < 1 ,# a > a,__h.less(not a,a)", "less"},
	{"local a return a and a or not a", "TICK local a return a and a or not a", ""},
	{"local a return a .. a == a .. 1 .. 'x'", `TICK local a return __h.join(a,a) == __h.join(a, 1 ,"x")`, "join"},
	{"local a return a .. a()", "TICK local a return(__h.join(a,(a())))", "join"},
	{"local a return a" + strings.Repeat("..a", 11), "TICK local a return(__h.join(a" + strings.Repeat(",a", 11) + "))", "join"},
	{"local a return a" + strings.Repeat("..a", 12), "TICK local a return(__h.join(a" + strings.Repeat(",a", 10) + ",__h.join(a,a)))", "join"},
	{"local a for i = a, #a, -a do end", "TICK local a for i = __h.number(a),# a,- __h.number(a) do TICK end", "number"},

	// Several values.
	{"local o return assert(o)", "TICK local o return __h.values(__h.assert(o))", "assert values"},
	{"local o if o then return o:find() else return o:f() end", `TICK local o if o then return __h.values(__h.method(o,"find")) else return __h.method(o,"f") end`, "method values"},
	{"local function f(...) f(..., ...) return ..., (...) end", "TICK local function f(...) TICK f((...),__h.varargs(...)) return(...),((...)) end", "varargs"},
	{"local function f(...) return {...}, {..., 1}, {..., }, ... + 1 end", "TICK local function f(...) TICK return {__h.varargs(...)},{(...), 1 },{__h.varargs(...),},__h.number((...)) + 1 end", "number varargs"},

	// Spelling.
	{`return '\65"\\\n\200é', [[` + "\nx\n" + `]]`, `TICK return "A\"\\\010\200\195\169",` + "\n\n" + `"x\010"`, ""},
	{"return 0xfF, 1e2, .5, 5., 3e-2", "TICK return 0xfF , 1e2 , .5 , 5. , 3e-2 ", ""},
	{"local a = 1; (a)();", "TICK local a = 1 ; (a)();", ""},
	{"local a, b = a .. 'x' (b)()", `TICK local a,b = __h.join(__h.global("a"),"x"); (b)()`, "global join"},
	{"local a --[[ x ]] = 1 -- y", "TICK local a = 1 ", ""},
	{"local f return f{" + strings.Repeat("1,", 33) + "}", "TICK local f return f(__h.table(33,0,{" + strings.Repeat(" 1 ,", 33) + "}))", "table"},
	{"return {a = 1," + strings.Repeat("[2] = 3,", 32) + "}", "TICK return __h.table(33,33,{a = 1 ," + strings.Repeat("[ 2 ] = 3 ,", 32) + "})", "table"},
	{"local t = {1; x = 2, [3] = 4,}", "TICK local t = { 1 ,x = 2 ,[ 3 ] = 4 ,}", ""},
	{"local a = {['x'] = 1, [99999] = 2} a = {a, [a] = 1}", `TICK local a = {["x"] = 1 ,[ 99999 ] = 2 } a = __h.table(2,1,{a,[a] = 1 })`, "table"},
	{"local t = {[1e9] = 1}, {[100000] = 1}, {[0xfff] = 1}", "TICK local t = __h.table(1,1,{[ 1e9 ] = 1 }),__h.table(1,1,{[ 100000 ] = 1 }),__h.table(1,1,{[ 0xfff ] = 1 })", "table"},

	// Statements.
	{"if 1 then return elseif 2 then else return; end", "TICK if 1 then return elseif 2 then else return; end", ""},
	{"while true do break end", "TICK while true do TICK break end", ""},
	{"repeat local x until x", "TICK repeat TICK local x until x", ""},
	{"for a, b in pairs({}) do end", "TICK for a,b in __h.pairs({}) do TICK end", "pairs"},
}

func TestWhatIsPrinted(t *testing.T) {
	for _, test := range printedRows {
		p, err := Read(test.text)
		if err != nil {
			t.Errorf("%s\n%v", test.text, err)
			continue
		}
		if got := tick.ReplaceAllString(p.Body, "TICK"); got != test.printed {
			t.Errorf("%s is printed as\n%s, want\n%s", test.text, got, test.printed)
		}
		if got := strings.Join(p.Helpers, " "); got != test.helpers {
			t.Errorf("%s needs %s, want %s", test.text, got, test.helpers)
		}
	}
}

// A body weighs a step, one more for 32 tokens, one for 8 fields, one for 1000 variables that
// Lua may go through to make functions in it, and a function's one for 32 of the registers that
// it needs. What is inside it is weighed where it is.
func TestABodyWeighsWhatItHas(t *testing.T) {
	names := func(n int) string { return "a" + strings.Repeat(",a", n-1) }
	var different []string
	for i := range 50 {
		different = append(different, fmt.Sprint("a", i))
	}
	shared := strings.Join(different, ",")
	for _, test := range []struct{ text, weights string }{
		{"local a" + strings.Repeat(" a = 1", 9), "1"},
		{"local a" + strings.Repeat(" a = 1", 10), "2"},
		{"local a while a do" + strings.Repeat(" a = 1", 20) + " end a = 1", "1 2"},
		{"local a = function()" + strings.Repeat(" a = 1", 20) + " end return a", "1 2"},
		{"local a repeat until a" + strings.Repeat(" + 1", 20), "1 2"},
		{"local function f() local a" + strings.Repeat(",a", 29) + " return 1 end", "1 3"},
		{"local function f() local a" + strings.Repeat(",a", 30) + " return 1 end", "1 4"},
		{"return {1, 2, 3, 4, 5, 6, 7}", "1"},
		{"return {1, 2, 3, 4, 5, 6, 7, 8}", "2"},
		{"for i = 1, 2 do local t = {{}, {}, {}, {}, {}, {}, {}, {}} end", "1 3"},
		{"local " + shared + " return function() return " + shared + " end", "6 5"},
		{"local " + shared + " return function() return function() return " + shared + " end end", "6 1 5"},
		{"local a return function() return a end", "1 1"},
		{"local f local " + names(99) + strings.Repeat(" f = function() return f end", 9), "8 1 1 1 1 1 1 1 1 1"},
		{"local f local " + names(99) + strings.Repeat(" f = function() return f end", 10), "9 1 1 1 1 1 1 1 1 1 1"},
	} {
		p, err := Read(test.text)
		if err != nil {
			t.Fatal(err)
		}
		var weights []string
		for _, found := range tick.FindAllStringSubmatch(p.Body, -1) {
			weights = append(weights, found[1])
		}
		if got := strings.Join(weights, " "); got != test.weights {
			t.Errorf("%s: %s, want %s", test.text, got, test.weights)
		}
	}
}

// A token that has several lines is where it ends, as to Lua.
func TestTokensStayOnTheirLines(t *testing.T) {
	p, err := Read("local a =\n 1\r\nreturn a\r.\nsub\n\r[\n[[x\ny]]], --[[\n]] a\n:x(\na)")
	if err != nil {
		t.Fatal(err)
	}
	want := "TICK local a =\n 1 \nreturn __h.index(a\n\n,\"sub\")\n[\n\n\"x\\010y\"],\n__h.method(a\n,\"x\",\na)"
	if got := tick.ReplaceAllString(p.Body, "TICK"); got != want {
		t.Errorf("printed as\n%s, want\n%s", got, want)
	}
}

func TestRefusalsSayWhatAndWhere(t *testing.T) {
	const compiling = "Error compiling script (new function): user_script:"
	for _, test := range []struct {
		text, want string
		line       int
	}{
		{"local a\nreturn string.dump(a)", "'string.dump' is not for lock scripts", 2},
		{"local " + strings.Repeat("x", 256), "the script has a name of more than 255 bytes", 1},
		{"return cjson['new']()", "'cjson.new' is not for lock scripts", 1},
		{"return rawget({}, 1)", "'rawget' is not for lock scripts", 1},
		{"rawget = 1", "'rawget' is not for lock scripts", 1},
		{"return\n\n_G", "'_G' is not for lock scripts", 3},
		{"local __x", "'__x' is not for lock scripts", 1},
		{"return __h", "'__h' is not for lock scripts", 1},
		{"__t = 1e9", "'__t' is not for lock scripts", 1},
		{"return function(a, __t) end", "'__t' is not for lock scripts", 1},
		{"for __t = 1, 2 do end", "'__t' is not for lock scripts", 1},
		{"for a, __t in pairs({}) do end", "'__t' is not for lock scripts", 1},
		{"local function __t() end", "'__t' is not for lock scripts", 1},
		{"function __t.a() end", "'__t' is not for lock scripts", 1},
		{"return redis", "the library 'redis' is not for lock scripts but by a name in it", 1},
		{"return string:len()", "the library 'string' is not for lock scripts but by a name in it", 1},
		{"local k = 'call' return redis[k]", "the library 'redis' is not for lock scripts but by a name in it", 1},
		{"return redis['c' .. 'all']", "the library 'redis' is not for lock scripts but by a name in it", 1},
		{"return (math).pi", "the library 'math' is not for lock scripts but by a name in it", 1},
		{"redis = {}", "the library 'redis' is not for lock scripts but by a name in it", 1},
		{"redis.call = nil", "'redis.call' is not for lock scripts to assign to", 1},
		{"local a a, redis.call = nil", "'redis.call' is not for lock scripts to assign to", 1},
		{"function string.sub() end", "'string.sub' is not for lock scripts to assign to", 1},
		{"KEYS = {}", "'KEYS' is not for lock scripts to assign to", 1},
		{"local a a, ARGV = 1, 2", "'ARGV' is not for lock scripts to assign to", 1},
		{"function KEYS() end", "'KEYS' is not for lock scripts to assign to", 1},
		{"return '\x00'", compiling + "1: unfinished string near '<eof>'", 1},
		{"return 1\n\x00", "a NUL is not for lock scripts", 2},
		{strings.Repeat(" ", 64<<10+1), "the script is longer than 65536 bytes", 1},
		{"return\n{1" + strings.Repeat(",1", 10_000), "the script has more than 20000 tokens", 2},

		{"return [[ [[ ]]", compiling + "1: nesting of [[...]] is deprecated near '['", 1},
		{"return 0x12345678901234", compiling + "1: malformed number near '0x12345678901234'", 1},
		{"return 0x1p4", compiling + "1: malformed number near '0x1p4'", 1},
		{"local a = 1\nlocal b = a\n(a)()", compiling + "3: ambiguous syntax (function call x new statement) near '('", 3},
		{"if 1 then\n\nreturn", compiling + "3: 'end' expected (to close 'if' at line 1) near '<eof>'", 3},
		{"return 'a\n'", compiling + "1: unfinished string near ''a'", 1},
		{"return 1 2 '", compiling + "1: '<eof>' expected near '2'", 1},
		{"end) redis.call('FLUSHALL') return (function()", compiling + "1: '<eof>' expected near 'end'", 1},
	} {
		p, err := Read(test.text)
		var refused *Error
		if !errors.As(err, &refused) {
			t.Errorf("%.60q is read as %v", test.text, p)
			continue
		}
		if refused.Text != test.want || refused.Line != test.line {
			t.Errorf("%.60q: line %d: %s, want line %d: %s", test.text, refused.Line, refused.Text, test.line, test.want)
		}
	}
}

func attacks(t testing.TB) []string {
	t.Helper()
	b, err := os.ReadFile("testdata/attacks.txt")
	if err != nil {
		t.Fatal(err)
	}
	var texts []string
	for line := range strings.Lines(string(b)) {
		texts = append(texts, strings.ReplaceAll(strings.TrimSuffix(line, "\n"), `tostring\n`, "tostring\n"))
	}
	return texts
}

func lockScripts(t testing.TB) []string {
	t.Helper()
	files, err := filepath.Glob("../testdata/scripts/*.lua")
	if err != nil || len(files) < 50 {
		t.Fatal(len(files), err)
	}
	var texts []string
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, string(b))
	}
	return texts
}
